"""The tests of `make gpu` on a machine with NVIDIA's driver; those that compute nothing also run on the fake driver."""

import os
import pathlib
import sys

import pytest
from gpu.items import items
from gpu.measures import in_container
from gpu.place import CHECKOUT, CPU, FAKE, GPU, Place, kind_here
from lab.bench import Unavailable

REASON = "needs an NVIDIA GPU and its driver: /dev/nvidiactl and /proc/driver/nvidia/version"
CHOSEN = (
    "healthy-node",
    "nvidia-smi",
    "nvidia-smi-xml",
    "hidden",
    "cublas-cut",
    "run",
    "left-behind",
)  # on the fake driver, in `make test`


def tried():
    """Yield each item in each place where it runs."""
    for item in items():
        if GPU in item.on:
            gpu = [pytest.mark.gpu, pytest.mark.tensorflow, pytest.mark.skipif(kind_here() is None, reason=REASON)]
            yield pytest.param(GPU, item, id=f"gpu-{item.name}", marks=[*gpu, pytest.mark.timeout(900)])
        if FAKE in item.on:
            marks = [pytest.mark.tensorflow] + ([] if item.name in CHOSEN else [pytest.mark.slow])
            yield pytest.param(FAKE, item, id=f"fake-{item.name}", marks=marks)
        if CPU in item.on and item.name in ("float16-not-finite", "watch"):
            yield pytest.param(CPU, item, id=f"cpu-{item.name}", marks=[pytest.mark.tensorflow, pytest.mark.slow])


@pytest.fixture(scope="session")
def places(tmp_path_factory):
    """Return a function that prepares each kind of place once."""
    made = {}

    def place(kind):
        if kind not in made:
            site = os.environ.get("GPU_SITE")
            try:
                made[kind] = Place(kind, tmp_path_factory.mktemp(kind), pathlib.Path(site) if site and kind == GPU else None)
            except Unavailable as error:
                pytest.skip(str(error))
        return made[kind]

    return place


@pytest.mark.parametrize(("kind", "item"), list(tried()))
def test_found_values_match_the_expected_ones(kind, item, places):
    rows = list(item.run(places(kind)))
    assert rows
    if all(row.ok is None for row in rows):
        pytest.skip(rows[0].found)
    assert [(row.name, row.expected, row.found) for row in rows if row.ok is False] == []


ENGINE = """#!/bin/sh
printf '%s\\n' "$@" > "{folder}/arguments"
while [ "$1" != an-image ]; do shift; done; shift 2
exec "{python}" "$@"
"""


def test_container_gets_this_gpucheck_and_the_gpus(tmp_path, monkeypatch):
    (tmp_path / "docker").write_text(ENGINE.format(folder=tmp_path, python=sys.executable))
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (skipped,) = in_container(Place(CPU, tmp_path / "place"))
    assert skipped.found == "skipped: GPU_IMAGE names no image with this Python"
    monkeypatch.setenv("GPU_IMAGE", "an-image")
    rows = list(in_container(Place(CPU, tmp_path / "place")))
    assert [row.name for row in rows] == ["container", "container-without-gpu"]
    assert all(row.done.report["tool"]["name"] == "gpucheck" for row in rows)
    last = (tmp_path / "arguments").read_text().splitlines()
    assert {"--network=none", "--pull=never", f"--volume={CHECKOUT}:{CHECKOUT}:ro"} <= set(last)
    assert "--gpus=all" not in last
