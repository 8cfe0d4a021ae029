import junitparser
import msgspec
import pytest
from reports.cases import CASES, cusolver, eight_one_lost
from reports.hostile import INJECTION, dirty, long, named

from gpucheck.model import Status
from gpucheck.reports import junit


def parse(text):
    return junitparser.JUnitXml.fromstring(text.encode("utf-8"))


def cases(made):
    """name -> (tag of its result or "passed", message)."""
    found = {}
    for suite in parse(junit.render(made)):
        for case in suite:
            results = [(result._tag, result.message) for result in case.result]
            assert len(results) <= 1
            assert (suite.name, case.name) not in found
            found[suite.name, case.name] = results[0] if results else ("passed", None)
    return found


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty, lambda: named(INJECTION)], ids=[*CASES, "long", "dirty", "named"])
def test_a_case_per_rule_and_run_and_the_counts_add_up(make):
    made = make()
    xml = parse(junit.render(made))
    suites = {suite.name: suite for suite in xml}
    assert list(suites) == ["gpucheck.rules", "gpucheck.training", "gpucheck.run"]
    assert len(list(suites["gpucheck.rules"])) == len(made.outcomes)
    assert len(list(suites["gpucheck.training"])) == len(made.training)
    written = [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in xml]
    xml.update_statistics()
    for suite in xml:
        suite.update_statistics()
    assert written == [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in xml]
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == tuple(map(sum, zip(*written, strict=True)))


def test_results():
    got = cases(eight_one_lost())
    assert got["gpucheck.rules", "gpu-lost"] == ("failure", "GPU 3 has fallen off the bus; the other 7 work.")
    assert got["gpucheck.rules", "cause-0"] == ("passed", None)
    assert got["gpucheck.training", "one_device on GPU:3 (float32)"][0] == "failure"
    assert got["gpucheck.training", "mirrored on GPU:0-3,5,7 (float32)"] == ("error", "at steps: no step within 30 s")
    assert got["gpucheck.training", "one_device on GPU:0 (float32)"] == ("passed", None)
    assert cases(cusolver())["gpucheck.training", "one_device on GPU:0 (float32)"] == ("skipped", "TensorFlow does not list it")


def test_what_could_not_be_looked_at_is_not_green():
    got = cases(CASES["unknown"]())
    assert got["gpucheck.rules", "unseen-0"][0] == "skipped"
    assert got["gpucheck.rules", "broken-0"][0] == "error"
    assert got["gpucheck.run", "everything was looked at"][0] == "error"
    assert cases(CASES["pass-h200"]())["gpucheck.run", "everything was looked at"] == ("passed", None)


def test_a_warning_passes_and_is_told():
    made = CASES["warnings"]()
    assert cases(made)["gpucheck.rules", "gpu-throttled"] == ("passed", None)
    out = [case.system_out for suite in parse(junit.render(made)) for case in suite if case.name == "gpu-throttled"]
    assert "GPU 0 runs below its clock: it is too hot." in out[0]
    strict = msgspec.structs.replace(made, exit_code=1)
    assert cases(strict)["gpucheck.rules", "gpu-throttled"][0] == "failure"


def test_equal_training_runs_keep_apart():
    made = CASES["pass-h200"]()
    made = msgspec.structs.replace(made, training=(made.training[0],) * 3)
    names = [name for suite, name in cases(made) if suite == "gpucheck.training"]
    assert names == ["one_device on GPU:0 (float32)", "one_device on GPU:0 (float32) #2", "one_device on GPU:0 (float32) #3"]


def test_a_finding_that_no_finding_tells_is_an_error():
    made = CASES["pass-h200"]()
    odd = msgspec.structs.replace(made.outcomes[0], status=Status.FOUND)
    assert cases(msgspec.structs.replace(made, outcomes=(odd,)))["gpucheck.rules", odd.code][0] == "error"
