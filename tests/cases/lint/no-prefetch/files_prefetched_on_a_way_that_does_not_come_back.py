import sys, tensorflow as tf
d = tf.data.TFRecordDataset("a").map(parse).batch(8)  # finding
if benchmark:
    d = d.prefetch(1)
    sys.exit(run(d))
m = tf.keras.Sequential([])
m.fit(d)
