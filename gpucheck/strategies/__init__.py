"""Strategies: each file builds one ``tf.distribute`` strategy, in the child process. Standard library and TensorFlow only."""
