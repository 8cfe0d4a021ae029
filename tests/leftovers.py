"""Processes that a test left behind, found by a marker in their environment, which every child inherits."""

import time

import psutil

VARIABLE = "GPUCHECK_TEST"


def leftovers(marker: str) -> list[int]:
    """Process ids of those that carry the marker; zombies hold nothing but their number."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(VARIABLE) == marker and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def leftovers_after(marker: str, seconds: float) -> list[int]:
    """Those that are still there after so long: a killed process takes a moment to be gone."""
    deadline = time.monotonic() + seconds
    while (found := leftovers(marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
