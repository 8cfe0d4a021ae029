import tensorflow

try:
    scale = tensorflow.to_float(2)
except AttributeError:
    scale = tensorflow.cast(2, "float32")
noise = tensorflow.truncated_normal([2, 2])  # finding
