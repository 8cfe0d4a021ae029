"""The differences between two checks of a machine, grouped by effect; for a terminal, and as Markdown."""

from collections.abc import Callable, Iterator

import msgspec

from gpucheck.commands.expectations.tracked import Tracked, tracked
from gpucheck.core.expectations import SPEED_TOLERANCE, steady
from gpucheck.core.expectations.gpus import gpu_count, gpu_models
from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.expectations.training import training
from gpucheck.core.expectations.versions import environment, version
from gpucheck.core.model import Expectations, ProbeStatus, Report, Request
from gpucheck.core.reports.shared.evidence import LONG_TEXT
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import clean, plural

TRAINING = "training speed"
GROUPS = {
    "driver and CUDA": "The driver determines which CUDA programs run at all, and which bugs affect them.",
    "TensorFlow and Keras": "A different release runs different code: results, speed and saved models may differ.",
    "libraries": "TensorFlow loads these files by name: a different copy may lack functions that TensorFlow was built for.",
    "Python and packages": "Packages in the same process determine whether TensorFlow can be imported.",
    "hardware": "Different hardware has different limits: memory, kernels, and the links between GPUs.",
    "environment variables": "These silently change what CUDA, TensorFlow, Keras and NCCL do.",
    "limits": "Resource limits determine how fast a process gets data, and when it is killed.",
    TRAINING: "The same job has a different result or speed: the effect of all other differences.",
}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference. ``old`` and ``new`` are text; None: absent."""

    group: str
    what: str
    old: str | None
    new: str | None
    why: str  # why it matters
    note: str | None = None  # for a speed, the ratio: "2.5 times as fast"


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of two checks."""

    baseline: str  # the names of both
    current: str
    changes: tuple[Change, ...]
    not_compared: tuple[str, ...]  # values that only one of them has, with the reason if known


def between(old: Report, new: Report, baseline: str, current: str) -> Drift:
    """Compare two reports.

    Facts that the second report excludes (``--quick``) are not compared; facts that its probes failed to read are changes.
    """
    comparison = _Comparison(baseline, current)
    for probe, group in PROBES.items():
        if probe in old.facts and probe not in new.facts:
            comparison.missing(probe, group, new)
        elif probe in new.facts and probe not in old.facts:
            comparison.not_compared.append(f"{probe}: not in {baseline}")
    before, after = tracked(old), tracked(new)
    for group, what in dict.fromkeys([*before, *after]):
        was, now = before.get((group, what)), after.get((group, what))
        if all(probe in old.facts and probe in new.facts for value in (was, now) if value for probe in value.probes):
            comparison.compare(group, what, was, now)
    if _has_cpu_speed(old) and _has_cpu_speed(new):
        comparison.not_compared.append("training speed on the CPU: it depends on other processes")
    return comparison.drift()


def from_expectations(expectations: Expectations, report: Report, baseline: str, current: str) -> Drift:
    """Compare a run with an expectations file: each unmet expectation is a change."""
    request = msgspec.structs.replace(report.fact(Request) or Request(), expectations=expectations)
    machine = Machine(request, *report.facts.values())
    comparison = _Comparison(baseline, current)
    for look, group in _EXPECTED:
        for item in look(machine):
            if item.met is None:
                comparison.not_compared.append(f"{item.what} ({item.expected}): {item.observed}")
            elif not item.met:
                comparison.change(group(item), item.what, item.expected, item.observed)
    return comparison.drift()


class _Comparison:
    """A collector of differences."""

    def __init__(self, baseline: str, current: str) -> None:
        self.baseline, self.current = baseline, current
        self.changes: list[Change] = []
        self.not_compared: list[str] = []

    def change(self, group: str, what: str, old: str | None, new: str | None, note: str | None = None) -> None:
        self.changes.append(Change(group=group, what=what, old=old, new=new, why=GROUPS[group], note=note))

    def missing(self, probe: str, group: str, new: Report) -> None:
        """Add a fact that only the old report has."""
        run = next((run for run in new.probes if run.name == probe), None)
        reason = (run.problem if run else None) or "not checked"
        if run and run.status in (ProbeStatus.FAILED, ProbeStatus.TIMED_OUT):
            self.change(group, f"result of the probe {probe}", "available", f"none: {reason}")
        else:
            self.not_compared.append(f"{probe}: {reason}")

    def compare(self, group: str, what: str, was: Tracked | None, now: Tracked | None) -> None:
        """Compare a value whose facts both reports have."""
        if was is None or now is None:
            value = was or now
            if group != TRAINING:
                self.change(group, what, was and was.words, now and now.words)
            elif value and value.number is None:  # the level and --strategy select the jobs
                self.not_compared.append(f"{what}: trained in {self.baseline if was else self.current} only")
        elif was.coarse == now.coarse and was.vague != now.vague:
            self.not_compared.append(f"{what}: its version is known in only one of the two")
        elif _differ(was, now):
            self.change(group, what, was.words, now.words, _direction(was, now))

    def drift(self) -> Drift:
        """Return the changes sorted by group, in the order of comparison within a group."""
        order = list(GROUPS)
        changes = sorted(dict.fromkeys(self.changes), key=lambda change: order.index(change.group))
        return Drift(baseline=self.baseline, current=self.current, changes=tuple(changes), not_compared=tuple(self.not_compared))


