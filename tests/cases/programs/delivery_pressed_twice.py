import signal, sys, time
moment, number, pair_seconds = sys.argv.pop(1), int(sys.argv.pop(1)), float(sys.argv.pop(1))
import gpucheck.cli
from bench.cases import raw
from gpucheck.commands.bench import figures, plan, report
from gpucheck.commands.bench.measure import Session
from gpucheck.core.child.messages.benchmark import BenchTask
from gpucheck.cli import signals
from gpucheck.core.host.children import Scratch
signals.PAIR_SECONDS = pair_seconds

def measuring(self):
    self.host.child(BenchTask(1))
    self.configurations, self.notes = plan.plan(self.ask, ["CPU:0"])
    first = self.configurations[0]
    self.results[first.id] = figures.measurement(first, raw())
    signal.raise_signal(signal.SIGINT)
    time.sleep(20)

def signalled(function):
    def first_signalled(*args, **named):
        signal.raise_signal(number)
        return function(*args, **named)
    return first_signalled

Session.run = measuring
owner, name = {"sweeping": (Scratch, "remove"), "rendering": (report, "render")}[moment]
setattr(owner, name, signalled(getattr(owner, name)))
gpucheck.cli.main()
