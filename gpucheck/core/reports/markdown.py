"""The report as Markdown, for a bug tracker: findings, training, gaps, and the facts in a collapsed section.

Text from the machine is in code spans and fences, so it can't be markup, a mention or an issue number.
"""

import json
import re
from collections.abc import Iterable, Sequence

import msgspec

from gpucheck.core.model import Diagnosis, Report, Severity, TrainingRun, Verdict
from gpucheck.core.model.naming import devices
from gpucheck.core.reports.redaction import notice
from gpucheck.core.reports.shared import experiments, hardware_paths
from gpucheck.core.reports.shared.areas import areas
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import followers, gaps, muted, root_code, roots, ruled_out, unchecked
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import line, plain
from gpucheck.core.reports.shared.training import concurrency_note, row
from gpucheck.core.reports.shared.words import duration, plural, spelled

LIMIT_CHARACTERS = 60_000  # GitHub's limit for an issue is 65,536, GitLab's is higher
MARKUP = re.compile(r"([\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])|^[-+#])")  # except an underscore inside a word


def title(report: Report) -> str:
    """Return the heading: the verdict, and the root cause's code if there is one."""
    return " ".join(filter(None, ("gpucheck:", report.verdict.value, root_code(report))))


def render(report: Report, *, facts: bool = True) -> str:
    """Render Markdown; ``facts``: include as many facts, as JSON, as fit into an issue."""
    lines = [f"# {title(report)}", ""]
    if report.verdict is Verdict.UNKNOWN or not roots(report):
        lines += [escape(headline(report)), ""]
    if (redacted := notice(report)) is not None:
        lines += [redacted, ""]
    if report.unknown_because:
        lines += ["## Not checked", "", *(f"- {escape(reason)}" for reason in report.unknown_because), ""]
    for root in roots(report):
        lines += _finding(report, root)
    if silenced := muted(report):
        lines += ["## Muted", "", *(f"- `{each.code}`: {escape(f'{each.summary} ({each.muted})')}" for each in silenced), ""]
    if report.training:
        lines += _training(report.training)
    if report.experiments:
        lines += _experiments(report)
    lines += _paths(hardware_paths.paths(report))
    lines += ["## Machine", "", "| area | state | seen |", "| --- | --- | --- |"]
    lines += [f"| {area.name} | {area.state} | {_code(area.words, cell=True)} |" for area in areas(report)]
    lines += ["", *_rules(report)]
    lines += [f"gpucheck {escape(report.tool.version)}, {escape(report.started_at)}, {duration(report.seconds)}", ""]
    text = "\n".join(lines)
    return text + _facts(report, LIMIT_CHARACTERS - len(text)) if facts else text


def escape(text: str) -> str:
    """Escape prose on one line, so that nothing is markup or a mention."""
    escaped = MARKUP.sub(r"\\\1", line(text).replace("&", "&amp;"))
    escaped = re.sub(r"^(\d+)([.)] )", r"\1\\\2", escaped)  # not a numbered list
    return re.sub(r"@|#(?=\d)", r"\g<0><!-- -->", escaped)  # GitHub links these despite a backslash


def _finding(report: Report, root: Diagnosis) -> list[str]:
    sign = "✗" if root.severity is Severity.ERROR else "!"
    lines = [f"## {sign} {root.code}", "", escape(root.summary), "", f"{root.severity.value}, scope: {root.scope.value}"]
    if root.affects:
        lines[-1] += f", on {escape(', '.join(root.affects))}"
    lines[-1] += f". First check: {escape(root.first_check)}"
    if root.evidence:
        lines += ["", "Saw:", "", *(f"- {_code(evidence(item, report, verbose=True))}" for item in root.evidence)]
    if root.fix:
        lines += ["", "Do:", ""]
        for number, fix in enumerate(root.fix, 1):
            lines.append(f"{number}. {escape(fix.text)}")
            if fix.command:
                lines += ["", *(f"   {entry}" for entry in _fence(fix.command, "sh")), ""]
    if also := followers(report, root):
        lines += ["", "Also, explained by this:", "", *(f"- `{each.code}`: {escape(each.summary)}" for each in also)]
    return [*lines, ""]


