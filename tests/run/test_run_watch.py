"""``gpucheck run --watch``: an unchanged program runs as usual, and its summary is printed."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from lab import fake_driver

from gpucheck.commands.watch.judge import Event
from gpucheck.commands.watch.process_monitor import Processes, Use, limited, lines
from gpucheck.commands.watch.workers import Worker
from gpucheck.core.model.fit import GpuUse

ROOT = pathlib.Path(__file__).parents[2]
STARTUP = ROOT / "gpucheck" / "commands" / "watch" / "startup"
WATCH = [sys.executable, "-m", "gpucheck", "run", "--watch", "--quick", "--allow-cpu"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no exec")
FITS = """
import os, sys, time
import keras, numpy as np, tensorflow as tf

def rows(seconds):
    while True:
        time.sleep(seconds)
        yield np.ones((8, 4), "float32"), np.ones((8, 1), "float32")

def slow(x, y):
    return tf.numpy_function(lambda v: (time.sleep(0.05), v)[1], [x], tf.float32), y

def fit(data, **options):
    print("fit", file=sys.stderr, flush=True)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    model.fit(data, epochs=2, steps_per_epoch=8, verbose=0, **options)
    model.evaluate(data, steps=2, verbose=0)

ready = tf.data.Dataset.from_tensors((tf.ones((8, 4)), tf.ones((8, 1)))).repeat()
fit(rows(0.05))
fit(ready.map(lambda x, y: (tf.ensure_shape(slow(x, y)[0], (8, 4)), y)))
fit(ready.map(lambda x, y: (x * float("nan"), y)))
from gpucheck.keras import Watch
fit(ready, callbacks=[Watch(say=lambda line: print("own", line, file=sys.stderr))])
outputs = []
def say(line):
    outputs.append(line)
    print(line, file=sys.stderr)
    1 / (len(outputs) - 1)
fit(ready, callbacks=[Watch(say=say)])
print("fit", file=sys.stderr, flush=True)
os._exit(42)  # TensorFlow may hang where Python ends while a dataset's thread wants to call it
"""


def run(tmp_path, program, *options, **env):
    (tmp_path / "train.py").write_text(program)
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", **env}
    argv = [*WATCH, *options, "--", sys.executable, "train.py"]
    return subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_each_fit_of_an_unchanged_program_has_a_summary(tmp_path):
    done = run(tmp_path, FITS)
    assert done.returncode == 42, done.stderr
    outputs = [
        [line for line in part.splitlines() if "gpucheck: " in line] for part in done.stderr.partition("fit\n")[2].split("fit\n")
    ]
    for generator_or_map in outputs[:2]:
        assert generator_or_map[0].startswith("gpucheck: 2 epochs, 16 steps, ")
        assert "the input pipeline limits this training" in generator_or_map[-1]
    assert outputs[2][0].startswith("gpucheck: loss became NaN in epoch 1, step 1 ")
    assert [line for line in outputs[3] if "2 epochs, " in line] == [outputs[3][0]]  # from its own Watch, without a second one
    assert outputs[3][0].startswith("own gpucheck: ")
    assert outputs[4][-1] == "gpucheck: Watch has stopped; training continues: ZeroDivisionError: division by zero"
    assert outputs[5] == []  # the monitor outside prints nothing


@posix
def test_process_children_and_path_are_unchanged(tmp_path):
    program = "import os, sys, psutil; print([os.getpid(), len(psutil.Process().children()), sys.path[1:], os.listdir('/proc/self/fd')[:3]])"
    argv = [sys.executable, "-c", program]
    alone = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path).stdout
    process = subprocess.Popen([*WATCH, "--", *argv], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, alone.replace(alone[1 : alone.index(",")], str(process.pid)))


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signal_ends_the_command(number):
    process = subprocess.Popen([*WATCH, "--", "sh", "-c", "echo ready; exec sleep 60"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.wait(timeout=20) == -number
    process.stdout.close()


def python(folder, program):
    env = {**os.environ, "PYTHONPATH": f"{STARTUP}:{folder}"}
    argv = [sys.executable, "-c", program]
    return subprocess.run(argv, capture_output=True, text=True, env=env, cwd=folder, timeout=60)


def test_hidden_sitecustomize_is_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('another')")
    done = python(tmp_path, "import sitecustomize; print(sitecustomize.__file__)")
    assert (done.stdout.split(), done.stderr) == (["another", str(tmp_path / "sitecustomize.py")], "")
    (tmp_path / "sitecustomize.py").write_text("import missing")
    done = python(tmp_path, "print(1)")
    assert done.stdout == "1\n"
    assert "No module named 'missing'" in done.stderr.splitlines()[-1]  # Python's own message


KERAS = """
__version__ = {!r}
class callbacks:
    class CallbackList:
        def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
            self.callbacks, self.model, self.params = [], model, params
