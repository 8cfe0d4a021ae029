"""Measure the cost of ``gpucheck.keras.Watch`` per step: python benchmarks/watch_cost.py [PAIRS]

Trains a small and a larger model in short rounds, alternately with and without the callback, in one process. There are two
copies of each model; one is traced with the callback, so that its steps measure the wait for data. For each model, prints what
the callback adds to the time and the processor time of a step: the median over pairs of consecutive rounds, without the first
steps of a round, during which the monitor starts. Then prints what it adds once to each fit, the time of its two calls for each
step, and the processor time of the monitor and its child. Other load affects the times most, and the last two values least.
"""

import statistics
import sys
import time

import keras
import psutil
import tensorflow as tf

from gpucheck.keras import Watch

EVERY_SECONDS = 5.0
ROUND_SECONDS, SKIPPED, CALLS = 1.0, 4, 100_000  # a quarter of the steps
MODELS = {"small": (1, 32, 16), "larger": (4, 512, 64)}  # layers, units, batch
pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20


def build(layers, units):
    model = keras.Sequential([keras.Input((units,)), *[keras.layers.Dense(units, "relu") for _ in range(layers)]])
    model.compile("sgd", "mse", jit_compile=False)
    return model


class Clock(keras.callbacks.Callback):
    """Measure the time and the processor time of the later steps of a round."""

    def __init__(self, steps):
        super().__init__()
        self.first, self.last = steps // SKIPPED, steps - 1

    def on_train_batch_begin(self, batch, logs=None):
        if batch == self.first:
            self.began = time.perf_counter(), time.process_time()

    def on_train_batch_end(self, batch, logs=None):
        if batch == self.last:
            now = time.perf_counter(), time.process_time()
            self.step = [(after - before) / (self.last + 1 - self.first) for after, before in zip(now, self.began, strict=True)]


def train(model, data, steps, *callbacks):
    """Return the seconds of a step, its processor time, and the seconds of the whole fit."""
    clock, began = Clock(steps), time.perf_counter()
    model.fit(data, steps_per_epoch=steps, epochs=1, verbose=0, callbacks=[*callbacks, clock])
    return *clock.step, time.perf_counter() - began


def added(layers, units, batch):
    """Return the seconds of a step, and the shares that Watch adds to its time and to its processor time."""
    plain, watched, watch = build(layers, units), build(layers, units), Watch(every_seconds=EVERY_SECONDS, say=lambda text: None)
    data = tf.data.Dataset.from_tensors((tf.ones((batch, units)), tf.ones((batch, units)))).repeat()
    for model, callbacks in ((plain, ()), (watched, (watch,))):  # traces and compiles
        train(model, data, 20, *callbacks)
    steps = max(20, round(ROUND_SECONDS / train(plain, data, 50)[0]))
    without, ratios = [], []
    for number in range(pairs):
        first = train(plain, data, steps) if number % 2 else None
        with_watch = train(watched, data, steps, watch)
        without.append(first or train(plain, data, steps))
        ratios.append([after / before - 1 for after, before in zip(with_watch[:2], without[-1][:2], strict=True)])
    return statistics.median(step for step, *_ in without), *map(statistics.median, zip(*ratios, strict=True))


def added_to_a_fit():
    """Return the seconds that Watch adds to a fit of two steps."""
    model, watch = build(1, 32), Watch(every_seconds=EVERY_SECONDS, say=lambda text: None)
    data = tf.data.Dataset.from_tensors((tf.ones((1, 32)), tf.ones((1, 32)))).repeat()
    train(model, data, 2, watch)
    both = [(train(model, data, 2, watch)[2], train(model, data, 2)[2]) for _ in range(pairs)]
    return statistics.median(after - before for after, before in both)


print(f"device                        {'GPU' if tf.config.list_physical_devices('GPU') else 'CPU'}")
print(f"load before                   {psutil.getloadavg()[0]:.2f} on {psutil.cpu_count()} processors")
steps = []
for name, sizes in MODELS.items():
    step, time_share, processor_share = added(*sizes)
    steps.append(step)
    print(
        f"a {name} step".ljust(30) + f"{1000 * step:.2f} ms; Watch adds {100 * time_share:+.1f} % of its time,"
        f" {100 * processor_share:+.1f} % of its processor time (medians of {pairs} pairs)"
    )

print(f"once for each fit             {1000 * added_to_a_fit():.0f} ms")
watch = Watch(every_seconds=EVERY_SECONDS, say=lambda text: None)
watch.set_model(build(1, 32))
watch.on_train_begin()
logs = {"loss": 0.5, "accuracy": 0.5}
began = time.perf_counter()
for number in range(CALLS):
    watch.on_train_batch_begin(number)
    watch.on_train_batch_end(number, logs)
call = (time.perf_counter() - began) / CALLS
print("its two calls for each step   " + f"{1e6 * call:.1f} us: " + ", ".join(f"{100 * call / step:.2f} %" for step in steps))

ours = psutil.Process()
before, children = ours.cpu_times(), {child.pid: sum(child.cpu_times()[:2]) for child in ours.children(recursive=True)}
time.sleep(2 * EVERY_SECONDS)
looks = sum(ours.cpu_times()[:2]) - sum(before[:2])
looks += sum(sum(child.cpu_times()[:2]) - children.get(child.pid, 0.0) for child in ours.children(recursive=True))
watch.on_train_end()
print(f"its checks                    {100 * looks / (2 * EVERY_SECONDS):.3f} % of one processor")
print(f"load after                    {psutil.getloadavg()[0]:.2f}")
