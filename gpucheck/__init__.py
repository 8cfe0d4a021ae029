"""Whether this machine trains Keras on every device it has; if not, the one root cause and what to type.

The package is split by what each part may touch (see docs/architecture.md):

* ``probes`` look at the machine, through ``host``, and return facts.
* ``rules`` judge facts and touch nothing.
* ``reports`` print a report and touch nothing.
* ``strategies`` build a ``tf.distribute`` strategy, in a child process.

Importing this package imports nothing heavy.
"""

__version__ = "0.1.0"
