import pathlib

import msgspec
import pytest
from fakes import FakeChild, FakeHost, machine

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.device_nodes import DeviceNode, DeviceNodes, read

INFORMATION = (pathlib.Path(__file__).parent.parent / "raw/h200/proc_driver_nvidia_gpu_information.txt").read_text()
GPU = "/proc/driver/nvidia/gpus/0000:00:06.0/information"
OPEN = {"error": None}
NODES = {"/dev/nvidiactl": 0o666, "/dev/nvidia-uvm": 0o666, "/dev/nvidia0": 0o666}


class Watching(FakeHost):
    """Remembers what the child was asked to open."""

    asked = None

    def child(self, name, *args, limit=30.0):
        self.asked = args
        return super().child(name, *args, limit=limit)


def test_recorded_h200():
    nodes = {**NODES, "/dev/nvidia-uvm-tools": 0o666, "/dev/nvidia-caps/nvidia-cap1": 0o400}
    host = Watching({GPU: INFORMATION}, nodes=nodes, children={"device_nodes": FakeChild(dict.fromkeys(NODES, OPEN))})
    assert read(host) == msgspec.convert(machine("h200")["device_nodes"], DeviceNodes)
    assert host.asked == ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0")


def test_none_there_starts_no_child():
    host = Watching()
    assert read(host) == DeviceNodes(
        control=DeviceNode(path="/dev/nvidiactl", present=False), uvm=DeviceNode(path="/dev/nvidia-uvm", present=False)
    )
    assert host.asked is None


def test_driver_lists_a_gpu_whose_node_is_absent():
    nodes = {"/dev/nvidiactl": 0o666, "/dev/nvidia2": 0o660}
    stages = {"/dev/nvidiactl": OPEN, "/dev/nvidia2": {"error": "EACCES"}}
    found = read(FakeHost({GPU: INFORMATION}, nodes=nodes, children={"device_nodes": FakeChild(stages)}))
    assert [(node.path, node.present, node.openable, node.error) for node in found.gpus] == [
        ("/dev/nvidia0", False, None, None),
        ("/dev/nvidia2", True, False, "EACCES"),
    ]
    assert found.gpus[1].mode == "0660"
    assert found.uvm.present is False


def test_ten_gpus_are_in_order():
    names = [f"/dev/nvidia{number}" for number in range(12)]
    child = FakeChild(dict.fromkeys(names, OPEN))
    found = read(FakeHost(nodes=dict.fromkeys(names, 0o666), children={"device_nodes": child}))
    assert [node.path for node in found.gpus] == names


def test_a_short_wait_is_no_hang():
    child = FakeChild({"/dev/nvidiactl": OPEN}, how="timed out", stage="/dev/nvidia0")
    host = FakeHost(nodes=NODES, children={"device_nodes": child}, remaining=2.0)
    with pytest.raises(RuntimeError, match="nvidia0 did not open within 2 s: too short a time to blame the driver"):
        read(host)


def test_hang_names_the_node():
    child = FakeChild({"/dev/nvidiactl": OPEN, "/dev/nvidia-uvm": OPEN}, how="timed out", stage="/dev/nvidia0")
    found = read(FakeHost(nodes=NODES, children={"device_nodes": child}))
    assert (found.ending, found.hung_on) == ("timed out", "/dev/nvidia0")
    assert (found.control.openable, found.gpus[0].present, found.gpus[0].openable) == (True, True, None)


def test_child_that_never_started():
    found = read(FakeHost(nodes=NODES))
    assert found.ending.startswith("not started")
    assert found.control == DeviceNode(path="/dev/nvidiactl", present=True, mode="0666", owner="root", group="root")


def test_files_and_folders_in_place_of_devices_are_told_and_left_alone():
    host = Watching({"/dev/nvidiactl": ""}, folders=("/dev/nvidia0",))  # Docker's -v makes a folder of what is absent
    found = read(host)
    assert (found.control.present, found.control.regular_file, found.control.openable) == (True, True, None)
    assert found.gpus[0].regular_file is True
    assert host.asked is None
    assert found.ending is None


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems(platform):
    found = read(FakeHost(platform=platform))
    assert (found.control.present, found.uvm.present, found.gpus) == (False, False, ())


def test_answers_of_the_real_child():
    with LocalHost(Request()) as local:
        child = local.child("device_nodes", "/dev/nvidiactl-of-nobody", "/dev/null")
        stages = {
            "/dev/nvidiactl": child.until("/dev/nvidiactl-of-nobody"),
            "/dev/nvidia0": child.until("/dev/null"),
        }
    nodes = dict.fromkeys(stages, 0o666)
    found = read(FakeHost(nodes=nodes, children={"device_nodes": FakeChild(stages)}))
    assert (found.control.openable, found.control.error) == (False, "ENOENT")
    assert (found.gpus[0].openable, found.gpus[0].error) == (True, None)


def test_this_machine():
    with LocalHost(Request()) as host:
        found = read(host)
        assert found.control.present is (host.stat("/dev/nvidiactl") is not None)
        assert found.control.present or found.control.openable is None
        assert found.ending is None
