import re
import xml.etree.ElementTree as ElementTree

import msgspec
import pytest
from fakes import machine, readings
from reports.builders import others, report
from reports.cases import CASES, cusolver

from gpucheck.engine.pipeline import assemble
from gpucheck.engine.plugin import load_rows
from gpucheck.expectations import NONE_GIVEN
from gpucheck.model import Level, Request, Status, Verdict
from gpucheck.model.exit_styles import EXIT_STYLES, exit_code, state
from gpucheck.reports import html, junit, markdown, nagios, prometheus, terminal
from gpucheck.reports.shared.findings import roots
from gpucheck.reports.shared.headline import headline, proved


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


def trained(plain, **request):
    """The sentence of a run without findings."""
    given = msgspec.convert({**plain["request"], **request}, Request)
    made = assemble(given, [one for one in readings(plain) if one.probe != "request"], [], load_rows(), 0.0)
    return proved(msgspec.structs.replace(made, facts={**made.facts, "request": given}))


def test_a_backend_other_than_tensorflow_is_named():
    assert trained(machine("laptop-jax")) == (
        "Ready for the CPU only (--allow-cpu): no accelerator was found; one_device, data_parallel trained on the CPU by Keras on JAX."
    )
    gpu = machine("hgx-h200")
    for run in gpu["training"]["runs"]:
        run.update(backend="torch")
    assert trained(gpu) == "Ready: Keras on PyTorch trained on all of 8 × NVIDIA H200 (one_device, mirrored), replicas agree."
    gpu["training"]["runs"] = gpu["training"]["runs"][:1]
    assert trained(gpu) == "Ready on 1 of 8 × NVIDIA H200: GPU:0 trained by Keras on PyTorch (one_device)."
    gpu["training"]["runs"] = []
    assert trained(gpu, level=0, backend="jax").endswith("JAX and training were not looked at (--quick).")


def test_errors_before_warnings():
    made = cusolver()
    turned = msgspec.structs.replace(made, findings=made.findings[::-1])
    assert [root.severity.value for root in roots(turned)] == ["error", "warning"]
    assert headline(turned) == made.findings[0].summary


@pytest.mark.parametrize("level", [Level.QUICK, Level.FULL])
def test_every_format_counts_what_was_not_checked_alike(level):
    """What nobody asked for, because no expectations were given, is not among it."""
    made = report(
        "h200",
        judgements=[
            *others(Status.SKIPPED, 4, NONE_GIVEN, name="expected"),
            *others(Status.SKIPPED, 3, "why", name="unseen"),
            *others(Status.CRASHED, 2, "oh", name="broken"),
        ],
        request=Request(level=level),
    )
    short, long = (
        terminal.render(made, width=300, color=False, ascii=False, verbose=verbose).splitlines()[-1] for verbose in (False, True)
    )
    assert short.startswith("74 causes ruled out, 3 not checked, 2 checks crashed (-v says why) · ")
    assert long.startswith("74 causes ruled out, 3 not checked, 2 checks crashed · ")
    assert "<summary>74 causes ruled out, 3 not checked, 2 checks crashed</summary>" in markdown.render(made)
    assert "<summary>3 not checked, 2 checks crashed</summary>" in html.render(made)
    assert "'not_checked'=3;;;0;79 'crashed'=2;;;0;79" in nagios.render(made)
    counts = dict(re.findall(r'^gpucheck_rules\{status="(\w+)"\} (\S+)$', prometheus.render(made), re.MULTILINE))
    assert counts == {"found": "0.0", "clear": "74.0", "skipped": "3.0", "crashed": "2.0"}
    suite = ElementTree.fromstring(junit.render(made))[0]
    assert (suite.get("tests"), suite.get("skipped"), suite.get("errors")) == ("79", "3", "2")
    verbose = terminal.render(made, width=300, color=False, ascii=False, verbose=True)
    for text in (verbose, markdown.render(made), html.render(made), junit.render(made)):
        assert "unseen-2" in text
        assert "expected-0" not in text