def _training(runs: tuple[TrainingRun, ...]) -> list[str]:
    headings = ("strategy", "devices", "precision", "samples/s", "step", "first step", "peak memory", "loss", "result")
    rows = []
    for run in runs:
        result = run.status if run.status == "passed" else f"{run.status}: {run.stage or ''} {run.reason or ''}"
        rows.append((*row(run), result))
    lines = ["## Training", "", *_table(headings, rows, numbers=range(3, 8))]
    if caveat := concurrency_note(runs):
        lines += ["", escape(caveat)]
    return [*lines, ""]


def _experiments(report: Report) -> list[str]:
    rows = [
        (
            spelled(experiment.name),
            devices(experiment.devices) or "–",
            experiment.status + (f": {experiment.reason}" if experiment.reason else ""),
            ", ".join(experiments.figures(experiment)) or "–",
        )
        for experiment in report.experiments
    ]
    conclusions = [f"- {sentence.kind}: {escape(sentence.text)}" for sentence in experiments.conclusion(report)]
    return ["## Experiments", "", *conclusions, "", *_table(("experiment", "devices", "result", "measured"), rows), ""]


def _paths(paths: tuple[hardware_paths.Path, ...]) -> list[str]:
    if not paths:
        return []
    headings = ("path", "best suited for", "main limitation", "first metric", "here")
    rows = [
        (path.option, path.suited, path.limitation, f"{path.metric}: {path.measured or hardware_paths.NOT_MEASURED}", path.fits)
        for path in paths
    ]
    return ["## Which path fits", "", *_table(headings, rows), ""]


def _table(headings: Sequence[str], rows: Iterable[Iterable[str]], numbers: Sequence[int] = ()) -> list[str]:
    """Render a table; ``numbers`` are the right-aligned columns."""
    rules = ["---:" if place in numbers else "---" for place in range(len(headings))]
    cells = [headings, rules, *([escape(cell) for cell in cells] for cells in rows)]
    return [f"| {' | '.join(line)} |" for line in cells]


def _rules(report: Report) -> list[str]:
    clear = ruled_out(report)
    missed = ((outcome, escape(outcome.reason or "no reason given")) for outcome in unchecked(report))
    reasons = [f"- `{outcome.code}` {outcome.status.value}: {reason}" for outcome, reason in missed]
    codes = ", ".join(f"`{code}`" for code in clear) or "none"
    return _folded(", ".join([f"{plural(len(clear), 'cause')} ruled out", *gaps(report)]), [*reasons, "", f"Ruled out: {codes}"])


def _facts(report: Report, room: int) -> str:
    cited = {item.fact for finding in report.findings for item in finding.evidence}
    parts, left_out = [], []
    for probe in sorted(report.facts, key=lambda name: (name not in cited, name)):
        fact = json.dumps(msgspec.to_builtins(report.facts[probe]), indent=1, ensure_ascii=False)
        part = "\n".join(_folded(escape(probe), _fence(fact, "json")))
        if len(part) > room - 500:
            left_out.append(probe)
        else:
            parts.append(part)
            room -= len(part)
    more = f"\nOmitted because too long: {', '.join(map(escape, left_out))}. `--format json` has them.\n" if left_out else ""
    return "\n## Facts\n\n" + "".join(parts) + more


def _folded(summary: str, lines: list[str]) -> list[str]:
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>", ""]


def _fence(text: str, language: str) -> list[str]:
    """Render a code block, with a fence longer than any run of backticks inside."""
    text = plain(text)
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    return [f"{fence}{language}", *text.split("\n"), fence]


def _code(text: str, cell: bool = False) -> str:
    text = line(text)
    fence = "`" * max([0, *(len(run) for run in re.findall(r"`+", text))]) + "`"
    padded = f" {text} " if text.startswith("`") or text.endswith("`") else text
    spanned = f"{fence}{padded}{fence}"
    return spanned.replace("|", "\\|") if cell else spanned
