"""The memory of a device in use, as libcuda reports it."""

import json
import os
import subprocess
import sys

import pytest
from case_files import table
from lab import fake_driver

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
MEMORY = """
import ctypes, json, sys
from gpucheck.core.child import cuda
driver = ctypes.CDLL("libcuda.so.1")
driver.cuInit(0)
print(json.dumps(cuda.memory(driver, int(sys.argv[1]))))
"""


@table
def test_memory_of_a_cuda_device(driver_folder, tmp_path, lines, ordinal, expected):
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", lines)
    argv = [sys.executable, "-c", MEMORY, str(ordinal)]
    env = {**os.environ, **fake_driver.environment(driver_folder, scenario)}
    assert json.loads(subprocess.run(argv, env=env, capture_output=True, check=True, timeout=60).stdout) == expected
