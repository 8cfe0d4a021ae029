"""The alert rules, checked with promtool: they parse, and fire as expected on the metrics that gpucheck writes."""

import pathlib
import re

import pytest
import yaml
from recipe_helpers import ECC, RECIPES, accepts, report

from gpucheck.core.engine.recorded import replay

ALERTS = RECIPES / "prometheus/alerts.yaml"
ROOT = pathlib.Path(__file__).parents[2]


def rules():
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    return {one["alert"]: one for one in group["rules"] if "alert" in one}


def test_metrics_and_labels_are_written_by_gpucheck():
    from gpucheck.core.reports import prometheus

    written = prometheus.render(replay(report(ECC).encode()))
    for rule in rules().values():
        if rule["alert"] == "GPUDrainWithheld":  # written by slurm/gpucheck.sh
            continue
        for metric in re.findall(r"(?<!:)\bgpucheck_\w+", rule["expr"]):
            assert f"# TYPE {metric} gauge\n" in written
        for labels in re.findall(r"gpucheck_\w+\{(.*?)\}", rule["expr"]):
            for label in re.findall(r"(\w+)=", labels):
                assert re.search(rf"^gpucheck_\w+\{{.*{label}=", written, re.MULTILINE)
    assert re.search(r'^gpucheck_finding\{.*root="true".*scope="hardware".*severity="error"\} 1\.0$', written, re.MULTILINE)


def test_promtool_accepts_the_rules():
    accepts("promtool", "check", "rules", ALERTS)


def test_alerts_fire_as_expected(tmp_path):
    finding = 'gpucheck_finding{{instance="{}",code="{}",scope="{}",severity="{}",root="true",row="r",action="reset-gpu"}}'
    constant = "1x120"
    series = [
        (finding.format("a", "ecc-errors", "hardware", "error"), constant),
        (finding.format("b", "driver-unresponsive", "host", "error"), constant),
        (finding.format("c", "tensorflow-not-installed", "environment", "error"), constant),
        (finding.format("d", "gpu-throttled", "hardware", "warning"), constant),
        (finding.format("e", "ecc-errors", "hardware", "error"), "0x120"),  # muted
        (finding.format("n", "process-limit-too-low", "host", "error"), constant),
        (finding.format("n", "ecc-errors", "hardware", "error"), constant),
        *((f'gpucheck_verdict{{instance="{one}",verdict="fail"}}', constant) for one in "abc"),
        *((f'gpucheck_verdict{{instance="{one}",verdict="fail"}}', "0x120") for one in "defn"),
        ('gpucheck_verdict{instance="f",verdict="unknown"}', constant),
        ('gpucheck_verdict{instance="a",verdict="unknown"}', "0x120"),
        ('gpucheck_probe_success{instance="g",probe="gpus"}', "0x120"),
        ('gpucheck_probe_success{instance="g",probe="pci"}', constant),
        ('gpucheck_run_start_timestamp_seconds{instance="a"}', "0+60x120"),
        ('gpucheck_run_start_timestamp_seconds{instance="h"}', "0x120"),
        ('gpucheck_run_start_timestamp_seconds{instance="k"}', "3600+60x120"),
        ('node_exporter_build_info{job="node-exporter",instance="a",version="1"}', constant),
        ('node_exporter_build_info{job="node-exporter",instance="j",version="1"}', constant),
        ('gpucheck_gpus{instance="a"}', "8x120"),
        ('gpucheck_gpus{instance="i"}', "8x60 7x60"),
        ('gpucheck_drain{instance="l",decision="budget"}', constant),
        ('gpucheck_drain{instance="m",decision="drained"}', constant),
    ]
    expected = {
        "GPUHardwareFault": {"a"},
        "GPUHostFault": {"b"},
        "GPUWarning": {"d"},
        "GPUNotChecked": {"f", "g"},
        "GPUReportStale": {"h"},
        "GPUReportFromTheFuture": {"k"},
        "GPUReportMissing": {"j"},
        "GPUCountDropped": {"i"},
        "GPUDrainWithheld": {"l"},
    }
    assert set(expected) == set(rules())
    labels = {
        "a": {"code": "ecc-errors", "scope": "hardware", "root": "true", "row": "r", "action": "reset-gpu"},
        "b": {"code": "driver-unresponsive", "scope": "host", "root": "true", "row": "r", "action": "reset-gpu"},
        "d": {"code": "gpu-throttled", "scope": "hardware", "root": "true", "row": "r", "action": "reset-gpu"},
        "f": {"verdict": "unknown"},
        "l": {"decision": "budget"},
    }
    values = {"GPUReportStale": "2h 0m 0s", "GPUReportFromTheFuture": "1h 0m 0s", "GPUCountDropped": "7"}
    alerts = []
    for name, instances in expected.items():
        rule, found = rules()[name], []
        for instance in sorted(instances):
            own = {"instance": instance, **labels.get(instance, {})}
            annotations = {key: filled(text, own, values.get(name)) for key, text in rule["annotations"].items()}
            found.append({"exp_labels": {**own, **rule["labels"]}, "exp_annotations": annotations})
        alerts.append({"eval_time": "2h", "alertname": name, "exp_alerts": found})
    passes(tmp_path, series, alerts, "1m")


