import tensorflow as tf
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("batch_size_per_replica", 64, "")
def main(_):
    strategy = tf.distribute.MirroredStrategy()
    FLAGS.batch_size_per_replica *= strategy.num_replicas_in_sync
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(FLAGS.batch_size_per_replica)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
    model.fit(ds)
app.run(main)
