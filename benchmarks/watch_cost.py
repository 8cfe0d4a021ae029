"""Measure the cost of ``gpucheck.keras.Watch`` per step: python benchmarks/watch_cost.py [ROUNDS]

Trains steps of the smoke job in short rounds, alternately with and without the callback, in one process; of two models, one was
traced with the callback, so that its steps measure the wait for data. Prints the ratio of the median round times, the time of the
callback's two calls for each step, and the processor time of the monitor and its child. Under other
load, only the last two are stable.
"""

import statistics
import sys
import time

import keras
import psutil
import tensorflow as tf

from gpucheck.core.child.smoke import network
from gpucheck.keras import Watch

EVERY_SECONDS = 5.0
STEPS, CALLS = 60, 100_000
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
device = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
plain_model, watched_model = (network.model(keras, compiled=False) for _ in range(2))
data = network.dataset(tf, network.PER_REPLICA_BATCH[device])


def train(model, *callbacks):
    began = time.perf_counter()
    model.fit(data, steps_per_epoch=STEPS, epochs=1, verbose=0, callbacks=list(callbacks))
    return (time.perf_counter() - began) / STEPS


watch = Watch(every_seconds=EVERY_SECONDS, say=lambda line: None)
train(plain_model), train(watched_model, watch)  # warm-up: traces and compiles
plain, watched = [], []
for _ in range(rounds):
    plain.append(train(plain_model))
    watched.append(train(watched_model, watch))
step = statistics.median(plain)

logs = {"loss": 0.5, "accuracy": 0.5}
began = time.perf_counter()
for number in range(CALLS):
    watch.on_train_batch_begin(number)
    watch.on_train_batch_end(number, logs)
call = (time.perf_counter() - began) / CALLS

watch.on_train_begin()
time.sleep(EVERY_SECONDS + 1)
ours = psutil.Process()
before, children = ours.cpu_times(), {child.pid: sum(child.cpu_times()[:2]) for child in ours.children(recursive=True)}
time.sleep(2 * EVERY_SECONDS)
after = ours.cpu_times()
looks = sum(after[:2]) - sum(before[:2])
looks += sum(sum(child.cpu_times()[:2]) - children.get(child.pid, 0.0) for child in ours.children(recursive=True))
watch.on_train_end()
looks /= 2 * EVERY_SECONDS

print(f"device                        {device}")
print(f"step                          {step * 1000:.2f} ms")
print(
    f"with Watch / without          {statistics.median(watched) / step:.3f} (medians), {min(watched) / min(plain):.3f} (minima)"
)
print(f"its calls for each step       {call * 1e6:.2f} us, {100 * call / step:.3f} % of a step")
print(f"its looks                     {100 * looks:.3f} % of one processor core")
print(f"events                        {[event.code for event in watch.events]}")
