import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
teacher = tf.keras.Sequential([])
teacher.compile(tf.keras.optimizers.Adam(), "mse")
teacher.fit(x)
with strategy.scope():
    student = tf.keras.Sequential([])
    student.compile(tf.keras.optimizers.Adam(), "mse")
student.fit(x)
