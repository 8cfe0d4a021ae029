"""Reports of nodes for the tests of a fleet."""

import json

from fleet_reports import FAULT
from reports.cases import CASES

from gpucheck.commands.fleet.merge import Merge
from gpucheck.commands.fleet.read import collect, files
from gpucheck.core.reports import json as json_report

NOW = 1_800_000_000.0
REPORT = json.loads(json_report.render(CASES["pass-8-gpus"]()))


def merged(folder, asked=None, max_age=None, strict=False):
    merging = Merge(max_age, strict=strict)
    for report in collect(files([folder]), NOW):
        merging.add(report)
    return merging.fleet(0.5, asked)


def place(folder, name, changes=None, **top):
    """Write the report of a node with changed facts ({"system.node": "n1"}) and fields."""
    report = json.loads(json.dumps({**REPORT, **top}))
    for path, value in {"system.node": name, **(changes or {})}.items():
        at = report["facts"]
        *parents, last = path.split(".")
        for parent in parents:
            at = at[parent]
        at[last] = value
    (folder / f"{name}.json").write_text(json.dumps(report))
    return report


def fleet_of_all(tmp_path):
    for number in range(6):
        place(tmp_path, f"n{number}")
    hostile = {**FAULT, "summary": "</script><script>alert(1)</script>\x07 | =1+1"}
    place(tmp_path, "n7", verdict="fail", exit_code=1, findings=[hostile])
    (tmp_path / "bad.json").write_text("{")
    return merged(tmp_path, asked=["n1", "n9"])