def passes(tmp_path, series, alerts, interval):
    """Check with promtool that exactly the expected alerts fire."""
    case = {"interval": interval, "input_series": [{"series": one, "values": numbers} for one, numbers in series]}
    cases = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [{**case, "alert_rule_test": alerts}]}
    file = pathlib.Path(tmp_path / "alerts.test.yaml")
    file.write_text(yaml.safe_dump(cases))
    accepts("promtool", "test", "rules", file)


@pytest.mark.parametrize(
    ("gpus", "expected", "hours"),
    [
        ("8x60 7x2000", None, [2, 30]),
        pytest.param(
            "8x60 7x600 _x120 7x2000", None, [2, 30], marks=pytest.mark.slow
        ),  # no report, or no Prometheus, for two hours
        pytest.param("7x2000", "8x2000", [2, 30], marks=pytest.mark.slow),
        pytest.param("8x60 7x2000", "7x2000", [], marks=pytest.mark.slow),  # removed on purpose, as the expected number shows
        pytest.param("8x60 7x60 8x2000", None, [2], marks=pytest.mark.slow),
    ],
)
def test_missing_gpu_alert_fires_until_the_gpu_is_back(tmp_path, gpus, expected, hours):
    series = [('gpucheck_gpus{instance="a"}', gpus)]
    series += [('gpucheck_gpus_expected{instance="a"}', expected)] if expected else []
    series += [('gpucheck_gpus_expected{instance="b"}', "4x2000")]
    rule, labels = rules()["GPUCountDropped"], {"instance": "a"}
    annotations = {key: filled(text, labels, 7) for key, text in rule["annotations"].items()}
    fires = [{"exp_labels": {**labels, **rule["labels"]}, "exp_annotations": annotations}]
    alerts = [
        {"eval_time": f"{hour}h", "alertname": "GPUCountDropped", "exp_alerts": fires if hour in hours else []}
        for hour in (0, 2, 30)
    ]
    passes(tmp_path, series, alerts, "1m")


def test_each_runbook_url_is_a_page_of_the_site():
    codes = [page.stem for page in (ROOT / "docs/diagnoses").glob("*.md") if page.stem != "README"]
    for rule in rules().values():
        address = rule["annotations"]["runbook_url"].removeprefix("https://runbooks.example.com/gpucheck/")
        for code in codes:
            page, _, heading = filled(address, {"code": code}, 0).partition("#")
            text = (ROOT / "docs" / page.replace(".html", ".md")).read_text(encoding="utf-8")
            assert f"\n## {heading.capitalize()}" in text


def filled(text, labels, value):
    """The template with the values that Prometheus inserts."""
    text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: labels[match[1]], text)
    return re.sub(r"\{\{ \$value.*? \}\}", str(value), text)
