# Runs after AfterImport of lab/breakages.py: the worker at index FAULTY is killed or stopped in a step, has another TensorFlow, or exits.
import json, os, signal
place = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index")
if str(place) == os.environ["FAULTY"]:
    def other(module):
        module.__version__ = "2.20.9"
    def gone(module):
        usual = module.DistributedIterator.__next__
        def following(self):
            if self._strategy.num_replicas_in_sync > 1:  # not while it trains on its own, before it joins the others
                os.kill(os.getpid(), getattr(signal, os.environ["FAULT"]))
            return usual(self)
        module.DistributedIterator.__next__ = following
    if os.environ["FAULT"] == "never starts":
        sys.exit("this node's disk is full")
    if os.environ["FAULT"] == "other version":
        sys.meta_path.insert(0, AfterImport("tensorflow", other))
    else:
        sys.meta_path.insert(0, AfterImport("tensorflow.python.distribute.input_lib", gone))
