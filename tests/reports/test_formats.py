"""Every machine-readable format: third-party parsers accept it, limits hold, text stays text."""

import json
import re
import xml.etree.ElementTree as ElementTree

import junitparser
import msgspec
import pytest
from case_files import table
from prometheus_client.parser import text_string_to_metric_families
from reports.builders import others, report
from reports.cases import CASES, SITUATIONS, cusolver, situation
from reports.hostile import INJECTION, UUID, dirty, long, many, named, secretive

from gpucheck.cli.exit_styles import EXIT_STYLES, exit_code
from gpucheck.core.expectations import NO_EXPECTATIONS
from gpucheck.core.model import Level, Request, Severity, Status, TrainingRun, Verdict
from gpucheck.core.reports import github, html, junit, markdown, nagios, npd, prometheus, terminal, termination
from gpucheck.core.reports import json as format_json
from gpucheck.core.reports.shared.findings import roots
from gpucheck.core.reports.shared.headline import headline

CONTROL_CHARACTERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
EVERY = {**CASES, "long": long, "dirty": dirty, "named": lambda: named(INJECTION), "bars": lambda: named("a|'b'=c")}
every_report = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


# GitHub: one escaped command per line, in the format of the runner's ActionCommand


def commands(made):
    """(command, title, message) of each line."""
    found = []
    for line in github.render(made).splitlines():
        match = re.fullmatch(r"::(error|warning|notice) title=([^:,]*)::(.*)", line)
        assert match, line
        texts = match[2], match[3]
        for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            texts = tuple(text.replace(escape, character) for text in texts)
        found.append((match[1], *texts))
    return found


@every_report
def test_github_lines_are_valid_commands(make):
    kinds = [command for command, _, _ in commands(make())]
    assert kinds
    assert max(map(kinds.count, kinds)) <= 10
    assert not CONTROL_CHARACTERS.search(github.render(make()))


def test_github_escapes_injections_and_counts_omitted_findings():
    ((kind, title, message),) = commands(named(INJECTION))
    assert (kind, title) == ("error", "gpu-lost")
    assert message.startswith(INJECTION + " has fallen off the bus.")
    assert github.command("error", "x", title="a::b,c\nd%") == "::error title=a%3A%3Ab%2Cc%0Ad%25::x\n"
    lines = commands(many(25, "x"))
    assert (len(lines), lines[-1][1]) == (10, "16 more")
    assert "cause-of-trouble-24" in lines[-1][2]


def test_github_summary_respects_its_size_limit():
    made = many(3, "long text " * 50, Severity.WARNING)
    assert "# gpucheck: warn" in github.summary(made)
    assert "## Facts" not in github.summary(made)
    assert len(github.summary(made, 1000).encode()) <= 1000
    assert github.summary(made, 1000).startswith("# gpucheck: warn")
    assert github.summary(made, 3) == ""


# JUnit


def junit_cases(made):
    """(suite, name) -> the tag of its result, or "passed"."""
    suites = junitparser.JUnitXml.fromstring(junit.render(made).encode())
    results = [((suite.name, case.name), [result._tag for result in case.result]) for suite in suites for case in suite]
    assert len(dict(results)) == len(results)
    return {place: "".join(tags) or "passed" for place, tags in results}


@every_report
def test_junit_has_a_case_per_rule_and_run_with_matching_counts(make):
    made = make()
    xml = junitparser.JUnitXml.fromstring(junit.render(made).encode())
    assert [len(list(suite)) for suite in xml] == [len(made.outcomes), len(made.training), 1]
    written = [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in xml]
    assert (xml.tests, xml.failures, xml.errors, xml.skipped) == tuple(map(sum, zip(*written, strict=True)))
    for suite in xml:
        suite.update_statistics()
    assert written == [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in xml]


