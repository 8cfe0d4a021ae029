import tensorflow as tf
import tensorflow.compat.v1 as tf1
with tf1.Session(config=tf1.ConfigProto()) as session:
    session.run(a)
strategy = tf1.distribute.MirroredStrategy()
config = tf1.estimator.RunConfig(train_distribute=strategy)
