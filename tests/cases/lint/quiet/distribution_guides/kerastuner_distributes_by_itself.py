import keras, keras_tuner, tensorflow as tf
def build(hp):
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
    return model
tuner = keras_tuner.RandomSearch(build, distribution_strategy=tf.distribute.MirroredStrategy())
tuner.search(x, y)
build(None).fit(x, y)
