"""Probes: each file looks at one part of the machine, through ``host``, and returns one frozen fact. None of them judges."""
