import tensorflow as tf

flags = tf.app.flags  # finding
FLAGS = flags.FLAGS
flags.DEFINE_integer("steps", 100, "steps to train")


def main(_):
    print(FLAGS.steps)


tf.app.run()  # finding
