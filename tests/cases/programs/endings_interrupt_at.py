import builtins, os, signal, sys
moment, number = sys.argv.pop(1), int(sys.argv.pop(1))
real = builtins.__import__
def importing(name, *rest, **named):
    if name == moment and sys._getframe(1).f_globals.get("__name__", "").startswith("gpucheck"):
        builtins.__import__ = real
        os.kill(os.getpid(), number)
    return real(name, *rest, **named)
builtins.__import__ = importing
from gpucheck.cli import main
main()