_PROBES_OF = {
    "driver and CUDA": ("driver", "kernel_module", "cuda"),
    "TensorFlow and Keras": ("tensorflow", "keras"),
    "libraries": ("libraries",),
    "Python and packages": ("packages", "interpreter", "system"),
    "hardware": ("pci", "gpus"),
    "environment variables": ("environment",),
    "limits": ("limits",),
    TRAINING: ("training",),
}
PROBES = {probe: group for group, probes in _PROBES_OF.items() for probe in probes}  # the group of a change whose fact is missing


def _version_group(item: Item) -> str:
    if item.what in ("TensorFlow", "Keras"):
        return "TensorFlow and Keras"
    return {"Python": "Python and packages", "cuDNN": "libraries"}.get(item.what, "driver and CUDA")


_EXPECTED: tuple[tuple[Callable[[Machine], Iterator[Item]], Callable[[Item], str]], ...] = (
    (gpu_count, lambda item: "hardware"),
    (gpu_models, lambda item: "hardware"),
    (version, _version_group),
    (training, lambda item: TRAINING),
    (environment, lambda item: "environment variables"),
)


def _differ(was: Tracked, now: Tracked) -> bool:
    if was.number is not None and now.number is not None:
        return abs(now.number - was.number) > SPEED_TOLERANCE * max(abs(was.number), abs(now.number))
    return was.words != now.words


def _direction(was: Tracked, now: Tracked) -> str | None:
    if now.number is None or not was.number:
        return None
    share = now.number / was.number
    if share < 1:
        return f"{100 * share:.0f} % of the speed"
    return f"{share:.1f} times as fast" if share < 10 else f"{share:,.0f} times as fast"


def _has_cpu_speed(report: Report) -> bool:
    """Whether the report has a CPU speed, which is not compared."""
    return any(run.samples_per_second is not None and not steady(run.devices) for run in report.training)


def render(drift: Drift, *, width: int, color: bool, ascii: bool, verbose: bool) -> str:
    """Render the changes by group; "" without changes. ``verbose``: also what was not compared."""
    out = TerminalText(width=width, color=color, ascii=ascii)
    for group, changes in groups(drift).items():
        out.add((group, "title"))
        out.add((changes[0].why, "quiet"), indent=2)
        for change in changes:
            out.add(f"{change.what}: {_old(change)} {'->' if ascii else '→'} {_new(change)}", indent=2, hang=4)
        out.blank()
    if verbose and drift.not_compared:
        out.add(("not compared", "title"))
        for words in drift.not_compared:
            out.add(words, indent=2, hang=4)
        out.blank()
    if drift.changes:
        out.add(f"{plural(len(drift.changes), 'difference')} between {drift.baseline} and {drift.current}.")
    return str(out) if drift.changes or (verbose and drift.not_compared) else ""


def render_markdown(drift: Drift) -> str:
    """Render a table per group; "" without changes."""
    lines = []
    for group, changes in groups(drift).items():
        lines += [f"### {group}", "", changes[0].why, "", "| what | baseline | now |", "| --- | --- | --- |"]
        lines += [f"| {_cell(change.what)} | {_cell(_old(change))} | {_cell(_new(change))} |" for change in changes]
        lines.append("")
    if lines:
        lines += [f"{plural(len(drift.changes), 'difference')} between `{drift.baseline}` and `{drift.current}`.", ""]
    return "\n".join(lines)


def groups(drift: Drift) -> dict[str, list[Change]]:
    """Return the changes by group, in their order."""
    grouped: dict[str, list[Change]] = {}
    for change in drift.changes:
        grouped.setdefault(change.group, []).append(change)
    return grouped


def _old(change: Change) -> str:
    return _cut(change.old) if change.old is not None else "absent"


def _new(change: Change) -> str:
    note = f", {change.note}" if change.note else ""
    return _cut(change.new) + note if change.new is not None else "absent"


def _cut(text: str) -> str:
    return text if len(text) <= LONG_TEXT else f"{text[: LONG_TEXT - 1]}… ({len(text):,} characters)"


def _cell(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
