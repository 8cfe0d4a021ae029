"""TensorFlow 2.21.0 as ``pip install tensorflow[and-cuda]`` leaves it: named, and repaired by the command that is printed."""

import json
import shlex
import subprocess

import pytest

pytestmark = pytest.mark.tensorflow

LIST = "import json, tensorflow as tf; print(json.dumps([gpu.name for gpu in tf.config.list_physical_devices('GPU')]))"


@pytest.fixture
def clean(bench):
    """Nothing tells the loader where cuSOLVER lies."""
    trial = bench.trial()
    trial.env["LD_LIBRARY_PATH"] = ""
    return trial, bench.surroundings(trial, {})


def listed(trial, env, first="true"):
    """What TensorFlow lists in a shell in which a command was run first."""
    line = f"{first}\n{shlex.quote(str(trial.environment.python))} -c {shlex.quote(LIST)}"
    done = subprocess.run(["sh", "-c", line], env=env, cwd=trial.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_the_printed_command_makes_tensorflow_list_the_gpu(bench, clean):
    trial, env = clean
    assert listed(trial, env) == []
    done = subprocess.run(bench.command(trial, "--quick"), env=env, cwd=trial.folder, capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    finding = report["findings"][0]
    assert (done.returncode, finding["code"], finding["explained_by"]) == (1, "cuda-libraries-unreachable", None)
    assert listed(trial, env, finding["fix"][0]["command"]) == ["/physical_device:GPU:0"]
