"""The dashboard, checked with Grafana's own model and promtool; gpucheck writes its metrics and labels."""

import json
import re

import pytest
import yaml
from recipe_helpers import ECC, RECIPES, accepts, report

from gpucheck.core.engine.recorded import replay

TEXT = (RECIPES / "prometheus/grafana.json").read_text()
BOARD = json.loads(TEXT)
SCRAPED = {"instance"}  # labels that Prometheus adds


def expressions():
    return [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]


def written():
    """Metrics and their labels, from machines with and without faults, and from one that trained."""
    pytest.importorskip("prometheus_client")
    from prometheus_client.parser import text_string_to_metric_families
    from reports.cases import CASES

    from gpucheck.core.reports import prometheus

    xid = {"kernel_log.events": [{"code": 79, "device": "0000:07:00.0"}]}
    reports = [replay(report(changes).encode()) for changes in (ECC, xid)] + [CASES["pass-8-gpus"]()]
    labels = {}
    for each in reports:
        for family in text_string_to_metric_families(prometheus.render(each)):
            labels.setdefault(family.name, set()).update(*(sample.labels for sample in family.samples))
    return labels


def test_metrics_and_labels_are_written_by_gpucheck():
    labels = written()
    for expression in expressions():
        for metric, matchers in re.findall(r"(gpucheck_\w+)(?:\{([^}]*)\})?", expression):
            used = set(re.findall(r"(\w+)=", matchers))
            assert used - SCRAPED <= labels[metric], (metric, used)
    every = set().union(*labels.values(), SCRAPED)
    for expression in expressions():
        named = {name for group in re.findall(r"(?:on|by|group_left) \(([^)]*)\)", expression) for name in group.split(", ")}
        assert named <= every
    for panel in BOARD["panels"]:
        for target in panel["targets"]:
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert shown <= set().union(SCRAPED, *(labels[metric] for metric in re.findall(r"gpucheck_\w+", target["expr"])))


def test_promtool_reads_every_expression(tmp_path):
    rules = [{"record": f"panel:{n}", "expr": one.replace("$instance", ".*")} for n, one in enumerate(expressions())]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
    accepts("promtool", "check", "rules", path)


def test_model_of_grafana_has_every_field():
    """The model drops unknown fields, so no field may be missing after reading and writing."""
    models = pytest.importorskip("grafana_foundation_sdk.models.dashboard", reason="pip install grafana-foundation-sdk")
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    again = json.loads(JSONEncoder().encode(models.Dashboard.from_json(json.loads(TEXT))))
    assert missing(BOARD, again, "board") == []


def missing(given, again, at):
    """Paths that are in the first value but not in the second."""
    if isinstance(given, dict):
        return [
            path
            for key, value in given.items()
            for path in ([f"{at}.{key}"] if key not in again else missing(value, again[key], f"{at}.{key}"))
        ]
    if isinstance(given, list):
        return [path for n, value in enumerate(given) for path in missing(value, again[n], f"{at}[{n}]")]
    return [] if given == again else [at]


def test_panels_do_not_overlap():
    taken = set()
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells
