"""Repairing the environment variables of a process: ``plan`` what is needed, ``prove`` it, print it, or make it last.

Only variables: what needs a driver, a package or a restart is left to the diagnoses.
"""
