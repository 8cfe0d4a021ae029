"""The child that opens device nodes, run for real."""

import os
import stat

import pytest

from gpucheck.child import device_nodes
from gpucheck.host.local import LocalHost
from gpucheck.model import Request

fcntl = pytest.importorskip("fcntl", reason="device nodes are a Unix matter")
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="device nodes are a Unix matter")


@pytest.fixture
def host():
    with LocalHost(Request()) as local:
        yield local


def test_one_stage_per_node_in_order(host):
    paths = ("/dev/null", "/dev/no-such-node", "/dev/zero")
    child = host.child("device_nodes", *paths)
    ending = child.end()
    assert ending.ok
    stages = child.stages()
    assert [name for name in stages if name != "done"] == list(paths)
    assert [stages[path] for path in paths] == [{"error": None}, {"error": "ENOENT"}, {"error": None}]


def test_it_asks_for_reading_and_writing(host, tmp_path):
    assert host.child("device_nodes", str(tmp_path)).until(str(tmp_path)) == {"error": "EISDIR"}  # O_RDONLY would do


class Recorder:
    """Stands where the child's report would be, and sees which descriptors are open when a stage ends."""

    def __init__(self):
        self.ended = []

    def begin(self, stage):
        self.before = descriptors()

    def end(self, stage, value):
        self.ended.append((stage, value, descriptors() - self.before))


def descriptors():
    return {int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_it_neither_waits_to_open_nor_closes_before_it_reported(tmp_path):
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    recorder = Recorder()
    device_nodes.run(recorder, [fifo])
    ((stage, value, (descriptor, *others)),) = recorder.ended
    try:
        assert (stage, value, others) == (fifo, {"error": None}, [])
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        assert flags & os.O_NONBLOCK
        assert flags & os.O_ACCMODE == os.O_RDWR
    finally:
        os.close(descriptor)


def test_a_node_without_a_driver(host, tmp_path):
    node = str(tmp_path / "nvidia0")
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(511, 7))  # a major number that nobody has
    except OSError as error:
        pytest.skip(f"cannot make device nodes here: {error}")
    answer = host.child("device_nodes", node).until(node)
    assert answer in ({"error": "ENXIO"}, {"error": "ENODEV"}, {"error": "EACCES"}, {"error": "EPERM"})


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may open everything")
def test_a_node_of_somebody_else(host, tmp_path):
    node = tmp_path / "nvidia0"
    node.write_text("")
    node.chmod(0)
    assert host.child("device_nodes", str(node)).until(str(node)) == {"error": "EACCES"}
