"""Real TensorFlow on the fake driver: it lists GPUs where all its CUDA libraries are found, and none where one is not."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest
from lab import fake_driver

pytestmark = pytest.mark.tensorflow

LIST = """
import json, tensorflow as tf
devices = tf.config.list_physical_devices("GPU")
details = [tf.config.experimental.get_device_details(device) for device in devices]
print(json.dumps([[device.name, *detail["compute_capability"]] for device, detail in zip(devices, details)]))
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The driver with every function TensorFlow looks up, and the folders of the seven libraries by their wheel's name."""
    spec = importlib.util.find_spec("tensorflow")
    framework = pathlib.Path(spec.origin).parent / "libtensorflow_framework.so.2" if spec and spec.origin else None
    if framework is None or not framework.exists():
        pytest.skip("no TensorFlow for Linux is installed")
    if fake_driver.COMPILER is None:
        pytest.skip("no C compiler: the fake driver can't be built")
    folder = tmp_path_factory.mktemp("lab")
    names = fake_driver.tensorflow_symbols(framework)
    libraries = fake_driver.build_cuda_libraries(folder / "site", names)
    return fake_driver.build(folder / "driver", names), {library.parent.name: library for library in libraries}


def gpus(lab, tmp_path, lines, leave_out=None):
    driver, libraries = lab
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", lines)
    found = [folder for name, folder in libraries.items() if name != leave_out]
    env = {**fake_driver.environment(driver, scenario, *found), "HOME": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"}
    for name in ("VIRTUAL_ENV", "SYSTEMROOT"):
        if name in os.environ:
            env[name] = os.environ[name]
    answer = subprocess.run([sys.executable, "-c", LIST], env=env, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr[-2000:]
    return json.loads(answer.stdout)


@pytest.mark.slow
def test_every_gpu_is_listed(lab, tmp_path):
    lines = {"gpus": 2, "gpu.1.compute_capability": "8.0"}
    assert gpus(lab, tmp_path, lines) == [["/physical_device:GPU:0", 9, 0], ["/physical_device:GPU:1", 8, 0]]


@pytest.mark.slow
def test_one_missing_library_hides_them(lab, tmp_path):
    assert gpus(lab, tmp_path, {}, leave_out="cufft") == []
