"""The callback in a real training: problems are reported while they occur."""

import os
import pathlib
import subprocess
import sys

import pytest

from gpucheck.commands.watch.judge import Event
from gpucheck.commands.watch.monitor import Monitor
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes.limits import main_memory

ROOT = pathlib.Path(__file__).parents[2]
# TensorFlow may hang if Python exits while a dataset's thread calls a generator; this program avoids that.
PROGRAM = """
import os, sys, threading, keras, numpy as np
from gpucheck.keras import Watch

reported = threading.Event()

def batches():
    for number in range(40):
        if number == 30:
            reported.wait(60)  # until the stall is reported
        yield np.full((8, 4), np.nan if number > 35 else 1.0, "float32"), np.ones((8, 1), "float32")

def say(line):
    print(line, flush=True)
    reported.set()

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
watch = Watch(every_seconds=0.1, stall_seconds=0.5, stop_on_nan=True, say=say)
model.fit(batches(), steps_per_epoch=40, epochs=3, verbose=0, callbacks=[watch])
print([event.code for event in watch.events], model.stop_training)
watching = [thread for thread in threading.enumerate() if thread.name == "gpucheck watch"]
[thread.join(30) for thread in watching]
print([thread.name for thread in watching if thread.is_alive()])
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.tensorflow
def test_stalled_training_with_nan_loss(tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ['PYTHONPATH']}", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    stall, nan, figures, *_, codes, threads = done.stdout.splitlines()
    assert "The input pipeline is at train.py:10 in batches [input-pipeline-bound]" in stall
    assert nan.startswith("gpucheck: loss became NaN in epoch 1, step ")
    assert nan.endswith("). The training stops here [loss-not-finite]")
    assert figures.startswith("gpucheck: 1 epoch, 3")
    assert codes == "['input-pipeline-bound', 'loss-not-finite'] True"
    assert threads == "[]"


def test_each_event_is_reported_once_until_it_is_over():
    reported = []
    monitor = Monitor(reported.append, 1.0, 60.0)
    hot = Event("gpu-throttled", "hot")
    for events in ([hot], [hot], [], [hot]):
        monitor.report(events)
    assert reported == [hot, hot]


def test_memory_of_this_machine():
    with LocalHost(Request()) as host:
        available, total = main_memory(host)
    assert 0 < available <= total


def test_pace_of_steps():
    monitor = Monitor(print, 1.0, 60.0)
    assert monitor.pace() == (None, 0.0)
    for _ in range(3):
        monitor.step()
    assert monitor.pace().usual_seconds >= 0
    monitor.pause()
    assert monitor.pace().waiting_seconds == 0.0
