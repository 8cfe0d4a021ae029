import tensorflow as tf
mirrored_strategy = tf.distribute.MirroredStrategy()
def get_model():
    with mirrored_strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
        model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
        return model
model = get_model()
model.fit(train_dataset, epochs=2)
restored = tf.keras.models.load_model("path")
restored.fit(train_dataset, epochs=2)
another_strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
with another_strategy.scope():
    again = tf.keras.models.load_model("path")
    again.fit(train_dataset, epochs=2)
