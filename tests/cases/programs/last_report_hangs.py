import sys, threading, time
import gpucheck.cli
from gpucheck.cli import signals
from gpucheck.cli.group import start
from gpucheck.cli.time_limit import EndingSeconds, TimeLimit
from stop_at import stop_at

place, always = sys.argv.pop(1), sys.argv.pop(1) == "always"
limit = TimeLimit(gpucheck.cli.STARTED, EndingSeconds(grace=4.0, sweep=3.0, write=2.5, redaction=2.0))  # enough if busy
hanging = []

def hang():
    if always or not hanging:
        hanging.append(place)
        limit.set_end(time.monotonic() + 2.0 - limit.ending.grace)  # the limit expires now
        threading.Event().wait()

def run():
    signals.catch()
    limit.enforce()
    stop_at(place, hang)
    return start(limit)

gpucheck.cli.run_and_exit(run)
