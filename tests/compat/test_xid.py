import pytest

from gpucheck.core.compat.xid import XIDS, Xid


@pytest.mark.parametrize("code", [13, 31, 43, 45])
def test_xids_of_program_errors_are_not_gpu_faults(code: int) -> None:
    known = XIDS[code]
    assert known.fault is None
    assert not known.drain


def test_xids_of_nvlink_5_units_are_nvlink_faults() -> None:
    assert {XIDS[code].fault for code in range(144, 151)} == {"nvlink"}


@pytest.mark.parametrize("known", XIDS.values(), ids=map(str, XIDS))
def test_fields_of_an_entry_are_consistent(known: Xid) -> None:
    assert XIDS[known.code] is known
    assert known.severity == "error" or not known.drain
    assert known.fault is not None or not known.drain
    assert known.action
    assert not known.meaning.endswith(".")
