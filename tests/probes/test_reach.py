"""Whether TensorFlow listens at an address: real sockets that respond like its server, like others, or not at all."""

import contextlib
import socket
import threading
import time

import pytest

from gpucheck.core.cluster import reach
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request

# the start of a SETTINGS frame of 24 bytes, sent by the server of TensorFlow 2.21
SETTINGS = bytes.fromhex("000018040000000000000400400000")
HTTP = b"<!DOCTYPE HTML>\n<html lang"


@pytest.fixture
def host():
    with LocalHost(Request()) as opened:
        yield opened


@contextlib.contextmanager
def peer(serve):
    """A port of this machine; every connection to it is passed to ``serve``."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, contextlib.suppress(OSError):
                        serve(connection)

        if serve is not None:
            threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


def answers(*pieces):
    """A server that reads the request of TensorFlow's client, then sends these pieces."""

    def serve(connection):
        assert connection.recv(100).startswith(b"PRI * HTTP/2.0\r\n")
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.1)
        connection.recv(1)

    return serve


def closes(connection):
    connection.recv(100)


def holds(connection):
    connection.recv(100)
    connection.recv(100)


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (answers(SETTINGS), None),
        (answers(SETTINGS[:5], SETTINGS[5:]), None),
        (answers(HTTP), reach.OTHER_PROGRAM),
        (answers(b"SSH-2.0-"), reach.OTHER_PROGRAM),
        (answers(SETTINGS[:3] + b"\x07" + SETTINGS[4:]), reach.OTHER_PROGRAM),
        (closes, reach.OTHER_PROGRAM),
        (holds, reach.NO_ANSWER),
        (None, reach.NO_ANSWER),
    ],
    ids=[
        "tensorflow",
        "in pieces",
        "http",
        "ssh",
        "another frame",
        "closes",
        "a proxy that waits",
        "stopped: the kernel accepts",
    ],
)
def test_responses_of_tasks(host, serve, said):
    with peer(serve) as address:
        began = time.monotonic()
        assert reach.reach_grpc(host, {"worker 0": address}, 0.5) == {"worker 0": said}
        assert time.monotonic() - began < 1.5


def test_connection_without_a_process_is_refused(host):
    assert reach.reach_grpc(host, {"worker 0": ("127.0.0.1", host.free_port())}, 0.5) == {"worker 0": "refused"}


def test_task_that_ends_during_the_query_does_not_respond(host):
    """A process that was stopped, then killed: the kernel accepted one connection, and no others."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def end():
            connection, _ = server.accept()
            server.close()
            connection.close()

        threading.Thread(target=end, daemon=True).start()
        assert reach.reach_grpc(host, {"worker 0": server.getsockname()}, 0.5) == {"worker 0": reach.NO_ANSWER}


def test_byte_by_byte_response_does_not_extend_the_timeout(host):
    def drips(connection):
        for _ in range(100):
            connection.sendall(b"\0")
            time.sleep(0.2)

    with peer(drips) as address:
        began = time.monotonic()
        assert reach.reach_grpc(host, {"worker 0": address}, 0.5) == {"worker 0": reach.OTHER_PROGRAM}
        assert time.monotonic() - began < 1.5
