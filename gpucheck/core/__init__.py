"""What every command builds on: look at the machine, derive, judge, train, report. Nothing in here imports a command."""

__version__ = "0.1.0"
DISTRIBUTION = "keras-gpucheck"  # another package of the package index is named gpucheck, and has a gpucheck/__init__.py too
