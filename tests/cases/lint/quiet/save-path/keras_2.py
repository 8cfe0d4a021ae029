import tf_keras as keras

model = keras.Sequential([keras.layers.Dense(1)])
model.save("folder")
model.save_weights("model.ckpt")
keras.callbacks.ModelCheckpoint("best.hdf5", period=2)
