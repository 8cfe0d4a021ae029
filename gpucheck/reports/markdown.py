"""The report as Markdown, to paste into a bug tracker: findings first, then training, gaps and the facts, folded away.

What a machine says about itself stands in code spans and fences, where nothing is markup, a mention or an issue number.
"""

import json
import re

from gpucheck.model import Diagnosis, Experiment, Report, Severity, Status, TrainingRun, Verdict
from gpucheck.model.naming import devices
from gpucheck.reports import _decision, _experiments
from gpucheck.reports._areas import areas
from gpucheck.reports._headline import followers, gaps, headline, muted, roots, unchecked
from gpucheck.reports._text import line, plain
from gpucheck.reports._training import beside
from gpucheck.reports._words import duration, evidence, plural, significant, size, strategy

LIMIT_CHARACTERS = 60_000  # GitHub takes 65,536 in an issue, GitLab more
MARKUP = re.compile(r"([\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])|^[-+#])")  # an underscore inside a word is none


def title(report: Report) -> str:
    """The heading: the verdict, and the root cause's code where there is one."""
    code = f" {roots(report)[0].code}" if roots(report) and report.verdict is not Verdict.UNKNOWN else ""
    return f"gpucheck: {report.verdict.value}{code}"


def render(report: Report, *, facts: bool = True) -> str:
    """Markdown; ``facts``: with every probe's fact as JSON, as far as they fit into an issue."""
    lines = [f"# {title(report)}", ""]
    if report.verdict is Verdict.UNKNOWN or not roots(report):
        lines += [escape(headline(report)), ""]
    if report.unknown_because:
        lines += ["## Not looked at", "", *(f"- {escape(reason)}" for reason in report.unknown_because), ""]
    for root in roots(report):
        lines += _finding(report, root)
    if known := muted(report):
        lines += ["## Muted", "", *(f"- `{each.code}`: {escape(f'{each.summary} ({each.muted})')}" for each in known), ""]
    if report.training:
        lines += _training(report.training)
    if report.experiments:
        lines += _tried(report.experiments)
    lines += _paths(_decision.paths(report))
    lines += ["## Machine", "", "| area | state | seen |", "| --- | --- | --- |"]
    lines += [f"| {area.name} | {area.state} | {_code(area.words, cell=True)} |" for area in areas(report)]
    lines += ["", *_rules(report)]
    lines += [f"gpucheck {escape(report.tool.version)}, {escape(report.started_at)}, {duration(report.seconds)}", ""]
    text = "\n".join(lines)
    return text + _facts(report, LIMIT_CHARACTERS - len(text)) if facts else text


def escape(text: str) -> str:
    """Prose on one line in which nothing is markup or a mention."""
    escaped = MARKUP.sub(r"\\\1", line(text).replace("&", "&amp;"))
    escaped = re.sub(r"^(\d+)([.)] )", r"\1\\\2", escaped)  # no numbered list
    return re.sub(r"@|#(?=\d)", r"\g<0><!-- -->", escaped)  # a backslash does not stop GitHub from linking these


def _finding(report: Report, root: Diagnosis) -> list[str]:
    sign = "✗" if root.severity is Severity.ERROR else "!"
    lines = [f"## {sign} {root.code}", "", escape(root.summary), "", f"{root.severity.value}, scope: {root.scope.value}"]
    if root.affects:
        lines[-1] += f", on {escape(', '.join(root.affects))}"
    if root.evidence:
        lines += ["", "Saw:", "", *(f"- {_code(evidence(item, report.facts, verbose=True))}" for item in root.evidence)]
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
    lines = [
        "## Training",
        "",
        "| strategy | devices | precision | samples/s | step | first step | peak memory | loss | result |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for run in runs:
        loss = (
            "–" if run.loss.first is None and run.loss.last is None else " → ".join(map(_number, (run.loss.first, run.loss.last)))
        )
        cells = [
            strategy(run),
            devices(run.devices) or "–",
            f"{run.precision} XLA" if run.compiled else run.precision,
            _number(run.samples_per_second),
            "–" if run.step_seconds is None else f"{significant(run.step_seconds * 1000)} ms",
            "–" if run.first_step_seconds is None else duration(run.first_step_seconds),
            "–" if run.peak_memory_bytes is None else size(run.peak_memory_bytes),
            loss,
            run.status if run.status == "passed" else f"{run.status}: {run.stage or ''} {run.reason or ''}",
        ]
        lines.append(f"| {' | '.join(escape(cell) for cell in cells)} |")
    if caveat := beside(runs):
        lines += ["", escape(caveat)]
    return [*lines, ""]


def _tried(experiments: tuple[Experiment, ...]) -> list[str]:
    lines = ["## Experiments", "", "| experiment | devices | result | measured |", "| --- | --- | --- | --- |"]
    for experiment in experiments:
        cells = [
            _experiments.name(experiment),
            devices(experiment.devices) or "–",
            experiment.status + (f": {experiment.reason}" if experiment.reason else ""),
            ", ".join(_experiments.figures(experiment)) or "–",
        ]
        lines.append(f"| {' | '.join(escape(cell) for cell in cells)} |")
    return [*lines, ""]


def _paths(rows: tuple[_decision.Path, ...]) -> list[str]:
    if not rows:
        return []
    lines = ["## Which path fits", "", "| path | best suited for | main limitation | first metric | here |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for row in rows:
        metric = f"{row.metric}: {row.measured or _decision.NOT_MEASURED}"
        lines.append(f"| {' | '.join(map(escape, (row.option, row.suited, row.limitation, metric, row.fits)))} |")
    return [*lines, ""]


def _number(value: float | None) -> str:
    return "–" if value is None else significant(value)


def _rules(report: Report) -> list[str]:
    clear = [outcome.code for outcome in report.outcomes if outcome.status is Status.CLEAR]
    counts = ", ".join([f"{plural(len(clear), 'cause')} ruled out", *gaps(report)])
    lines = ["<details>", f"<summary>{counts}</summary>", ""]
    lines += [
        f"- `{outcome.code}` {outcome.status.value}: {escape(outcome.reason or 'no reason given')}"
        for outcome in unchecked(report)
    ]
    lines += ["", f"Ruled out: {', '.join(f'`{code}`' for code in clear) or 'none'}", "", "</details>", ""]
    return lines


def _facts(report: Report, room: int) -> str:
    cited = {item.fact for finding in report.findings for item in finding.evidence}
    parts, left_out = [], []
    for probe in sorted(report.facts, key=lambda name: (name not in cited, name)):
        fact = json.dumps(report.facts[probe], indent=1, ensure_ascii=False)
        part = "\n".join(["<details>", f"<summary>{escape(probe)}</summary>", "", *_fence(fact, "json"), "", "</details>", ""])
        if len(part) > room - 500:
            left_out.append(probe)
        else:
            parts.append(part)
            room -= len(part)
    more = f"\nLeft out, being too long: {', '.join(map(escape, left_out))}. `--format json` has them.\n" if left_out else ""
    return "\n## Facts\n\n" + "".join(parts) + more


def _fence(text: str, language: str) -> list[str]:
    """A fence longer than any run of backticks inside."""
    text = plain(text)
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    return [f"{fence}{language}", *text.split("\n"), fence]


def _code(text: str, cell: bool = False) -> str:
    text = line(text)
    fence = "`" * max([0, *(len(run) for run in re.findall(r"`+", text))]) + "`"
    padded = f" {text} " if text.startswith("`") or text.endswith("`") else text
    spanned = f"{fence}{padded}{fence}"
    return spanned.replace("|", "\\|") if cell else spanned
