import json, os
import tensorflow as tf
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 0}})
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([])
    model.compile("adam", "mse")
model.fit(x)