"""
USE = "import importlib.util; importlib.util.find_spec('keras'); import keras; made = keras.callbacks.CallbackList(None, True)"


@pytest.mark.parametrize(
    "keras", [KERAS.format("3.9.0"), KERAS.format("2.15.0"), "", "__version__ = None", "__version__ = '3.1'\ncallbacks = None"]
)
def test_other_keras_or_gpucheck_is_not_changed(tmp_path, keras):
    (tmp_path / "keras.py").write_text(keras)
    (tmp_path / "gpucheck.py").write_text("")
    program = f"{USE}; print(made.callbacks)" if "CallbackList" in keras else "import keras; print([])"
    done = python(tmp_path, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


@pytest.mark.slow
@posix
def test_program_without_keras_gets_a_summary_from_outside(tmp_path, driver_folder):
    scenario = fake_driver.write_scenario(tmp_path / "scenario", {"gpus": 2, "gpu.*.utilization_percent": 3})
    program = "import time\nuntil = time.monotonic() + 11\nwhile time.monotonic() < until: pass\nprint('done')"
    done = run(tmp_path, program, "--on-fail", "warn", LD_LIBRARY_PATH=str(driver_folder), FAKE_DRIVER=str(scenario))
    assert (done.returncode, done.stdout) == (0, "done\n")
    first, second, third = done.stderr.splitlines()[-3:]
    assert " processors busy · at most " in first
    assert second == "gpucheck: GPU 0 3 % busy · GPU 1 3 % busy"
    assert third == "gpucheck: the GPUs were idle. If this was a training run, run in its environment: gpucheck"


def test_memory_and_processor_time_of_a_process_and_its_children():
    program = "import subprocess, sys; x = b'1' * (64 << 20); subprocess.run(['cat'])"
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE)
    processes = Processes(process.pid)
    while processes.memory_bytes < 64 << 20:
        processes.sample()
    assert not processes.ended()
    process.kill()
    while not processes.ended():  # not reaped yet
        pass
    process.stdin.close()
    process.wait()
    assert processes.ended()
    assert processes.cpu_seconds > 0


def gpus(*percents):
    return tuple(GpuUse(index=index, utilization_percent=percent) for index, percent in enumerate(percents))


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (Use(100.0, 1.0, 8, 0), None),
        (Use(100.0, 1.0, 8, 0, None, gpus(95.0, 20.0)), None),
        (Use(100.0, 4.0, 8, 0, 0.1, gpus(60.0)), None),
        (Use(100.0, 1.0, 8, 0, 0.5, gpus(0.0, 2.0)), "the GPUs were idle"),
        (Use(100.0, 1.0, 8, 0, 0.5, gpus(40.0)), "waited for disks"),
        (Use(100.0, 7.5, 8, 0, 0.0, gpus(40.0)), "the processors, which were all busy"),
        (Use(100.0, 1.05, 8, 0, None, gpus(40.0)), "one busy processor"),
    ],
)
def test_limit_of_a_program(use, words):
    found = next(limited(use), None)
    assert found is words or words in found


def test_lines_of_a_program():
    use = Use(754.2, 1.04, 8.0, 3 << 30, 0.04, gpus(40.0, None))
    assert lines(use, [Event("host-memory-exhausted", "main memory runs out")]) == [
        "gpucheck: 12 min 34 s · 1.0 of 8 processors busy · at most 3.0 GiB of memory · tasks of this machine waited for disks 4 % of the time",
        "gpucheck: GPU 0 40 % busy",
        "gpucheck: main memory runs out [host-memory-exhausted]",
    ]


def test_first_worker_prints_the_summary_and_others_their_problems():
    use, event = Use(754.2, 1.0, 8.0, 3 << 30), Event("host-memory-exhausted", "main memory runs out")
    assert lines(use, [], Worker(0, 4))[0].startswith("gpucheck: worker 0 of 4 · 12 min 34 s · ")
    assert lines(use, [], Worker(3, 4)) == []
    assert lines(use, [event], Worker(3, 4)) == ["gpucheck: worker 3: main memory runs out [host-memory-exhausted]"]
