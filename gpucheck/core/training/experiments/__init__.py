"""Experiments: each file measures one thing after the training jobs, in the child process, with ``--full``.

They show why training is slow, what an option costs, and whether a machine recovers: one function, ``run(setting)`` (see
``gpucheck/core/child/experiments.py``). Standard library, TensorFlow, Keras and the smoke job only.
"""
