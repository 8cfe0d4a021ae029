"""The child that opens device nodes, run for real."""

import os
import stat

import pytest

from gpucheck.core.child import device_nodes
from gpucheck.core.child.messages.machine import DeviceNodesTask, NodeOpened
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request

fcntl = pytest.importorskip("fcntl", reason="device nodes exist only on Unix")
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="device nodes exist only on Unix")


@pytest.fixture
def host():
    with LocalHost(Request()) as local:
        yield local


def error_of(host, path):
    return host.child(DeviceNodesTask((path,))).wait_for(NodeOpened, path).error


def test_nodes_are_opened_in_order_with_one_stage_each(host):
    paths = ("/dev/null", "/dev/no-such-node", "/dev/zero")
    child = host.child(DeviceNodesTask(paths))
    assert child.end().ok
    assert [(path, answer.error) for path, answer in child.messages(NodeOpened).items()] == [
        ("/dev/null", None),
        ("/dev/no-such-node", "ENOENT"),
        ("/dev/zero", None),
    ]


def test_node_is_opened_for_reading_and_writing(host, tmp_path):
    assert error_of(host, str(tmp_path)) == "EISDIR"  # O_RDONLY would succeed


class Recorder:
    """Replace the child's report, and record which descriptors are open when a stage ends."""

    def __init__(self):
        self.ended = []

    def begin(self, kind, job):
        self.before = descriptors()

    def end(self, message, job):
        self.ended.append((job, message, descriptors() - self.before))


def descriptors():
    return {int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_node_is_opened_without_blocking_and_kept_open_until_reported(tmp_path):
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    recorder = Recorder()
    device_nodes.run(recorder, DeviceNodesTask((fifo,)))
    ((stage, value, (descriptor, *others)),) = recorder.ended
    try:
        assert (stage, value, others) == (fifo, NodeOpened(), [])
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        assert flags & os.O_NONBLOCK
        assert flags & os.O_ACCMODE == os.O_RDWR
    finally:
        os.close(descriptor)


def test_node_without_a_driver_cannot_be_opened(host, tmp_path):
    node = str(tmp_path / "nvidia0")
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(511, 7))  # an unused major number
    except OSError as error:
        pytest.skip(f"cannot create device nodes here: {error}")
    assert error_of(host, node) in ("ENXIO", "ENODEV", "EACCES", "EPERM")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may open everything")
def test_node_without_permission_cannot_be_opened(host, tmp_path):
    node = tmp_path / "nvidia0"
    node.write_text("")
    node.chmod(0)
    assert error_of(host, str(node)) == "EACCES"
