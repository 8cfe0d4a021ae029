"""How many GPUs a scheduler assigns here, read from its files; where they do not say, the number is not known."""

import json

import pytest

from gpucheck.commands.node.gres import of_kubernetes


def checkpoint(registered):
    """The kubelet's file with these devices by resource."""
    return json.dumps({"Data": {"PodDeviceEntries": None, "RegisteredDevices": registered}, "Checksum": 1})


def test_registered_gpus_are_counted():
    devices = {"nvidia.com/gpu": ["GPU-1", "GPU-2::0", "GPU-2::1"], "vendor.com/nic": ["eth0"]}
    assert of_kubernetes(lambda _: checkpoint(devices)).count == 2


@pytest.mark.parametrize("registered", [{}, {"vendor.com/nic": ["eth0"]}, {"nvidia.com/gpu": []}, {"nvidia.com/gpu": None}, [], None])
def test_no_registered_gpu_does_not_mean_that_none_is_expected(registered):
    assert of_kubernetes(lambda _: checkpoint(registered)).count is None
