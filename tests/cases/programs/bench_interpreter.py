"""An interpreter for ``bench --python``: it answers like the benchmark's child, without TensorFlow, and removes the folder "gone".

argv: the number of measured configurations after which it hangs ("all": none), and the interpreter's arguments.
"""

import os
import shutil
import sys
import threading

measured, *arguments = sys.argv[1:]
if "training.bench" not in arguments:
    os.execv(sys.executable, [sys.executable, *arguments])

from bench.cases import raw

from gpucheck.core.child.messages import Done
from gpucheck.core.child.messages import benchmark as bench
from gpucheck.core.child.messages import frameworks
from gpucheck.core.child.runtime import Reporter

reporter = Reporter()
imported = frameworks.TensorFlowImport(imported=True, version="2.21.0", built_with_cuda=True)
reporter.end(frameworks.TensorFlowImported(imported))
reporter.end(frameworks.DevicesListed((frameworks.Device(name="CPU:0", kind="CPU"),)))
reporter.end(frameworks.KerasImported(frameworks.KerasImport(imported=True, version="3.12.0", backend="tensorflow")))
job = reporter.receive(bench.BenchJob, 60)
reporter.end(bench.DataLoaded(samples=100))
for configuration in job.configurations:
    reporter.begin(bench.Measured, configuration.id)
    if measured != "all" and len(configuration.devices) > int(measured):
        threading.Event().wait()
    reporter.end(raw(replicas=len(configuration.devices)), configuration.id)
shutil.rmtree("gone", ignore_errors=True)
reporter.end(Done())
