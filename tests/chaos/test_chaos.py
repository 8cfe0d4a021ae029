"""Under faults of children and of the environment, a run is complete, on time and truthful, and cleans up (`make chaos`)."""

import pytest
from chaos import children, surroundings
from chaos.run import Unavailable
from hung_file_system import mounted

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def parts(tmp_path_factory):
    try:
        return children.built(tmp_path_factory.mktemp("chaos"))
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def hung(tmp_path_factory):
    with mounted(tmp_path_factory.mktemp("hung")) as (folder, reason):
        if folder is None:
            pytest.skip(reason)
        yield folder


@pytest.mark.parametrize("place", children.PLACES)
@pytest.mark.parametrize("fault", children.FAULTS)
def test_misbehaving_child(place, fault, parts, tried):
    tried(f"{place}", fault, lambda cell: children.prepare(cell, parts, place, fault))


@pytest.mark.parametrize("command", surroundings.COMMANDS)
@pytest.mark.parametrize("fault", surroundings.FAULTS)
def test_run_in_a_faulty_environment(fault, command, tried):
    tried(fault, command, lambda cell: surroundings.prepare(cell, fault, command, None))


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("fault", surroundings.HUNG)
def test_run_with_a_path_that_does_not_respond(fault, command, hung, tried):
    tried(f"hung: {fault}", command, lambda cell: surroundings.prepare(cell, fault, command, hung))
