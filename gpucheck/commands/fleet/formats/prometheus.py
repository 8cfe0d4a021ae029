"""The fleet's counts as metrics for a textfile collector or a push gateway: no node's name, so their number does not grow."""

from gpucheck.commands.fleet.model import Fleet
from gpucheck.core.reports.shared.limited_text import line

VERDICTS = ("pass", "warn", "fail", "unknown")


def render(fleet: Fleet) -> str:
    """The text exposition format."""
    missing = (fleet.missing.count if fleet.missing is not None else 0) + sum(part.count for part in fleet.unreached.values())
    lines = [
        *_gauge(
            "fleet_nodes",
            "Nodes by the verdict of their report.",
            {f'verdict="{each}"': fleet.counts.get(each, 0) for each in VERDICTS},
        ),
        *_gauge(
            "fleet_cause_nodes",
            "Nodes that have a root cause.",
            {_labels(code=one.code, severity=one.severity, scope=one.scope): one.count for one in fleet.causes},
        ),
        *_gauge("fleet_missing_nodes", "Nodes that were asked for and have no report.", {"": missing}),
        *_gauge("fleet_odd_nodes", "Nodes that have not all that is usual in their group.", {"": _odd(fleet)}),
        *_gauge("fleet_slow_nodes", "Nodes that are slower than their group.", {"": len(fleet.slow)}),
        *_gauge(
            "fleet_unusual_files",
            "Files that are no whole report, and reports of a node that has another.",
            {"": len(fleet.unusual)},
        ),
    ]
    if fleet.training is not None:
        passed = {"": int(fleet.training.status == "passed")}
        lines += _gauge("fleet_training_passed", "Whether all nodes trained together.", passed)
    return "".join(f"{each}\n" for each in lines)


def _odd(fleet: Fleet) -> int:
    return sum(group.count - group.alike for group in fleet.groups)


def _labels(**labels: str) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(text: str) -> str:
    return line(text).replace("\\", "\\\\").replace('"', '\\"')


def _gauge(name: str, meaning: str, samples: dict[str, int]) -> list[str]:
    header = [f"# HELP gpucheck_{name} {meaning}", f"# TYPE gpucheck_{name} gauge"]
    return [
        *header,
        *(f"gpucheck_{name}{{{labels}}} {value}" if labels else f"gpucheck_{name} {value}" for labels, value in samples.items()),
    ]
