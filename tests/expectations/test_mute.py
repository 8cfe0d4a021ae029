"""Which findings are muted, and until when."""

import datetime

from gpucheck.core.engine.verdict import mute
from gpucheck.core.model import Diagnosis, Mute, Scope, Severity

DAY = datetime.date(2030, 1, 31)


def finding(code):
    return Diagnosis(
        code=code, row="r", severity=Severity.ERROR, scope=Scope.HOST, summary="s", evidence=(), first_check="f", fix=()
    )


def muted(*mutes, today=DAY):
    (got,) = mute([finding("a")], [Mute(code=code, reason=reason, until=until) for code, reason, until in mutes], today)
    return got.muted, got.mute_expired


def test_mute_applies_through_its_last_day():
    assert muted(("a", "why", DAY)) == ("why until 2030-01-31", None)
    assert muted(("a", "why", DAY), today=DAY + datetime.timedelta(1)) == (None, "why until 2030-01-31")


def test_other_codes_are_not_muted():
    assert muted(("b", "why", DAY)) == (None, None)


def test_latest_of_two_mutes_applies_in_any_order():
    early = ("a", "old", datetime.date(2029, 1, 1))
    assert muted(early, ("a", "new", DAY)) == muted(("a", "new", DAY), early) == ("new until 2030-01-31", None)


def test_order_of_findings_is_kept():
    got = mute([finding("b"), finding("a")], [Mute(code="a", reason="x", until=DAY)], DAY)
    assert [one.code for one in got] == ["b", "a"]
