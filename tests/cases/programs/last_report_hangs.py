import sys, threading, time
import gpucheck.cli
from gpucheck.cli import signals
from gpucheck.cli.group import start
from gpucheck.cli.time_limit import EndingSeconds, TimeLimit

(module, _, function), always = sys.argv.pop(1).rpartition("."), sys.argv.pop(1) == "always"
limit = TimeLimit(gpucheck.cli.STARTED, EndingSeconds(grace=4.0, sweep=3.0, write=2.5, redaction=2.0))  # enough if busy
hanging = []

def hang(frame, event, argument):
    """Hang at the start of the function, as at a debugger's breakpoint: nothing in the program is replaced."""
    if event == "call" and frame.f_code.co_name == function and frame.f_globals.get("__name__") == module:
        if always or not hanging:
            hanging.append(function)
            limit.set_end(time.monotonic() + 2.0 - limit.ending.grace)  # the limit expires now
            threading.Event().wait()

def run():
    signals.catch()
    limit.enforce()
    threading.setprofile(hang)
    sys.setprofile(hang)
    return start(limit)

gpucheck.cli.run_and_exit(run)
