import tensorflow as tf
if tf.__version__ >= "2":
    raise SystemExit("needs TensorFlow 1")
tf.Session()
