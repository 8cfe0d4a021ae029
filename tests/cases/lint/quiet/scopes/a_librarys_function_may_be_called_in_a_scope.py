import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
def train(data):
    model = tf.keras.Sequential([])
    model.compile(tf.keras.optimizers.Adam(), "mse")
    model.fit(data)
run_in(strategy.scope, train)