def test_junit_numbers_equal_runs_and_reports_an_empty_finding_as_error():
    made = CASES["pass-h200"]()
    unusual = msgspec.structs.replace(made.outcomes[0], status=Status.FOUND)
    cases = junit_cases(msgspec.structs.replace(made, training=(made.training[0],) * 3, outcomes=(unusual,)))
    names = [name for suite, name in cases if suite == "gpucheck.training"]
    assert names == ["one_device on GPU:0 (float32)", "one_device on GPU:0 (float32) #2", "one_device on GPU:0 (float32) #3"]
    assert cases["gpucheck.rules", unusual.code] == "error"


# Prometheus


def samples(made):
    """(name without prefix, labels) -> value, as the client's own parser reads it."""
    values = {}
    for family in text_string_to_metric_families(prometheus.render(made)):
        for sample in family.samples:
            key = sample.name.removeprefix("gpucheck_"), frozenset(sample.labels.items())
            assert key not in values
            assert sample.timestamp is None
            assert sample.name.startswith("gpucheck_")
            values[key] = sample.value
    return values


@every_report
def test_prometheus_text_is_valid(make):
    made = make()
    values = samples(made)
    verdicts = {dict(labels)["verdict"]: value for (name, labels), value in values.items() if name == "verdict"}
    assert verdicts == {each.value: float(each is made.verdict) for each in Verdict}
    assert values["exit_code", frozenset()] == made.exit_code
    text = prometheus.render(made)
    kinds = re.findall(r"^# TYPE (\S+) (\S+)$", text, flags=re.MULTILINE)
    assert {kind for _, kind in kinds} == {"gauge"}  # counters or info metrics would have a suffix in their name
    assert len({name for name, _ in kinds}) == len(kinds)
    assert not CONTROL_CHARACTERS.search(text)
    help_texts = [
        re.findall(r"^# (?:HELP|TYPE) .*$", each, flags=re.MULTILINE) for each in (text, prometheus.render(CASES["quick"]()))
    ]
    assert help_texts[0] == help_texts[1]


@pytest.mark.parametrize(("level", "count"), [(-1, 0), (0, 1)])
def test_prometheus_does_not_report_process_limits_as_node_faults(level, count):
    made = situation(request={"level": level}, findings=[{"code": "process-limit-too-low", "scope": "host"}])
    (line,) = re.findall(r"^gpucheck_finding{.*$", prometheus.render(made), flags=re.MULTILINE)
    assert line.endswith(f" {count}.0")


def test_prometheus_labels_do_not_grow_without_bound():
    text = prometheus.render(secretive())
    assert all(line.startswith("gpucheck_gpu_info{") for line in text.splitlines() if UUID in line)  # one series for each GPU
    assert "fallen off" not in text
    unusual = samples(msgspec.structs.replace(CASES["quick"](), started_at="yesterday"))
    assert not any(name == "run_start_timestamp_seconds" for name, _ in unusual)


@table
def test_probe_whose_child_did_not_respond_has_no_success(name, silent):
    values = {
        dict(labels)["probe"]: value
        for (metric, labels), value in samples(situation(**SITUATIONS[name])).items()
        if metric == "probe_success"
    }
    assert {probe for probe, value in values.items() if not value} == silent


# Nagios, node-problem-detector, Kubernetes' termination message

# 'label'=value[UOM];[warn];[crit];[min];[max], as in the plugin development guidelines
DATUM = re.compile(r"'[^'=|]+'=-?\d+(?:\.\d+)?(?:e[+-]\d+)?(?:s|us|ms|%|B|KB|MB|TB|c)?(?:;[\d.:@~]*){0,4}")


@every_report
def test_nagios_output_has_a_valid_format_and_size(make):
    text = nagios.render(make())
    assert len(text.encode()) <= 4096
    first, *rest = text.rstrip("\n").split("\n")
    message, bar, performance = first.partition("|")
    state = re.match(r"GPUCHECK (\w+) - ", message)[1]
    assert ["OK", "WARNING", "CRITICAL", "UNKNOWN"].index(state) == exit_code(make(), "nagios")
    assert bar
    assert not re.sub(DATUM, "", performance).strip()
    assert not any("|" in line for line in (performance, *rest))  # it would begin further performance data
    assert all(line.isprintable() for line in [message, *rest])


