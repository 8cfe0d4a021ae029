"""The summary of ``Watch`` for real trainings with known times: computing and data sleep for fixed times."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from lab import fake_driver

ROOT = pathlib.Path(__file__).parents[2]
BEGIN = """
import json, os, sys, time
import keras, numpy as np, tensorflow as tf
from gpucheck.keras import Watch

def sleep(seconds, value):  # sleeping instead of computing: other load has little effect
    def wait(v):
        time.sleep(seconds)
        return v
    out = tf.numpy_function(wait, [value], value.dtype)
    out.set_shape(value.shape)
    return out

class Busy(keras.layers.Layer):
    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
    def call(self, x):
        with tf.control_dependencies([sleep(self.seconds, tf.reduce_sum(tf.stop_gradient(x)))]):
            return tf.identity(x)

def dataset(read_seconds, batches=12, size=16, calls=None):
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    data = tf.data.Dataset.from_tensors((tf.ones((size, 8)), tf.ones((size, 1)))).repeat(batches)
    data = data.map(lambda x, y: (sleep(read_seconds, x), y), num_parallel_calls=calls) if read_seconds else data
    return data.with_options(options)

def train(data, compute_seconds, watch, epochs=2, model=None, **options):
    if model is None:
        model = keras.Sequential([keras.Input((8,)), Busy(compute_seconds), keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse", jit_compile=False)
    model.fit(data, epochs=epochs, verbose=0, callbacks=[watch], **options)
    return watch.summary

def done(**found):
    print(json.dumps(found, default=str), flush=True)
    os._exit(0)  # TensorFlow may hang where Python ends while a dataset's thread wants to call it
"""


def results_of(tmp_path, program, **env):
    """Return the results that a program passes to ``done``, and its standard error."""
    (tmp_path / "train.py").write_text(BEGIN + program)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ['PYTHONPATH']}", "TF_CPP_MIN_LOG_LEVEL": "3", **env}
    argv = [sys.executable, "train.py"]
    run = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1]), run.stderr


@pytest.mark.slow
@pytest.mark.tensorflow
def test_wait_for_data_and_gain_of_a_ready_pipeline(tmp_path):
    found, error = results_of(
        tmp_path,
        """
slow = train(dataset(0.15), 0.1, Watch())
ready = train(dataset(0), 0.1, Watch(say=lambda line: None))
ahead = train(dataset(0.15).prefetch(2), 0.1, Watch(say=lambda line: None))
done(share=slow.input_wait_share, step=slow.step_seconds, code=slow.limit.code, most=slow.limit.faster_at_most,
     rate=slow.samples_per_second, counts=[slow.epochs, slow.steps],
     ready=[ready.step_seconds, ready.input_wait_share, ready.limit.code],
     ahead=[ahead.step_seconds, ahead.input_wait_share])
""",
    )
    ready_step, ready_share, ready_code = found["ready"]
    truth = 1 - ready_step / found["step"]  # the program's own measurement
    assert found["share"] == pytest.approx(truth, abs=0.05)
    assert found["code"] == "input-pipeline-bound"
    assert found["most"] == pytest.approx(found["step"] / ready_step, rel=0.15)  # predicted and actual gain
    assert found["rate"] == pytest.approx(16 / found["step"], rel=0.01)
    assert found["counts"] == [2, 24]
    assert (ready_share < 0.1, ready_code) == (True, None)
    ahead_step, ahead_share = found["ahead"]
    assert ahead_share == pytest.approx(1 - ready_step / ahead_step, abs=0.07)
    first, last = [line for line in error.splitlines() if line.startswith("gpucheck: ")]
    assert first.startswith("gpucheck: 2 epochs, 24 steps, ")
    assert "the input pipeline limits this training" in last


@pytest.mark.slow
@pytest.mark.tensorflow
def test_steps_of_data_of_unknown_length_with_validation(tmp_path):
    found, _ = results_of(
        tmp_path,
        """
def rows():
    for _ in range(10):
        yield np.ones((4, 8), "float32"), np.ones((4, 1), "float32")
form = tf.TensorSpec((4, 8)), tf.TensorSpec((4, 1))
data = tf.data.Dataset.from_generator(rows, output_signature=form)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
counts = []
for at_once in 1, 3:
    model.compile(optimizer="sgd", loss="mse", steps_per_execution=at_once)
    for validation in None, data:
        watch = Watch(say=lambda line: None)
        model.fit(data, validation_data=validation, epochs=3, verbose=0, callbacks=[watch])
        counts.append(watch.summary.steps)
done(counts=counts)
""",
    )
    # The fetch that finds the end of the data is not a step. Keras reports three steps for the last execution, which has one.
    assert found == {"counts": [30, 30, 36, 36]}


@pytest.mark.tensorflow
def test_traced_model_is_not_measured_and_tensorflow_is_restored(tmp_path):
    found, _ = results_of(
        tmp_path,
        """
from tensorflow.python.ops import gen_dataset_ops
before = gen_dataset_ops.iterator_get_next
train(dataset(0), 0, Watch(say=lambda line: None))  # another model, which is measured
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(dataset(0), verbose=0)
watch = Watch(say=lambda line: None)
train(dataset(0.01), 0, watch, model=model)
untraced, why = watch.summary.input_wait_share, watch.summary.limit.text
class Failing(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        raise KeyboardInterrupt
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
watch = Watch(say=lambda line: None)
try:
    model.fit(dataset(0), verbose=0, callbacks=[watch, Failing()])
except KeyboardInterrupt:
    pass
steps = watch.summary.steps
done(untraced=untraced, why=why, steps=steps, restored=gen_dataset_ops.iterator_get_next is before)
""",
    )
    assert found.pop("why").startswith("what limits this training is unknown, because the wait for data was not measured: ")
    assert found == {"untraced": None, "steps": 1, "restored": True}


@pytest.mark.slow
@pytest.mark.tensorflow
def test_failed_fit_has_a_summary_and_is_no_longer_watched(tmp_path):
    found, error = results_of(
        tmp_path,
        """
import threading

class Failing(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if self.epoch == 2 and batch == 3:
            raise KeyboardInterrupt
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

def interrupted(**options):
    said = []
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse", jit_compile=False)
    watch = Watch(**{"say": said.append, **options})
    try:
        model.fit(dataset(0), epochs=4, verbose=0, callbacks=[watch, Failing()])
    except KeyboardInterrupt:
        pass
    return watch, said

watch, later = interrupted(report="later.json")
time.sleep(4)
threads = [thread.name for thread in threading.enumerate() if thread.name == "gpucheck watch"]
asked, _ = interrupted()
asked = asked.summary
again, two = interrupted(every_seconds=100)
again.model.fit(dataset(0), verbose=0, callbacks=[again])
again.on_train_begin()  # outside a fit: its end is unknown
print(json.dumps({"later": later, "report": json.load(open("later.json")), "threads": threads, "two": two,
     "asked": [asked.epochs, asked.steps, asked.interrupted]}), flush=True)
last, _ = interrupted(every_seconds=100, say=None)
""",
    )
    assert found["threads"] == []
    assert re.fullmatch(r"gpucheck: 2 epochs, 2[78] steps, [\d.]+ (ms|s), interrupted in epoch 3 · .*", found["later"][0])
    assert (found["report"]["epochs"], found["report"]["interrupted"], found["report"]["seconds"] < 30) == (2, "in epoch 3", True)
    assert found["asked"] == [2, found["report"]["steps"], "in epoch 3"]
    assert [line[:18] for line in found["two"] if "epoch" in line[:20]] == ["gpucheck: 2 epochs", "gpucheck: 1 epoch,"]
    assert error.count("interrupted in epoch 3") == 1  # for the last fit, at the end of the program


@pytest.mark.slow
@pytest.mark.tensorflow
def test_custom_loop_and_break(tmp_path):
    found, error = results_of(
        tmp_path,
        """
class Rows:
    def __iter__(self):
        for number in range(10):
            time.sleep(0.2)
            yield number

watch = Watch()
for row in watch.steps(Rows(), epochs=2, batch_size=16):
    time.sleep(0.1)
whole = watch.summary
for row in watch.steps(Rows()):
    if row == 3:
        break
done(share=whole.input_wait_share, rate=whole.samples_per_second, whole=[whole.epochs, whole.steps], code=whole.limit.code,
     left=[watch.summary.epochs, watch.summary.steps, watch.summary.samples_per_second])
""",
    )
    assert found["share"] == pytest.approx(0.2 / 0.3, abs=0.05)
    assert found["rate"] == pytest.approx(16 / 0.3, rel=0.1)
    assert (found["whole"], found["code"], found["left"]) == ([2, 20], "input-pipeline-bound", [1, 3, None])
    assert error.count("gpucheck: the input pipeline limits this training") == 1


@pytest.mark.slow
@pytest.mark.tensorflow
def test_two_replicas_and_several_steps_per_call(tmp_path):
    found, _ = results_of(
        tmp_path,
        """
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
quiet = Watch(say=lambda line: None)
mirrored = train(dataset(0.5, batches=8), 0, quiet, model=model)
ready = train(dataset(0, batches=8), 0, quiet, model=model)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", steps_per_execution=4)
several = train(dataset(0.05, batches=14), 0, Watch(say=lambda line: None), model=model)
done(mirrored=[mirrored.replicas, mirrored.input_wait_share, mirrored.samples_per_second * mirrored.step_seconds],
     truth=1 - ready.step_seconds / mirrored.step_seconds, ready=ready.step_seconds, step=mirrored.step_seconds,
     several=[several.steps, several.input_wait_share, several.input_wait_exact, several.limit.code])
""",
    )
    replicas, share, per_step = found["mirrored"]
    assert (replicas, round(per_step)) == (2, 16)
    assert share == pytest.approx(found["truth"], abs=0.05), found
    steps, share, exact, code = found["several"]
    assert (steps, exact, code) == (28, False, "input-pipeline-bound")
    assert share > 0.8


def machine(driver, scenario):
    return {"LD_LIBRARY_PATH": str(driver), "FAKE_DRIVER": str(scenario)}


@pytest.mark.slow
@pytest.mark.tensorflow
def test_training_on_the_cpu_with_two_idle_gpus_is_reported(tmp_path, driver_folder):
    scenario = fake_driver.write_scenario(tmp_path / "scenario", {"gpus": 2, "gpu.*.utilization_percent": 0})
    found, error = results_of(
        tmp_path,
        """
class UntilReported(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.stop_training = bool(watch.events)

watch = Watch(every_seconds=0.2)
model = keras.Sequential([keras.Input((8,)), Busy(0.05), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", jit_compile=False)
model.fit(dataset(0, batches=1000), verbose=0, callbacks=[watch, UntilReported()])
done(events=watch.events, limit=watch.summary.limit.code, device=watch.summary.device,
     gpus=[[gpu.index, gpu.utilization_percent] for gpu in watch.summary.gpus])
""",
        **machine(driver_folder, scenario),
    )
    ((code, text, command),) = found["events"]
    assert text.startswith("training on the CPU; 2 GPUs are unused: ")
    assert command
    assert (found["limit"], found["device"]) == (code, "CPU")
    assert [index for index, _ in found["gpus"]] == [0, 1]
    assert {percent for _, percent in found["gpus"]} <= {0.0, None}  # None: the fit ended before the first sample
    assert f"gpucheck: {text} [{code}]\ngpucheck: to fix it: {command}\n" in error
    check = [sys.executable, "-m", "gpucheck", "--quick", "--format", "json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **machine(driver_folder, scenario)}
    report = json.loads(subprocess.run(check, env=env, capture_output=True, text=True, timeout=100, cwd=tmp_path).stdout)
    assert code == report["findings"][0]["code"]  # gpucheck reports the same cause
