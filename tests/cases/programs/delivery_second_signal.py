import signal, sys
place, number, pair_seconds = sys.argv.pop(1), int(sys.argv.pop(1)), float(sys.argv.pop(1))
import gpucheck.cli
from gpucheck.cli import signals
from gpucheck.cli.group import start
from gpucheck.cli.time_limit import TimeLimit
from stop_at import stop_at

def run():
    signals.catch(pair_seconds)
    return start(TimeLimit(gpucheck.cli.STARTED))

stop_at(place, lambda: signal.raise_signal(number))
gpucheck.cli.run_and_exit(run)
