"""Every experiment with the real TensorFlow takes long; in `make test` one stands for them."""

import pytest

CHOSEN = "test_batch_normalization.py"


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "experiments" and item.get_closest_marker("tensorflow"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))  # its tests share one run
            if item.path.name != CHOSEN:
                item.add_marker(pytest.mark.slow)
