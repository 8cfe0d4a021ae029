import importlib, sys, threading, time
from gpucheck.cli import delivery, time_limit

delivery.REDACTION_SECONDS = 2.0  # enough time even on a busy machine
time_limit.GRACE_SECONDS = time_limit.PREPARE_SECONDS = 4.0
time_limit.SWEEP_SECONDS, time_limit.WRITE_SECONDS = 3.0, 2.5
place, name = sys.argv.pop(1).rsplit(".", 1)
module, once = importlib.import_module(place), []
real = getattr(module, name)
def standing(*args, **named):
    if not once or always:
        once.append(1)
        time_limit.enforced().set_end(time.monotonic() + 2.0 - time_limit.GRACE_SECONDS)  # the limit expires now
        threading.Event().wait()
    return real(*args, **named)
always = sys.argv.pop(1) == "always"
setattr(module, name, standing)
from gpucheck.cli import main
main()
