"""Experiments: each file tries one thing beside the training jobs, in the child process, under ``--full``.

They answer why training is slow, what a choice costs, and whether a machine recovers: one function, ``run(setting)`` (see
``gpucheck/core/child/experiments.py``). Standard library, TensorFlow, Keras and the smoke job only.
"""
