import importlib, sys, threading, time
from gpucheck.cli import delivery, watchdog

delivery.REDACTION_SECONDS = 2.0  # so that a busy machine has time for it, too
watchdog.GRACE_SECONDS = watchdog.PREPARE_SECONDS = 4.0
watchdog.SWEEP_SECONDS, watchdog.WRITE_SECONDS = 3.0, 2.5
place, name = sys.argv.pop(1).rsplit(".", 1)
module, once = importlib.import_module(place), []
real = getattr(module, name)
def standing(*args, **named):
    if not once or always:
        once.append(1)
        watchdog.end_at(time.monotonic() + 2.0 - watchdog.GRACE_SECONDS)  # the limit comes now: nobody waits for it
        threading.Event().wait()
    return real(*args, **named)
always = sys.argv.pop(1) == "always"
setattr(module, name, standing)
from gpucheck.cli import main
main()
