import signal, sys
moment, number, pair_seconds = sys.argv.pop(1), int(sys.argv.pop(1)), float(sys.argv.pop(1))
import gpucheck.cli
from gpucheck.cli import signals
from gpucheck.cli.group import start
from gpucheck.cli.time_limit import TimeLimit

# What the interpreter reports at this moment; a profile function would be removed by the first signal's exception.
EVENT, TEXT = {"sweeping": ("shutil.rmtree", "gpucheck-"), "rendering": ("open", "commands/bench/__pycache__/report.")}[moment]
sent = []

def hook(event, args):
    if event == EVENT and TEXT in str(args[0]) and not sent:
        sent.append(number)
        signal.raise_signal(number)

def run():
    signals.catch(pair_seconds)
    return start(TimeLimit(gpucheck.cli.STARTED))

sys.addaudithook(hook)
gpucheck.cli.run_and_exit(run)
