"""The compiled fake driver compared with tests/raw/h200, the responses of a real, healthy H200's NVML and libcuda to the same calls."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from lab import fake_driver

from gpucheck.core.probes import cuda

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
RECORDED = pathlib.Path(__file__).parents[1] / "raw" / "h200"
# Functions of the fake driver without a recording, which only follow nvml.h.
NOT_RECORDED = {
    *("nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"),
    *("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetHandleByUUID"),
    *("nvmlDeviceGetFieldValues", "nvmlDeviceGetMigDeviceHandleByIndex"),
}
CALLS = """
import ctypes, json, pynvml, re, sys
pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)

def plain(value):
    fields = getattr(value, "_fields_", None)
    if fields:
        return {name: plain(getattr(value, name)) for name, *_ in fields}
    value = list(value) if isinstance(value, (list, tuple)) else value
    return value.decode() if isinstance(value, bytes) else value

def answer(call):
    name, text = re.fullmatch(r"(\\w+)\\((.*)\\)", call).groups()
    words = text.split(", ") if text else []
    arguments = [int(word) if word.isdigit() else getattr(pynvml, word) for word in words]
    filled = [argument() for argument in arguments if isinstance(argument, type)]  # a structure that the caller passes
    arguments = [*map(ctypes.byref, filled)] or arguments
    about_gpu = [gpu] if name.startswith("nvmlDeviceGet") and name != "nvmlDeviceGetCount" else []
    try:
        value = getattr(pynvml, name)(*about_gpu, *arguments)
    except pynvml.NVMLError as error:
        return {"error": error.value}
    return plain(filled[0] if filled else value)

print(json.dumps({call: answer(call) for call in json.load(sys.stdin)}, default=str))
"""


def recorded(name):
    return json.loads((RECORDED / f"{name}.json").read_text())


def test_nvml_of_the_fake_driver_matches_the_recording(driver_folder, tmp_path):
    wanted = recorded("nvml")
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {})
    env = {**os.environ, **fake_driver.environment(driver_folder, scenario)}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", CALLS],
        input=json.dumps(list(wanted)),
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for call, value in wanted.items():
        if isinstance(value, dict) and isinstance(found[call], dict):
            found[call] = {name: found[call].get(name) for name in value}  # of a structure, the recorded fields
    assert {call: found[call] for call in wanted if found[call] != wanted[call]} == {}


def test_every_nvml_function_is_recorded_or_listed():
    source = (fake_driver.SOURCES / "nvml.c").read_text()
    faked = set(re.findall(r"^(?:int|NUMBER|SORTED|PAIR|REASONS)[ (]\**(nvml\w+)", source, re.MULTILINE))
    unversioned = {re.sub(r"_v\d$", "", name) for name in faked}
    assert len(unversioned) > 30
    assert unversioned - {re.sub(r"_v\d$", "", call.partition("(")[0]) for call in recorded("nvml")} == NOT_RECORDED


@pytest.mark.parametrize("answer", recorded("cuda"), ids=lambda answer: json.dumps(answer["env"]))
def test_libcuda_of_the_fake_driver_matches_the_recording(answer, driver_host):
    with driver_host(**answer["env"]) as host:
        fact = cuda.read(host)
    assert fact.result_name == (None if answer["cuInit"] == "CUDA_SUCCESS" else answer["cuInit"])
    for device in fact.devices:
        assert {name: getattr(device, name) for name in ("name", "pci_address")} == {
            name: answer[name] for name in ("name", "pci_address")
        }
        assert list(device.compute_capability) == answer["compute_capability"]
    assert len(fact.devices) == ("name" in answer)
