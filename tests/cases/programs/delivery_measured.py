import shutil
import gpucheck.cli
import gpucheck.commands.bench.command as command
from bench.cases import result

def measured(*_):
    shutil.rmtree("gone", ignore_errors=True)
    return result(), 2

command._measure = measured
gpucheck.cli.main()
