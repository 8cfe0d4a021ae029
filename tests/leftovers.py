"""Processes that a test left behind, found by a marker in their environment, which every child inherits."""

import time

import psutil

VARIABLE = "GPUCHECK_TEST"


def leftovers(marker: str) -> list[int]:
    """IDs of processes with the marker, without zombies, which hold no resources."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(VARIABLE) == marker and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def leftovers_after(marker: str, seconds: float) -> list[int]:
    """IDs of processes that remain after some seconds, because a killed process takes a moment to end."""
    deadline = time.monotonic() + seconds
    while (found := leftovers(marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
