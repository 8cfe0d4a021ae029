import os
from pathlib import Path

import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.save("model.keras")
model.save(os.path.join(folder, "model.h5"))
model.save(Path(folder) / "model.hdf5")
model.save(f"{folder}/{name}")
model.save(name)
model.save("{}.keras".format(name))
model.save(name + ".h5")
model.save_weights(f"{name}.h5")  # the name may end in .weights
model.save_weights("%s/last.weights.h5" % folder)
model.save_weights("last.weights.h5")
model.export("folder")
NAME = "resnet"
model.save("%s.h5" % NAME)
model.save("folder", zipped=False)
model.save("hf://me/model")
model.save(os.environ.get("OUT") or "model")
model.save_weights("last.weights.json", max_shard_size=1)
keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True)
keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True)
keras.callbacks.ModelCheckpoint(name, save_weights_only=only)
keras.callbacks.ModelCheckpoint("weights.h5", save_weights_only=only)
