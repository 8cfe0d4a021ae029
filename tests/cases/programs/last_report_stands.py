import importlib, sys, threading
place, name = sys.argv.pop(1).rsplit(".", 1)
module, once = importlib.import_module(place), []
real = getattr(module, name)
def standing(*args, **named):
    if not once or always:
        once.append(1)
        threading.Event().wait()
    return real(*args, **named)
always = sys.argv.pop(1) == "always"
setattr(module, name, standing)
from gpucheck.cli import main
main()
