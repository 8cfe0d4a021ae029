import re

import pytest

from gpucheck.compat.xid import XIDS, Xid, xid


@pytest.mark.parametrize(
    ("code", "diagnosis", "drain"),
    [(48, "ecc-errors", True), (74, "nvlink-down", True), (79, "gpu-lost", True), (94, "ecc-errors", False)],
)
def test_hardware_faults(code: int, diagnosis: str, drain: bool) -> None:
    known = xid(code)
    assert known is not None
    assert (known.severity, known.diagnosis, known.drain) == ("error", diagnosis, drain)


@pytest.mark.parametrize("code", [13, 31, 43, 45])
def test_the_programs_own_faults_accuse_no_gpu(code: int) -> None:
    known = XIDS[code]
    assert known.diagnosis is None
    assert not known.drain


def test_nvlink_5_units_are_one_family() -> None:
    assert {XIDS[code].diagnosis for code in range(144, 151)} == {"nvlink-down"}


def test_an_unknown_code_is_none() -> None:
    assert xid(9999) is None
    assert xid(106) is None  # a test message of the management bus


@pytest.mark.parametrize("known", XIDS.values(), ids=map(str, XIDS))
def test_an_entry_agrees_with_itself(known: Xid) -> None:
    assert XIDS[known.code] is known
    assert known.severity == "error" or not known.drain
    assert known.diagnosis is not None or not known.drain
    assert known.diagnosis is None or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", known.diagnosis)
    assert known.action
    assert not known.meaning.endswith(".")
