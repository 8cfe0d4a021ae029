"""Fixtures for the whole suite."""

import os
import pathlib
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping

import pytest
from lab import fake_driver
from xdist.scheduler import LoadScopeScheduling

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request

pytest.register_assert_rewrite("case_files", "recipe_helpers", "one_rule")  # so that failed assertions show the difference

# Every process of the tests inherits signals ignored by nohup or a shell's "&", but some of them test signals.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the option that rewrites tests/golden."""
    parser.addoption("--update-goldens", action="store_true", help="rewrite what tests/golden and tests/cases/rules expect")


class ByFileWhereWorkIsShared(LoadScopeScheduling):  # type: ignore[misc]
    """Assign work to pytest-xdist workers: files whose tests share a training or a picture, otherwise single tests.

    tests/systems is one unit: two clusters at once on one machine need the same ports.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file.startswith("tests/systems/"):
            return "tests/systems"
        return (
            file
            if file.startswith(("tests/child/", "tests/training/", "tests/experiments/", "tests/reports/test_html"))
            else nodeid
        )


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Distribute tests so that a training shared by a file runs once."""
    return ByFileWhereWorkIsShared(config, log)


# Every Python that a test starts loads the sitecustomize of this folder, which records imports of the real TensorFlow.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(pathlib.Path(__file__).parent / "imports_noted"), *filter(None, [os.environ.get("PYTHONPATH")])]
)
# Several tests train at the same time, so more threads for each would only compete.
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
os.environ["TEST_IMPORTS_OF_TENSORFLOW"] = tempfile.mkstemp(prefix="imports-of-tensorflow-")[1]


def pytest_unconfigure() -> None:
    """Remove the record of imports."""
    pathlib.Path(os.environ["TEST_IMPORTS_OF_TENSORFLOW"]).unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _tensorflow_only_where_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that lets a child import the real TensorFlow without the mark `tensorflow`."""
    yield
    notes = pathlib.Path(os.environ["TEST_IMPORTS_OF_TENSORFLOW"])
    imported = notes.exists() and notes.stat().st_size > 0
    notes.write_text("")
    marked = request.node.get_closest_marker("tensorflow") is not None
    assert marked or not imported, "a child of this test imported TensorFlow: mark it `tensorflow`"


@pytest.fixture(scope="session")
def driver_folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The compiled fake driver: a folder with libnvidia-ml.so.1 and libcuda.so.1."""
    if fake_driver.COMPILER is None:
        pytest.skip("no C compiler: the fake driver can't be built")
    return fake_driver.build(tmp_path_factory.mktemp("lab") / "driver")


@pytest.fixture
def driver_host(driver_folder: pathlib.Path, tmp_path: pathlib.Path) -> Callable[..., LocalHost]:
    """This machine with the fake driver: ``driver_host({"gpus": 8}, timeout_seconds=3.0, CUDA_VISIBLE_DEVICES="0")``."""

    def open_door(lines: Mapping[str, object] | None = None, timeout_seconds: float = 60.0, **env: str) -> LocalHost:
        scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", lines or {})
        environment = {**fake_driver.environment(driver_folder, scenario), **env}
        return LocalHost(Request(timeout_seconds=timeout_seconds), env=environment)

    return open_door
