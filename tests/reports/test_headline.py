import msgspec
import pytest
from reports.cases import CASES, cusolver

from gpucheck.model import Verdict
from gpucheck.reports._headline import EXIT_STYLES, exit_code, headline, roots, state


def judged(verdict, code):
    return msgspec.structs.replace(CASES["pass-h200"](), verdict=verdict, exit_code=code)


@pytest.mark.parametrize(
    ("verdict", "code", "codes"),
    [
        (Verdict.PASS, 0, {"default": 0, "nagios": 0, "npd": 0, "docker": 0}),
        (Verdict.WARN, 0, {"default": 0, "nagios": 1, "npd": 0, "docker": 0}),
        (Verdict.WARN, 1, {"default": 1, "nagios": 2, "npd": 1, "docker": 1}),  # --strict
        (Verdict.FAIL, 1, {"default": 1, "nagios": 2, "npd": 1, "docker": 1}),
        (Verdict.UNKNOWN, 3, {"default": 3, "nagios": 3, "npd": 2, "docker": 1}),
    ],
)
def test_exit_codes(verdict, code, codes):
    assert {style: exit_code(judged(verdict, code), style) for style in EXIT_STYLES} == codes


def test_docker_never_gets_its_reserved_code():
    assert set(EXIT_STYLES["docker"].values()) == {0, 1}


def test_state_follows_strict():
    assert state(judged(Verdict.WARN, 1)) == "fail"
    assert state(judged(Verdict.WARN, 0)) == "warn"


def test_errors_before_warnings():
    made = cusolver()
    turned = msgspec.structs.replace(made, findings=made.findings[::-1])
    assert [root.severity.value for root in roots(turned)] == ["error", "warning"]
    assert headline(turned) == made.findings[0].summary
