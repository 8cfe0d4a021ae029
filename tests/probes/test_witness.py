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
    loaded = {"load": {"status": "loaded"}}
    account = listen(FakeChild(loaded, how="exited with status 1", log="a\n\nb " + "x" * 300), {}, 1.0)
    assert account.problem == "the process that asked exited with status 1 between stages; its last words: b " + "x" * 198
    assert account.died_in is None


def test_a_witness_that_opened_no_library_says_nothing_about_the_driver():
    """Its report's file may not grow (ulimit -f 0), or no thread can be started."""
    with pytest.raises(RuntimeError, match="exited with status 120 before it opened any library"):
        listen(FakeChild({}, how="exited with status 120"), {}, 20.0)


@pytest.mark.parametrize(
    ("seconds", "stage", "starved", "problem"),
    [
        (3.9, "init", False, "no answer within 3.9 s in the stage init: too short a time to blame the driver"),
        (20.0, None, False, "no answer within 20 s between stages: too short a time to blame the driver"),  # it never came to ask
        (20.0, "init", True, "no answer within 20 s in the stage init: this machine gave it no time to run"),
    ],
)
def test_silence_that_is_no_fault_of_the_driver(seconds, stage, starved, problem):
    with pytest.raises(RuntimeError) as error:
        listen(FakeChild({}, how="timed out", stage=stage, starved=starved), {}, seconds)
    assert str(error.value) == problem


def test_silence_of_the_driver():
    account = listen(FakeChild({}, how="timed out", stage="init"), {"init": "in nvmlInit"}, 5.2)
    assert (account.status, account.problem) == ("hung", "no answer within 5.2 s in nvmlInit")
