"""Experiments with the real TensorFlow are slow, so only `make test-all` runs them; a fault of tests/lab covers them in `make test`."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "experiments" and item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.slow)
