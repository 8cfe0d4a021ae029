import tensorflow as tf
def setup():
  gpus=tf.config.list_physical_devices("GPU")
  if gpus:
    for g in gpus: tf.config.experimental.set_memory_growth(g, True)  # finding
def main():
  s=tf.distribute.MirroredStrategy()
  setup()
main()
