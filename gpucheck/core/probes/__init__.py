"""Probes: each file reads one part of the machine through ``host`` and returns one frozen fact, without judging it."""
