# /// script
# dependencies = ["tensorflow-cpu", "keras<3"]
# ///
from keras.optimizers import Adam

optimizer = Adam(lr=0.001)
