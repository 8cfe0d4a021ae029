"""Which tasks of a cluster answer from here: one TCP connection to each, at the same time, closed at once."""

import threading
from collections.abc import Mapping

from gpucheck.host import Host


def reach(host: Host, addresses: Mapping[str, tuple[str, int]], limit: float) -> dict[str, str | None]:
    """What a connection to each task came to, by the task's name: None: it stood; else in words, as ``Host.connect`` says it.

    Args:
        host: the machine.
        addresses: host and port by task.
        limit: seconds that each may take.
    """
    answers: dict[str, str | None] = {}

    def ask(task: str, address: str, port: int) -> None:
        answers[task] = host.connect(address, port, limit)

    threads = [threading.Thread(target=ask, args=(task, *parts), daemon=True) for task, parts in addresses.items()]
    for thread in threads:
        thread.start()
    patience = limit
    for thread in threads:
        thread.join(patience + 0.5)  # a name server that does not answer takes longer than any connection
        patience = 0.0 if thread.is_alive() else patience
    return {task: answers.get(task, "timed out") for task in addresses}
