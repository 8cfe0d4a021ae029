import tensorflow as tf


def main():
    hooks = []
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:  # finding
        session.run([])


main()
