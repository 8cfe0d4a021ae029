from tensorflow.keras.callbacks import ModelCheckpoint

callbacks = [
    ModelCheckpoint("best.hdf5", save_best_only=True),  # finding
    ModelCheckpoint(filepath="weights.{epoch:02d}.h5", save_weights_only=True),  # finding
    ModelCheckpoint("model-{epoch}.keras", period=5),  # finding
]
