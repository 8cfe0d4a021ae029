import json, os, signal, sys
if json.loads(os.environ.get("TF_CONFIG", "{}"))["task"]["type"] == "worker" and "training.worker" in sys.orig_argv:
    import threading, time
    def die():
        while "tensorflow.python.distribute.input_lib" not in sys.modules:
            time.sleep(0.05)
        from tensorflow.python.distribute import input_lib
        input_lib.DistributedIterator.__next__ = lambda self: os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=die, daemon=True).start()
