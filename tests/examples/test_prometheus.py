"""The alert rules, by promtool: they parse, and fire when they shall, on the metrics that gpucheck writes."""

import pathlib
import re

import yaml
from recipes import ECC, EXAMPLES, accepts, report

from gpucheck.core.engine.replay import replay

ALERTS = EXAMPLES / "prometheus/alerts.yaml"


def rules():
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    return {one["alert"]: one for one in group["rules"]}


def test_the_metrics_and_labels_are_what_gpucheck_writes():
    from gpucheck.core.reports import prometheus

    written = prometheus.render(replay(report(ECC).encode()))
    for rule in rules().values():
        for metric in re.findall(r"gpucheck_\w+", rule["expr"]):
            assert f"# TYPE {metric} gauge\n" in written
        for labels in re.findall(r"gpucheck_\w+\{(.*?)\}", rule["expr"]):
            for label in re.findall(r"(\w+)=", labels):
                assert re.search(rf"^gpucheck_\w+\{{.*{label}=", written, re.MULTILINE)
    assert re.search(r'^gpucheck_finding\{.*root="true".*scope="hardware".*severity="error"\} 1\.0$', written, re.MULTILINE)


def test_promtool_accepts_them():
    accepts("promtool", "check", "rules", ALERTS)


def test_they_fire_when_they_shall(tmp_path):
    finding = 'gpucheck_finding{{instance="{}",code="{}",scope="{}",severity="{}",root="true",row="r"}}'
    constant = "1x120"
    series = [
        (finding.format("a", "ecc-errors", "hardware", "error"), constant),
        (finding.format("b", "driver-unresponsive", "host", "error"), constant),
        (finding.format("c", "tensorflow-not-installed", "environment", "error"), constant),
        (finding.format("d", "gpu-throttled", "hardware", "warning"), constant),
        (finding.format("e", "ecc-errors", "hardware", "error"), "0x120"),  # muted
        ('gpucheck_verdict{instance="f",verdict="unknown"}', constant),
        ('gpucheck_verdict{instance="a",verdict="unknown"}', "0x120"),
        ('gpucheck_probe_success{instance="g",probe="gpus"}', "0x120"),
        ('gpucheck_probe_success{instance="g",probe="pci"}', constant),
        ('gpucheck_run_start_timestamp_seconds{instance="a"}', "0+60x120"),
        ('gpucheck_run_start_timestamp_seconds{instance="h"}', "0x120"),
        ('up{job="node",instance="a"}', constant),
        ('up{job="node",instance="j"}', constant),
        ('gpucheck_gpus{instance="a"}', "8x120"),
        ('gpucheck_gpus{instance="i"}', "8x60 7x60"),
    ]
    expected = {
        "GPUHardwareFault": {"a"},
        "GPUHostFault": {"b"},
        "GPUNotLookedAt": {"f", "g"},
        "GPUReportStale": {"h"},
        "GPUReportMissing": {"j"},
        "GPUCountDropped": {"i"},
    }
    assert set(expected) == set(rules())
    labels = {
        "a": {"code": "ecc-errors", "scope": "hardware", "root": "true", "row": "r"},
        "b": {"code": "driver-unresponsive", "scope": "host", "root": "true", "row": "r"},
        "f": {"verdict": "unknown"},
        "j": {"job": "node"},
    }
    values = {"GPUReportStale": "2h 0m 0s", "GPUCountDropped": "7"}
    alerts = []
    for name, instances in expected.items():
        rule, found = rules()[name], []
        for instance in sorted(instances):
            own = {"instance": instance, **labels.get(instance, {})}
            annotations = {key: filled(text, own, values.get(name)) for key, text in rule["annotations"].items()}
            found.append({"exp_labels": {**own, **rule["labels"]}, "exp_annotations": annotations})
        alerts.append({"eval_time": "2h", "alertname": name, "exp_alerts": found})
    cases = {
        "rule_files": [str(ALERTS)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": one, "values": numbers} for one, numbers in series],
                "alert_rule_test": alerts,
            }
        ],
    }
    file = pathlib.Path(tmp_path / "alerts.test.yaml")
    file.write_text(yaml.safe_dump(cases))
    accepts("promtool", "test", "rules", file)


def filled(text, labels, value):
    """The template as Prometheus fills it in."""
    text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: labels[match[1]], text)
    return re.sub(r"\{\{ \$value.*? \}\}", str(value), text)
