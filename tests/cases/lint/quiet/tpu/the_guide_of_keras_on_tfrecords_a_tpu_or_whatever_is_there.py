import tensorflow as tf
from functools import partial
try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    strategy = tf.distribute.TPUStrategy(tpu)
except:
    strategy = tf.distribute.get_strategy()
def load_dataset(filenames, labeled=True):
    ignore_order = tf.data.Options()
    ignore_order.experimental_deterministic = False
    dataset = tf.data.TFRecordDataset(filenames)
    dataset = dataset.with_options(ignore_order)
    return dataset.map(partial(read_tfrecord, labeled=labeled), num_parallel_calls=tf.data.AUTOTUNE)
def get_dataset(filenames, labeled=True):
    dataset = load_dataset(filenames, labeled=labeled).shuffle(2048)
    return dataset.prefetch(buffer_size=tf.data.AUTOTUNE).batch(64)
train_dataset = get_dataset(tf.io.gfile.glob("train*.tfrec"))
image_batch, label_batch = next(iter(train_dataset))
def make_model():
    base_model = tf.keras.applications.Xception(include_top=False)
    inputs = tf.keras.layers.Input([1024, 1024, 3])
    x = tf.keras.layers.GlobalAveragePooling2D()(base_model(inputs))
    model = tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(1, activation="sigmoid")(x))
    model.compile(optimizer=tf.keras.optimizers.Adam(), loss="binary_crossentropy", metrics=tf.keras.metrics.AUC(name="auc"))
    return model
with strategy.scope():
    model = make_model()
history = model.fit(train_dataset, epochs=2)
