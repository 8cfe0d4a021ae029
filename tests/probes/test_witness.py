import pytest
from fakes import FakeChild, FakeHost

from gpucheck.probes._witness import cuda_version, limit, listen


@pytest.mark.parametrize(("number", "text"), [(13000, "13.0"), (12080, "12.8"), (11020, "11.2"), (0, None), (None, None)])
def test_cuda_versions(number, text):
    assert cuda_version(number) == text


@pytest.mark.parametrize(("remaining", "seconds"), [(118.0, 20.0), (10.0, 8.0), (0.0, 0.0)])
def test_a_part_of_what_remains_is_kept(remaining, seconds):
    assert limit(FakeHost(remaining=remaining)) == seconds


def test_a_stage_nobody_has_words_for_is_named():
    account = listen(FakeChild({}, how="killed by SIGKILL", stage="odd"), {}, 1.0)
    assert account.problem == "the process that asked was killed by SIGKILL in the stage odd"


def test_an_ending_between_stages():
    account = listen(FakeChild({}, how="exited with status 1", log="a\n\nb " + "x" * 300), {}, 1.0)
    assert account.problem == "the process that asked exited with status 1 between stages; its last words: b " + "x" * 198
    assert account.died_in is None
