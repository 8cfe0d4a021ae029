"""Which tasks of a cluster answer from here: one TCP connection to each, at the same time, closed at once."""

import threading
from collections.abc import Callable, Mapping

from gpucheck.core.host import Host

# What TensorFlow's tasks say to each other first, for they speak gRPC: HTTP/2's client preface and an empty SETTINGS frame.
# The server's own preface is a SETTINGS frame, too (RFC 9113, sections 3.4, 4.1 and 6.5).
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
HEADER_BYTES = 9
OTHER_PROGRAM = "another program answers on its address, not TensorFlow"
NO_ANSWER = "its address takes connections and nothing answers: it hangs, or another program listens there"


def reach(host: Host, addresses: Mapping[str, tuple[str, int]], limit: float) -> dict[str, str | None]:
    """What a connection to each task came to, by the task's name: None: it stood; else in words, as ``Host.connect`` says it.

    Args:
        host: the machine.
        addresses: host and port by task.
        limit: seconds that each may take.
    """
    return _each(addresses, limit, lambda address, port: host.connect(address, port, limit))


def speak_grpc(host: Host, addresses: Mapping[str, tuple[str, int]], limit: float) -> dict[str, str | None]:
    """The same, and None only where gRPC answers, as TensorFlow does; ``OTHER_PROGRAM`` and ``NO_ANSWER`` are no TensorFlow."""

    def ask(address: str, port: int) -> str | None:
        answer = host.exchange(address, port, PREFACE, HEADER_BYTES, limit)
        if answer == b"" and host.connect(address, port, limit) is not None:
            return NO_ANSWER  # it was ended while it was asked, by its own limit maybe; who closes without a word is still there
        if isinstance(answer, str):
            return NO_ANSWER if answer == "silent" else answer
        return None if _settings(answer) else OTHER_PROGRAM

    return _each(addresses, limit, ask)


def _settings(header: bytes) -> bool:
    """Whether this is the header of a SETTINGS frame: its length in bytes, 6 for each; type 4; no flag; stream 0."""
    return len(header) == HEADER_BYTES and int.from_bytes(header[:3], "big") % 6 == 0 and header[3:] == bytes((4, 0, 0, 0, 0, 0))


def _each(addresses: Mapping[str, tuple[str, int]], limit: float, ask: Callable[[str, int], str | None]) -> dict[str, str | None]:
    answers: dict[str, str | None] = {}

    def note(task: str, address: str, port: int) -> None:
        answers[task] = ask(address, port)

    threads = [threading.Thread(target=note, args=(task, *parts), daemon=True) for task, parts in addresses.items()]
    for thread in threads:
        thread.start()
    seconds_left = limit
    for thread in threads:
        thread.join(seconds_left + 0.5)  # a name server that does not answer takes longer than any connection
        seconds_left = 0.0 if thread.is_alive() else seconds_left
    return {task: answers.get(task, "timed out") for task in addresses}
