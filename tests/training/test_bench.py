"""The error messages of the measuring child."""

from gpucheck.core.training import bench_model


def test_error_is_reported_without_its_stack():
    error = ValueError('Graph execution error:\n\nDetected at node x\n  File "a.py", line 1\nout of room\n[[node]]\nmore')
    assert bench_model.sentence(error) == "out of room [[node]]"
