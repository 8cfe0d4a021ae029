"""Every experiment with the real TensorFlow takes long: they wait for `make test-all`; a fault of tests/lab stands for them."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "experiments" and item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.slow)
