"""The cases of tests/cases/driver/PROBE.txt, in files as `case_files` reads them: a scenario of the fake driver, and the fields read.

gpus = 2                             the fake driver's scenario: `fake_driver` lists its keys
env CUDA_VISIBLE_DEVICES = 1
-> gpu_count = 2                     each field that differs from a healthy machine with one GPU,
-> gpus[1].name = "Tesla K80"        or with the same number of GPUs
-> gpus[1] = {"index": 1}            a GPU with more than four differing fields, without unknown ones
"""

import functools
import importlib
import sys
from pathlib import Path

import case_files
import msgspec
import pytest
from probe_cases import differing, lines_of

from gpucheck.core.host.local import LocalHost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
FOLDER = Path(__file__).parents[1] / "cases" / "driver"


@pytest.mark.parametrize("probe", ["cuda", "driver", "gpus"])
def test_facts_match_their_cases(probe, driver_host, request):
    read = importlib.import_module(f"gpucheck.core.probes.{probe}").read

    def fact(scenario, **env):
        with driver_host(scenario, **env) as host:
            assert isinstance(host, LocalHost)
            return msgspec.to_builtins(read(host))

    @functools.cache
    def healthy(gpus):
        return fact({"gpus": gpus})

    def outcome(case):
        given = [line.split(" = ", 1) for line in case.given]
        env = {name.removeprefix("env "): value for name, value in given if name.startswith("env ")}
        scenario = {name: value for name, value in given if not name.startswith("env ")}
        return lines_of(differing(fact(scenario, **env), healthy(scenario.get("gpus", "1")))) or ["-> nothing"]

    path = FOLDER / f"{probe}.txt"
    case_files.check(path, case_files.read(path), outcome, request.config.getoption("--update-goldens"))
