import signal, threading
from gpucheck.core.engine.observation import Observation
from gpucheck.core.reports import json

wait = Observation.wait
def stopped(self, tick=None):
    signal.raise_signal(signal.SIGTERM)
    return wait(self, tick)

Observation.wait = stopped
json.render = lambda report: threading.Event().wait()
from gpucheck.cli import main
main()
