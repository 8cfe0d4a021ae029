"""A pytest plugin: the marker and the fixture ``requires_gpu`` skip a test, with the root cause, if this machine is not ready.

    @pytest.mark.requires_gpu                        # or requires_gpu(gpus=2, memory_gib=40)
    def test_training(): ...

    def test_report(requires_gpu):                   # the report of a machine with a working GPU
        assert requires_gpu.facts["cuda"].devices

The machine is checked once, by the quick checks, in child processes; with ``gpucheck_level = default`` in pytest's settings
the check also trains.
"""

import inspect
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from gpucheck.api import Depth, Result

MARKER = "requires_gpu"
LEVELS = ("quick", "default", "full")  # those of ``api.Depth``, which is slow to import
REPORTS = pytest.StashKey["dict[bool, Result]"]()  # key: whether a CPU is enough; a stored report replaces the check


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for the level of the check."""
    parser.addini("gpucheck_level", "level of the check for requires_gpu: quick, default or full", default="quick")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    if (level := config.getini("gpucheck_level")) not in LEVELS:
        raise pytest.UsageError(f"gpucheck_level must be one of {', '.join(LEVELS)}. Received: {level!r}")
    config.addinivalue_line(
        "markers", f"{MARKER}(gpus=1, memory_gib=0): skip, with the root cause, unless that many GPUs are ready"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reject invalid arguments of the marker before any test runs."""
    for item in items:
        marker = item.get_closest_marker(MARKER)
        if marker is not None:
            from gpucheck import api

            try:
                given = inspect.signature(_require).bind(item.config, *marker.args, **marker.kwargs)
                given.apply_defaults()
                api.check_requirements(given.arguments["gpus"], given.arguments["memory_gib"])
            except (TypeError, ValueError) as error:
                raise pytest.UsageError(f"{item.nodeid}: {MARKER}(gpus=1, memory_gib=0): {error}") from None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test before its fixtures are set up."""
    marker = item.get_closest_marker(MARKER)
    if marker is not None:
        _require(item.config, *marker.args, **marker.kwargs)


@pytest.fixture
def requires_gpu(request: pytest.FixtureRequest) -> "Result":
    """Return the report of a machine with a GPU that is ready; otherwise skip the test."""
    return _require(request.config)


def _require(config: pytest.Config, gpus: int = 1, memory_gib: float = 0.0) -> "Result":
    from gpucheck import api

    reports = config.stash.setdefault(REPORTS, {})
    if (gpus == 0) not in reports:
        reports[gpus == 0] = api.check(level=cast("Depth", config.getini("gpucheck_level")), allow_cpu=gpus == 0)
    report = reports[gpus == 0]
    problem = api.unready(report, gpus, memory_gib)
    if problem is not None:
        raise pytest.skip.Exception(problem, _use_item_location=True)  # the line of the test, not of this file
    return report
