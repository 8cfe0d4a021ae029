# After AfterImport of lab/breakages.py: the worker whose place is FAULTY is killed in a step, has another TensorFlow, or never starts.
import json, os, signal
place = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index")
if str(place) == os.environ["FAULTY"]:
    def other(module):
        module.__version__ = "2.20.9"
    def killed(module):
        module.DistributedIterator.__next__ = lambda self: os.kill(os.getpid(), signal.SIGKILL)
    if os.environ["FAULT"] == "never starts":
        sys.exit("this node's disk is full")
    if os.environ["FAULT"] == "other version":
        sys.meta_path.insert(0, AfterImport("tensorflow", other))
    else:
        sys.meta_path.insert(0, AfterImport("tensorflow.python.distribute.input_lib", killed))
