from keras.layers import Dense
from keras.models import Sequential

model = Sequential([Dense(1)])
model.compile(loss="mse")
model.fit(x, y, nb_epoch=2)  # finding
model.fit(x, y, epochs=2, samples_per_epoch=100)  # finding
classes = model.predict_classes(x)  # finding
print(model.predict_proba(x))  # finding
