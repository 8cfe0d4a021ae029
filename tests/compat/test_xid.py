import pytest

from gpucheck.compat.xid import XIDS, Xid, xid


@pytest.mark.parametrize(
    ("code", "fault", "drain"),
    [(48, "memory", True), (74, "nvlink", True), (79, "gpu", True), (94, "memory", False)],
)
def test_hardware_faults(code: int, fault: str, drain: bool) -> None:
    known = xid(code)
    assert known is not None
    assert (known.severity, known.fault, known.drain) == ("error", fault, drain)


@pytest.mark.parametrize("code", [13, 31, 43, 45])
def test_the_programs_own_faults_accuse_no_gpu(code: int) -> None:
    known = XIDS[code]
    assert known.fault is None
    assert not known.drain


def test_nvlink_5_units_are_one_family() -> None:
    assert {XIDS[code].fault for code in range(144, 151)} == {"nvlink"}


def test_an_unknown_code_is_none() -> None:
    assert xid(9999) is None
    assert xid(106) is None  # a test message of the management bus


@pytest.mark.parametrize("known", XIDS.values(), ids=map(str, XIDS))
def test_an_entry_agrees_with_itself(known: Xid) -> None:
    assert XIDS[known.code] is known
    assert known.severity == "error" or not known.drain
    assert known.fault is not None or not known.drain
    assert known.action
    assert not known.meaning.endswith(".")
