import tensorflow as tf
def build_and_compile():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=0.001), loss="mse")
    return model
single = build_and_compile()
single.fit(dataset, epochs=3, steps_per_epoch=70)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    multi_worker_model = build_and_compile()
multi_worker_model.fit(dataset, epochs=3, steps_per_epoch=70)
