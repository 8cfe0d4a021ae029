"""Generate the reports of a fleet from one report: python tools/fleet_reports.py REPORT.json FOLDER [--nodes 10000]

Every node is the machine of the report with speeds that vary by 2 %. With --faults: 3 different versions, 5 slow nodes, 2 corrupt
files, 1 duplicate, 12 nodes with one driver fault. Prints them, to compare with the result of `gpucheck fleet merge`.
"""

import argparse
import copy
import json
import pathlib
import random


def main() -> None:
    """Parse the command line, write the reports, print the faults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--faults", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(write(json.loads(given.report.read_text()), given.folder, given.nodes, faults=given.faults), indent=1))


def write(report: dict, folder: pathlib.Path, nodes: int, *, faults: bool) -> dict[str, list[str]]:
    """Write the reports; return the nodes of each kind of fault."""
    width = len(str(nodes))
    names = [f"gpu{number:0{width}}" for number in range(1, nodes + 1)]
    chance = random.Random(nodes)  # noqa: S311 - the same fleet each time
    chosen = chance.sample(names, 3 + 5 + 2 + 1 + 12) if faults else []
    outliers, slow, corrupt, duplicate, broken = (
        {chosen.pop() for _ in range(count)} if faults else set() for count in (3, 5, 2, 1, 12)
    )
    for name in names:
        made = node(report, name, chance)
        if name in outliers:
            made["facts"]["packages"]["tensorflow"]["version"] = "2.19.1"
        if name in broken:
            made["verdict"], made["exit_code"], made["findings"], made["training"] = "fail", 1, [FAULT], []
        for run in made["training"] if name in slow else ():
            if run["samples_per_second"]:
                run["samples_per_second"] *= 0.55
        text = json.dumps(made, indent=2)
        (folder / f"{name}.json").write_text(text[: len(text) // 2] if name in corrupt else text)
        if name in duplicate:
            (folder / f"{name}-again.json").write_text(text)
    wrong = {"outlier": outliers, "slow": slow, "corrupt": corrupt, "duplicate": duplicate, "broken": broken}
    return {what: sorted(nodes) for what, nodes in wrong.items()}


def node(report: dict, name: str, chance: random.Random) -> dict:
    """Return the report of one node."""
    made = copy.copy(report)
    made["facts"] = copy.copy(report["facts"])
    made["facts"]["system"] = {**report["facts"]["system"], "node": name}
    made["facts"]["packages"] = copy.deepcopy(report["facts"]["packages"])
    made["training"] = [dict(run) for run in report["training"]]
    for run in made["training"]:
        for field in ("samples_per_second", "first_step_seconds"):
            if run.get(field):
                run[field] *= chance.gauss(1.0, 0.02)
    return made


FAULT = {
    "code": "driver-library-mismatch",
    "row": "gpu-not-detected",
    "severity": "error",
    "scope": "host",
    "summary": "The NVIDIA driver in the kernel is 570.86.15, and its libraries are 580.159.04.",
    "evidence": [],
    "first_check": "",
    "fix": [],
    "affects": [],
    "assignments": [],
    "explained_by": None,
    "muted": None,
    "mute_expired": None,
}

if __name__ == "__main__":
    main()
