import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
def build():
    base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
    return tf.keras.Model(base.input, tf.keras.layers.Dense(1)(base.output))
with strategy.scope():
    model = build()
    model.compile("adam", "mse")
model.fit(x, y)
features = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
with strategy.scope():
    extractor = tf.keras.Sequential([features, tf.keras.layers.Dense(1)])
extractor.predict(x)
