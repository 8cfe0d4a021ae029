import json, os, sys, time
import keras, tensorflow as tf
from gpucheck.core.training import trace
from gpucheck.core.training.smoke import network, throughput
from gpucheck.core.training import strategies
from gpucheck.core.child.messages.struct import to_builtins


def late(images, labels):
    late = tf.numpy_function(lambda labels: (time.sleep(0.5), labels)[1], [labels], tf.int32)
    return images, tf.ensure_shape(late, labels.shape)


data = network.dataset(tf, 4).map(late).prefetch(1)
trainer = throughput.trainer(tf, keras, strategies.build("one_device", tf, ("CPU:0",)))
source = trainer.source(data)
trainer.piped(source, 2)
found = [to_builtins(trace.trace(tf, trainer, source, 12, sys.argv[1], ("CPU:0",)))]
for file in __import__("glob").glob(sys.argv[1] + "/**/*.pb", recursive=True):
    open(file, "wb").write(b"broken")
try:
    trace.read(sys.argv[1])
except trace.Unreadable as error:
    found.append(str(error))
tf.profiler.experimental.start(sys.argv[1])
found.append(to_builtins(trace.trace(tf, trainer, source, 1, sys.argv[1], ("CPU:0",))))
print(json.dumps(found))
