import tensorflow as tf


def choose(number):
    tf.device(f"/GPU:{number}")  # finding


choose(1)
