from pathlib import Path

import keras
from keras.applications import MobileNetV2

model = MobileNetV2(weights=None)
model.save(Path(folder) / "mobile.tf")  # finding
