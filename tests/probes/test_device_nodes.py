import pathlib

import msgspec
import pytest
from fakes import FakeChild, FakeHost, machine

from gpucheck.child.messages import Stage
from gpucheck.child.messages.files import DeviceNodesTask, NodeOpened
from gpucheck.probes.device_nodes import DeviceNode, DeviceNodes, read

INFORMATION = (pathlib.Path(__file__).parent.parent / "raw/h200/proc_driver_nvidia_gpu_information.txt").read_text()
GPU = "/proc/driver/nvidia/gpus/0000:00:06.0/information"
NODES = {"/dev/nvidiactl": 0o666, "/dev/nvidia-uvm": 0o666, "/dev/nvidia0": 0o666}


def opened(*paths, how="finished", stage=None, **errors):
    """The child that opens nodes; ``errors`` by the node's name."""
    found = [(path, NodeOpened(errors.get(path.rpartition("/")[2]))) for path in paths]
    return {"device_nodes": FakeChild(*found, how=how, stage=stage and Stage("open", stage))}


def test_recorded_h200():
    nodes = {**NODES, "/dev/nvidia-uvm-tools": 0o666, "/dev/nvidia-caps/nvidia-cap1": 0o400}
    host = FakeHost({GPU: INFORMATION}, nodes=nodes, children=opened(*NODES))
    assert read(host) == msgspec.convert(machine("h200")["device_nodes"], DeviceNodes)
    assert host.asked == [DeviceNodesTask(("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"))]


def test_none_there_starts_no_child():
    host = FakeHost()
    assert read(host) == DeviceNodes(
        control=DeviceNode(path="/dev/nvidiactl", present=False), uvm=DeviceNode(path="/dev/nvidia-uvm", present=False)
    )
    assert host.asked == []


def test_driver_lists_a_gpu_whose_node_is_absent():
    nodes = {"/dev/nvidiactl": 0o666, "/dev/nvidia2": 0o660}
    found = read(FakeHost({GPU: INFORMATION}, nodes=nodes, children=opened(*nodes, nvidia2="EACCES")))
    assert [(node.path, node.present, node.openable, node.error) for node in found.gpus] == [
        ("/dev/nvidia0", False, None, None),
        ("/dev/nvidia2", True, False, "EACCES"),
    ]
    assert found.gpus[1].mode == "0660"
    assert found.uvm.present is False


def test_ten_gpus_are_in_order():
    names = [f"/dev/nvidia{number}" for number in range(12)]
    found = read(FakeHost(nodes=dict.fromkeys(names, 0o666), children=opened(*names)))
    assert [node.path for node in found.gpus] == names


def test_a_short_wait_is_no_hang():
    children = opened("/dev/nvidiactl", how="timed out", stage="/dev/nvidia0")
    host = FakeHost(nodes=NODES, children=children, remaining=2.0)
    with pytest.raises(RuntimeError, match="nvidia0 did not open within 2 s: too short a time to blame the driver"):
        read(host)


def test_hang_names_the_node():
    children = opened("/dev/nvidiactl", "/dev/nvidia-uvm", how="timed out", stage="/dev/nvidia0")
    found = read(FakeHost(nodes=NODES, children=children))
    assert (found.ending, found.hung_on) == ("timed out", "/dev/nvidia0")
    assert (found.control.openable, found.gpus[0].present, found.gpus[0].openable) == (True, True, None)


def test_files_and_folders_in_place_of_devices_are_told_and_left_alone():
    host = FakeHost({"/dev/nvidiactl": ""}, folders=("/dev/nvidia0",))  # Docker's -v makes a folder of what is absent
    found = read(host)
    assert (found.control.present, found.control.regular_file, found.control.openable) == (True, True, None)
    assert found.gpus[0].regular_file is True
    assert host.asked == []
    assert found.ending is None