@every_report
def test_node_and_termination_messages_respect_their_limits(make):
    line = npd.render(make())
    assert len(line.encode()) <= 80
    assert line.removesuffix("\n").isprintable()
    assert line.split()[0].rstrip(":") in ("PASS", "WARN", "FAIL", "UNKNOWN")
    text = termination.render(make())
    assert 0 < len(text.encode()) <= 4096
    assert all(entry.isprintable() for entry in text.split("\n"))
    assert make is not long or text.splitlines()[-1].endswith(" more lines")


# JSON


@every_report
def test_json_contains_the_report(make):
    made = make()
    text = format_json.render(made)
    assert text.startswith('{\n  "schema_version": "')
    assert text.endswith("\n}\n")
    assert "\x1b" not in text
    assert [finding["code"] for finding in json.loads(text)["findings"]] == [finding.code for finding in made.findings]


def test_json_replaces_values_without_a_json_form():
    run = TrainingRun(strategy="x", devices=(), replicas=1, precision="float32", status="failed", step_seconds=float("inf"))
    facts = {"environment": {"paths": ["/tmp/\udcff"], "huge": 1 << 70, "vast": 1 << 5000, "\udcfe": True}}
    for made in (msgspec.structs.replace(report("h200"), training=(run,)), msgspec.structs.replace(report("h200"), facts=facts)):
        written = json.loads(format_json.render(made), parse_constant=lambda name: 1 / 0)
    assert written["facts"]["environment"] == {"paths": ["/tmp/\\udcff"], "huge": float(1 << 70), "vast": None, "\\udcfe": True}


# All of them


@table
def test_exit_codes(verdict, code, codes):
    made = msgspec.structs.replace(CASES["pass-h200"](), verdict=Verdict[verdict], exit_code=code)
    assert {style: exit_code(made, style) for style in EXIT_STYLES} == codes
    assert set(EXIT_STYLES["docker"].values()) == {0, 1}  # 2 is reserved


def test_errors_come_before_warnings():
    made = cusolver()
    turned = msgspec.structs.replace(made, findings=made.findings[::-1])
    assert [root.severity.value for root in roots(turned)] == ["error", "warning"]
    assert headline(turned) == made.findings[0].summary


@pytest.mark.parametrize("level", [Level.QUICK, Level.FULL])
def test_every_format_counts_unchecked_rules_equally(level):
    """Without expectations, their rules are not included."""
    made = report(
        "h200",
        judgements=[
            *others(Status.SKIPPED, 4, NO_EXPECTATIONS, name="expected"),
            *others(Status.SKIPPED, 3, "why", name="unseen"),
            *others(Status.CRASHED, 2, "oh", name="broken"),
        ],
        request=Request(level=level),
    )
    look = {"width": 300, "color": False, "ascii": False}
    short, verbose = (terminal.render(made, verbose=verbose, **look) for verbose in (False, True))
    assert short.splitlines()[-1].startswith("74 causes ruled out, 3 not checked, 2 checks crashed (use -v for details) · ")
    assert verbose.splitlines()[-1].startswith("74 causes ruled out, 3 not checked, 2 checks crashed · ")
    assert "<summary>74 causes ruled out, 3 not checked, 2 checks crashed</summary>" in markdown.render(made)
    assert "<summary>3 not checked, 2 checks crashed</summary>" in html.render(made)
    assert "'not_checked'=3;;;0;79 'crashed'=2;;;0;79" in nagios.render(made)
    counts = {dict(labels)["status"]: value for (name, labels), value in samples(made).items() if name == "rules"}
    assert counts == {"found": 0, "clear": 74, "skipped": 3, "crashed": 2}
    suite = ElementTree.fromstring(junit.render(made))[0]
    assert (suite.get("tests"), suite.get("skipped"), suite.get("errors")) == ("79", "3", "2")
    for text in (verbose, markdown.render(made), html.render(made), junit.render(made)):
        assert "unseen-2" in text
        assert "expected-0" not in text
