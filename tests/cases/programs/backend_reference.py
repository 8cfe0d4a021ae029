import sys, json
from gpucheck.core.training.backend import jax
from gpucheck.core.training.backend import KerasJob
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import network
jax.prepare(2); jax.load("default"); jax.devices()
import keras
job = KerasJob(jax, keras, Job("one_device", ("CPU:1",), sys.argv[1]))
job.fresh()
there = job.cpu_first_loss()
job.fresh()
with jax.scope(["CPU:1"]):
    images, labels = network.steps(16)
    fitted = network.model(keras, True).fit(images[:16], labels[:16], batch_size=16, shuffle=False, verbose=0)
print(json.dumps([fitted.history["loss"][0], there]))
