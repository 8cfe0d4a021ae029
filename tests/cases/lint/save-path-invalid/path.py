from pathlib import Path

import keras
from keras.applications import MobileNetV2

model = MobileNetV2(weights=None)
target = Path(folder) / "mobile.tf"
model.save(target)  # finding
