"""Run code with the real TensorFlow in a separate process, on two logical CPU devices on any hardware."""

import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

import pytest

MARKS = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"),
]
BEGINNING = """
import json
import keras
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from gpucheck.core.child.messages.struct import replace, to_builtins
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.child.messages.training import Job
from gpucheck.core.training.smoke import network
setting = Setting(tf, keras, {"CPU:0": "CPU:0", "CPU:1": "CPU:1"}, [])
found = {}
"""
END = """
print(json.dumps(found, allow_nan=False, default=to_builtins))
"""


def found_by(script: str) -> Any:
    """The values that a script put into ``found``; it has ``tf``, ``keras``, ``network`` and the ``setting`` of an experiment."""
    return printed_by(BEGINNING + script + END)


def printed_by(script: str, *args: str) -> Any:
    """The JSON in the last line that a script prints with these arguments, without visible GPUs.

    The variable TENSORFLOW_PYTHON names the interpreter of another environment, to test another version of TensorFlow.
    """
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
    argv = [os.environ.get("TENSORFLOW_PYTHON", sys.executable), "-c", script, *args]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=240, env=env, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
