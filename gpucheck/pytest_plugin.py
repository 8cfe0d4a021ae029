"""pytest: the marker and the fixture ``requires_gpu`` skip a test with the root cause where this machine is not ready for it.

    @pytest.mark.requires_gpu                        # or requires_gpu(gpus=2, memory_gib=40)
    def test_training(): ...

    def test_report(requires_gpu):                   # the report of a machine with a GPU that works
        assert requires_gpu.facts["cuda"].devices

The machine is looked at once, by the quick checks, in child processes; with ``gpucheck_level = default`` in pytest's settings
it trains, too.
"""

from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from gpucheck.api import Depth, Result

MARKER = "requires_gpu"
_REPORTS = pytest.StashKey["dict[bool, Result]"]()  # by whether a CPU is enough


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting for how deep it looks."""
    parser.addini("gpucheck_level", "how deep requires_gpu looks: quick, default or full", default="quick")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker."""
    config.addinivalue_line(
        "markers", f"{MARKER}(gpus=1, memory_gib=0): skip, with the root cause, unless so many GPUs are ready"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test before its fixtures are made."""
    marker = item.get_closest_marker(MARKER)
    if marker is not None:
        _require(item.config, *marker.args, **marker.kwargs)


@pytest.fixture
def requires_gpu(request: pytest.FixtureRequest) -> "Result":
    """The report of a machine with a GPU that is ready; without one the test is skipped."""
    return _require(request.config)


def _require(config: pytest.Config, gpus: int = 1, memory_gib: float = 0.0) -> "Result":
    from gpucheck import api

    reports = config.stash.setdefault(_REPORTS, {})
    if (gpus == 0) not in reports:
        reports[gpus == 0] = api.check(level=cast("Depth", config.getini("gpucheck_level")), allow_cpu=gpus == 0)
    report = reports[gpus == 0]
    problem = api.unready(report, gpus, memory_gib)
    if problem is not None:
        pytest.skip(problem)
    return report
