import sys, threading
import gpucheck.cli
from bench.cases import raw
from gpucheck.commands.bench import figures, plan
from gpucheck.commands.bench.measure import Session
from gpucheck.core.child.messages.benchmark import BenchTask

def measuring(self):
    self.host.child(BenchTask(1))
    self.configurations, self.notes = plan.plan(self.ask, ["CPU:0"])
    first = self.configurations[0]
    self.results[first.id] = figures.measurement(first, raw())
    print("measured one", file=sys.stderr, flush=True)
    threading.Event().wait()

Session.run = measuring
gpucheck.cli.main()
