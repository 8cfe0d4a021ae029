import pytest
from fakes import FakeChild, FakeHost

from gpucheck.probes import log


def test_reads_what_the_framework_child_wrote() -> None:
    text = (
        "I0000 00:00:1795189508.517842    6458 cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
        "E0000 00:00:1795189510.565559    6458 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: "
        "Failed call to cuInit: UNKNOWN ERROR (303)\n"
    )
    fact = log.read(FakeHost(children={"framework": FakeChild(log=text)}))
    assert [(event.kind, event.line) for event in fact.events] == [("cuda-drivers-not-found", 1), ("cuinit-failed", 2)]
    assert fact.events[1].fields["code"] == "303"
    assert fact.source == "gpucheck's own child"


def test_a_child_that_died_leaves_its_log() -> None:
    child = FakeChild(
        how="killed by SIGABRT", stage="import", log="F0000 00:00:1.2 3 a.cc:1] Unknown flag in XLA_FLAGS: --xla_no=1\n"
    )
    fact = log.read(FakeHost(children={"framework": child}))
    assert [event.kind for event in fact.events] == ["xla-flag-unknown"]


def test_a_child_that_never_started_is_no_clean_log() -> None:
    with pytest.raises(RuntimeError, match="not started"):
        log.read(FakeHost())
