"""What to do about Xid messages of the NVIDIA driver."""

from collections.abc import Iterable

from gpucheck.compat.xid import Xid
from gpucheck.model import Fix


def advice(xids: Iterable[Xid]) -> tuple[Fix, ...]:
    """What each code asks for, and whether the machine should be drained; one fix per code, the gravest first."""
    return tuple(
        Fix(
            text=f"Xid {xid.code} means: {xid.meaning}. Do now: {xid.action}. "
            + ("Drain this machine: no new jobs until that is done" if xid.drain else "The machine need not be drained for it")
        )
        for xid in sorted(set(xids), key=lambda xid: (not xid.drain, xid.code))
    )
