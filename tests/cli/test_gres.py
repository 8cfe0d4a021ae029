"""The number of GPUs that a scheduler assigns to this node, read from its files; unknown if the files don't have it."""

import json

import pytest

from gpucheck.commands.node.gres import of_kubernetes, of_slurm
from gpucheck.core.model import PromisedGpus


def checkpoint(registered):
    """The kubelet's checkpoint file with these devices by resource."""
    return json.dumps({"Data": {"PodDeviceEntries": None, "RegisteredDevices": registered}, "Checksum": 1})


def test_registered_gpus_are_counted():
    devices = {"nvidia.com/gpu": ["GPU-1", "GPU-2::0", "GPU-2::1"], "vendor.com/nic": ["eth0"]}
    assert of_kubernetes(lambda _: checkpoint(devices)).count == 2


@pytest.mark.parametrize(
    "registered",
    [
        {"nvidia.com/gpu": [], "nvidia.com/mig-1g.10gb": ["MIG-1"]},
        {},
        {"vendor.com/nic": ["eth0"]},
        {"nvidia.com/gpu": []},
        {"nvidia.com/gpu": None},
        [],
        None,
    ],
)
def test_no_registered_gpu_does_not_mean_that_none_is_expected(registered):
    assert of_kubernetes(lambda _: checkpoint(registered)).count is None


CONFIGURATION = "Include missing.conf\nNodeName=node-1 CPUs=4\n"


@pytest.mark.parametrize(
    ("files", "count", "source"),
    [
        ({"/s.conf": CONFIGURATION}, None, "cannot read /missing.conf, which /s.conf includes"),
        ({"/s.conf": CONFIGURATION, "/missing.conf": "NodeName=DEFAULT Gres=gpu:8"}, 8, "Gres of node-1 in /s.conf"),
        ({"/s.conf": "NodeName=node-1 Gres=gpu:2\nInclude missing.conf"}, 2, "Gres of node-1 in /s.conf"),
        ({"/s.conf": "Include s.conf"}, None, "/s.conf includes more than 50 files"),
        ({"/s.conf": "NodeName\nNodeName=node-1 Gres=gpu:2"}, 2, "Gres of node-1 in /s.conf"),
    ],
)
def test_gres_count_with_unreadable_includes(files, count, source):
    assert of_slurm("node-1", "/s.conf", files.get) == PromisedGpus(count=count, source=source)


def test_deeply_nested_checkpoint_is_ignored():
    assert of_kubernetes(lambda _: "[" * 200_000).count is None
