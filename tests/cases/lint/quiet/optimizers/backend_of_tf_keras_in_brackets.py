from tensorflow import (
    keras,
)

mean = keras.backend.mean(x)
