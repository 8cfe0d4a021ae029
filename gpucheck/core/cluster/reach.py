"""Tests of whether a cluster's tasks are reachable: one TCP connection to each, at the same time, closed immediately."""

import threading
from collections.abc import Callable, Mapping

from gpucheck.core.host import Host

# The first bytes of TensorFlow's tasks, which use gRPC: HTTP/2's client preface and an empty SETTINGS frame.
# The server also sends a SETTINGS frame first (RFC 9113, sections 3.4, 4.1 and 6.5).
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
HEADER_BYTES = 9
OTHER_PROGRAM = "another program responds on its address, not TensorFlow"
NO_ANSWER = "its address accepts connections but does not respond: it hangs, or another program listens there"


def reach(host: Host, addresses: Mapping[str, tuple[str, int]], limit: float) -> dict[str, str | None]:
    """Connect to each task; return None by task name if it succeeded, else the problem as ``Host.connect`` reports it.

    Args:
        host: the machine.
        addresses: host and port by task.
        limit: seconds for each.
    """
    return _ask_all(addresses, limit, lambda address, port: host.connect(address, port, limit))


def reach_grpc(host: Host, addresses: Mapping[str, tuple[str, int]], limit: float) -> dict[str, str | None]:
    """Like ``reach``, but None only if gRPC responds, as TensorFlow does; else ``OTHER_PROGRAM``, ``NO_ANSWER`` or a problem."""

    def ask(address: str, port: int) -> str | None:
        answer = host.exchange(address, port, PREFACE, HEADER_BYTES, limit)
        if answer == b"" and host.connect(address, port, limit) is not None:
            return NO_ANSWER  # it ended during the query; a task that only closes the connection still accepts new ones
        if isinstance(answer, str):
            return NO_ANSWER if answer == "silent" else answer
        return None if _settings(answer) else OTHER_PROGRAM

    return _ask_all(addresses, limit, ask)


def _settings(header: bytes) -> bool:
    """Whether this is the header of a SETTINGS frame: length (a multiple of 6 bytes), type 4, no flags, stream 0."""
    return len(header) == HEADER_BYTES and int.from_bytes(header[:3], "big") % 6 == 0 and header[3:] == bytes((4, 0, 0, 0, 0, 0))


def _ask_all(
    addresses: Mapping[str, tuple[str, int]], limit: float, ask: Callable[[str, int], str | None]
) -> dict[str, str | None]:
    answers: dict[str, str | None] = {}

    def note(task: str, address: str, port: int) -> None:
        answers[task] = ask(address, port)

    threads = [threading.Thread(target=note, args=(task, *parts), daemon=True) for task, parts in addresses.items()]
    for thread in threads:
        thread.start()
    seconds_left = limit
    for thread in threads:
        thread.join(seconds_left + 0.5)  # a name server that does not respond takes longer than any connection
        seconds_left = 0.0 if thread.is_alive() else seconds_left
    return {task: answers.get(task, "timed out") for task in addresses}
