import os, signal, sys, weakref
number = int(sys.argv.pop(1))
import gpucheck.cli, gpucheck.cli.group
def begin(limit):
    class Thing:
        pass
    thing = Thing()
    kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), number))
    del thing
    import time
    time.sleep(20)
    return 0
gpucheck.cli.group.start = begin
gpucheck.cli.main()
