import os, signal, sys, time, weakref
number = int(sys.argv.pop(1))
import gpucheck.cli
class Thing:
    pass
class Finder:
    def find_spec(name, path=None, target=None):
        if name == "gpucheck.cli.group":
            thing = Thing()
            kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), number))
            del thing
            time.sleep(20)
sys.meta_path.insert(0, Finder)
gpucheck.cli.main()
