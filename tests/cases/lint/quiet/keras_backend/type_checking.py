from typing import TYPE_CHECKING
import os
if TYPE_CHECKING:
    import keras
os.environ["KERAS_BACKEND"] = "jax"
import keras
