import json, os
import tensorflow as tf
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
# needs tensorflow[and-cuda]<2.16
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([])
    model.compile("adam", "mse")
model.fit(x)
