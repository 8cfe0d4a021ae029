"""Connections of the host: accepted, refused, or unreachable."""

import socket
import sys

import pytest

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request


@pytest.fixture
def host():
    with LocalHost(Request()) as opened:
        yield opened


def test_connection_is_accepted(host):
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert host.connect("127.0.0.1", server.getsockname()[1], 2.0) is None


def test_connection_is_refused(host):
    assert host.connect("127.0.0.1", host.free_port(), 2.0) == "refused"


@pytest.mark.skipif(sys.platform != "linux", reason="queues are filled as on Linux")
def test_connection_times_out(host):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        port = server.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]  # fill the queue: the next one gets no answer
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        assert host.connect("127.0.0.1", port, 0.2) == "timed out"
        for one in waiting:
            one.close()


@pytest.mark.parametrize("address", ["no-such-host.invalid", "a" * 70])
def test_unknown_host_names(host, address):
    assert host.connect(address, 1, 2.0) == "no such name"
