"""gpucheck's output by its file under tests/golden, from the command line run in this process."""

import hashlib
import json
import pathlib
import re
import time
from collections import defaultdict
from collections.abc import Callable

import click
import msgspec
from click.testing import CliRunner
from fakes import MACHINES, listed
from log_cases import TOPICS, log_cases
from one_rule import RULES, changed

from gpucheck.cli.delivery import delivery
from gpucheck.cli.formats import FORMATS, Outputs
from gpucheck.cli.group import cli
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.explain import table
from gpucheck.commands.explain.log import explain
from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rows
from gpucheck.core.engine.recorded import replay
from gpucheck.core.model import Report, Status
from gpucheck.core.repairs.verify import verify
from gpucheck.core.system.shells import SHELLS

HERE = pathlib.Path(__file__).parent
FAULTY = (
    "cuda-environment-malformed",
    "cuda-libraries-unreachable",
    "container-without-gpu",
    "devices-hidden",
    "driver-library-mismatch",
    "driver-missing",
    "ecc-errors",
    "gpu-memory-exhausted",
    "gpu-throttled",
    "input-pipeline-bound",
    "nccl-failed",
    "scaling-inefficient",
    "tpu-unreachable",
    "training-crashed",
    "worker-unreachable",
)
WITH_FACTS = "h200"
LONG = ("terminal", "json", "html", "markdown")  # a file for each report; each other format has one file with all reports
FOR_READERS = ("h200", "laptop-cpu", "cuda-libraries-unreachable", "scaling-inefficient", "tpu-unreachable")  # slow formats
# Rules without findings that recorded reports list. The others are omitted, so that a new rule doesn't change every report. These are
# clear on one machine and skipped on another, for several reasons; reports/outcomes.txt has all rules.
LISTED = (
    "device-results-differ",
    "replicas-diverged",
    "gpu-count-unexpected",
    "compute-mode-exclusive",
    "driver-too-old",
    "gpu-lost",
    "library-corrupt",
    "ptxas-missing",
    "input-pipeline-bound",
    "pcie-link-degraded",
    "worker-unreachable",
    "host-memory-exhausted",
    "tpu-busy",
    "training-failed",
)
PAGES = ("devices-hidden", "gpu-memory-exhausted", "nccl-failed", "no-prefetch", "tpu-not-found")
REPAIRED = ("cuda-environment-malformed", "cuda-libraries-unreachable", "devices-hidden", "ptxas-missing")
ENVIRONMENT = {"COLUMNS": "100", "LANG": "C.UTF-8", "TZ": "UTC", "SOURCE_DATE_EPOCH": "0", "GITHUB_STEP_SUMMARY": ""}


def printed(*args: str, given: bytes | None = None) -> str:
    """Standard output and the exit code of a command."""
    return _output(cli, *args, given=given)


def delivered(report: Report, style: str = "terminal", verbose: bool = False) -> str:
    """The command line's output for a report, and the exit code."""
    return _output(click.command(lambda: deliver(report, style, verbose)))


def deliver(report: Report, style: str = "terminal", verbose: bool = False) -> None:
    """Print a report and exit as ``gpucheck check`` does."""
    limit = TimeLimit(time.monotonic())
    limit.set(60)
    with delivery(Outputs(style, verbose=verbose), limit) as files:
        files.deliver(report, report.exit_code)
    raise SystemExit(report.exit_code)


def _output(command: click.Command, *args: str, given: bytes | None = None) -> str:
    done = CliRunner(env=ENVIRONMENT).invoke(command, args, prog_name="gpucheck", input=given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout + (f"{done.stderr}exit code {done.exit_code}\n" if done.exit_code else "")


def recorded(name: str) -> bytes:
    """The report of a recorded machine, or of the example of a rule, as a file to replay."""
    if name in RULES:
        example = manual.page_of(RULES[name]).example
        facts = changed(dict(example.changes), example.machine)
    else:
        facts = changed(name=name)
    return json.dumps({"schema_version": "1.0", "started_at": "2026-01-02T03:04:05Z", "seconds": 6.5, "facts": facts}).encode()


def narrowed(report: Report) -> Report:
    """The report with only the rules that found something and those of ``LISTED``, and likewise for probes."""
    quiet = (Status.CLEAR, Status.SKIPPED)
    outcomes = tuple(outcome for outcome in report.outcomes if outcome.status not in quiet or outcome.code in LISTED)
    return msgspec.structs.replace(report, outcomes=outcomes, probes=listed(report.probes))


def reports() -> dict[str, str]:
    """Reports of recorded and faulty machines in every format, and the outcome of each rule on each of them."""
    texts, outcomes = defaultdict(str), defaultdict(list)
    for name in (*sorted(path.stem for path in MACHINES.glob("*.json")), *FAULTY):
        whole = replay(recorded(name))
        for outcome in whole.outcomes:
            outcomes[outcome.code] += [(name, outcome)] if outcome.status is not Status.CLEAR else []
        report = narrowed(whole)
        for style in FORMATS:
            if style not in ("html", "markdown") or name in FOR_READERS:
                text = shortened(delivered(report, style), style, name)
                texts[f"reports/{name}/{style}.txt" if style in LONG else f"reports/{style}.txt"] += titled(text, style, name)
        texts[f"reports/{name}/verbose.txt"] = delivered(report, verbose=True)
    return {**texts, "reports/outcomes.txt": "".join(_not_clear(code, of_it) for code, of_it in sorted(outcomes.items()))}


def titled(text: str, style: str, name: str) -> str:
    """A text as its format's file has it: short formats have all reports in one file, each below its name."""
    return text if style in LONG else f"======== {name}\n{text}\n"


def _not_clear(code: str, outcomes: list) -> str:
    """The machines on which a rule is not clear, and why."""
    machines = defaultdict(list)
    for name, outcome in outcomes:
        machines[f"{outcome.status.value}: {outcome.reason}" if outcome.reason else outcome.status.value].append(name)
    return f"{code}: clear{', but' if machines else ''}\n" + "".join(
        f"    {what}\n        {', '.join(names)}\n" for what, names in machines.items()
    )


def shortened(text: str, style: str, name: str) -> str:
    """A report without drawings, which depend on matplotlib's version, and without the given facts.

    Only ``WITH_FACTS`` keeps its facts, so that a new field of a fact changes one report and not all of them.
    """
    if style == "html":
        text = re.sub(r"<svg.*?</svg>", "<svg/>", text, flags=re.DOTALL)
        text = re.sub(r"<style.*?</style>", "<style/>", text, flags=re.DOTALL)
    if name == WITH_FACTS:
        return text
    if style == "json":
        report, exit_code, ending = text.partition("exit code")
        given = {"training": "as given", "facts": "as given"}
        text = json.dumps({**json.loads(report), **given}, indent=1, ensure_ascii=False) + f"\n{exit_code}{ending}"
    start = {"html": '<details class="probe">', "markdown": "\n## Facts\n\n"}.get(style, "\0")
    end = "</section>" if style == "html" else "exit code"
    return re.sub(f"(?<={start}).*?(?={end}|$)", "as given\n", text, count=1, flags=re.DOTALL)


def findings() -> dict[str, str]:
    """The findings of every rule's example."""
    texts = {}
    for code in sorted(RULES):
        report = json.loads(printed("--replay", "-", "--format", "json", given=recorded(code)).partition("\nexit code")[0])
        texts[f"findings/{code}.json"] = json.dumps(report["findings"], indent=1, ensure_ascii=False) + "\n"
    return texts


def helps() -> dict[str, str]:
    """``--help`` of every command."""
    commands = [*cli.list_commands(None), "fleet merge", "fleet run", "fleet train"]
    return {"help/gpucheck.txt": printed("--help")} | {
        f"help/{command.replace(' ', '-')}.txt": printed(*command.split(), "--help") for command in commands
    }


def manuals() -> dict[str, str]:
    """The table of diagnoses, completion scripts, and pages without the section on repairs."""
    texts = {"manual/rules-json.txt": printed("rules", "--format", "json")}
    some = [rule for code, rule in RULES.items() if code in LISTED]
    for style in ("terminal", "markdown"):
        texts[f"manual/rules-{style}.txt"] = table.render(some, load_rows(), style, width=100, color=False, ascii=False)
    for shell in ("bash", "zsh", "fish"):
        texts[f"manual/completion-{shell}.txt"] = printed("completion", shell)
    page = json.loads(printed("explain", "no-nvidia-gpu", "--format", "json"))
    del page["sections"]["fix"]
    texts["manual/no-nvidia-gpu.json"] = json.dumps(page, indent=1, ensure_ascii=False) + "\n"
    for code in PAGES:
        texts[f"manual/{code}.txt"] = re.sub(r"\nFix\n.*?(?=\n\S)", "\n", printed("explain", code), flags=re.DOTALL)
    return texts


def repairs() -> dict[str, str]:
    """``gpucheck env`` of machines that variables repair, in the syntax of every shell."""
    texts = {}
    for name in REPAIRED:
        given = recorded(name)
        variables = json.loads(given)["facts"]["environment"].get("variables", {})
        assignments = verify(lambda changed, given=given: replay(given), variables).assignments
        for shell, render in SHELLS.items():
            texts[f"env/{name}.{shell}"] = render(assignments, variables)
    return texts


def logs() -> dict[str, str]:
    """The causes that ``gpucheck explain`` finds in each log, grouped by the first cause, without repairs."""
    causes = defaultdict(dict)
    for text in log_texts():
        report = msgspec.to_builtins(explain([("", text.split("\n"))], "train.log"))
        named = [summary_of(finding) for finding in report["findings"]]
        first = next((line for line in text.splitlines() if line.strip()), "").strip()
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        cause = report["findings"][0]["code"] if report["findings"] else "nothing"
        causes[cause][digest] = f"log {digest} {first[:90]}\n" + "".join(named)
    return {f"logs/{cause}.txt": "\n".join(found for _, found in sorted(texts.items())) for cause, texts in causes.items()}


def log_texts() -> list[str]:
    """Every log of tests/cases/logs/texts, each line stripped."""
    texts = {case.text for topic in TOPICS for case in log_cases(topic)}
    return sorted("\n".join(line.strip() for line in text.strip().split("\n")) for text in texts)


def summary_of(finding: dict) -> str:
    """A finding without its repair and without the lines' texts."""
    lines = ", ".join(dict.fromkeys(item["field"] for item in finding["evidence"]))
    affects = f" affects {', '.join(finding['affects'])}" if finding["affects"] else ""
    action = f", {finding['action']}" if finding["action"] else ""
    explained = f" explained by {finding['explained_by']}" if finding["explained_by"] else ""
    return f"  {finding['severity']} {finding['code']} ({finding['scope']}{action}){affects}{explained}: {lines}\n    {finding['summary']}\n"


def setups() -> dict[str, str]:
    """The output of ``gpucheck setup`` for machines, in every format."""
    cases = {
        "newest": ("580.159,8.0,3.12",),
        "defect": ("580.159,9.0,3.12", "--tensorflow", "2.21"),
        "old-driver": ("470.57,8.0,3.13",),
        "old-gpu": ("580.159,7.0,3.11",),
        "image": ("580.159,12.0,3.12",),
        "nothing": ("580.159,3.5,3.11",),
        "cpu": ("535,8.0,3.12", "--cpu"),
        "jax": ("580.159,9.0,3.12", "--backend", "jax"),
        "torch": ("580.159,6.1,3.12", "--backend", "torch"),
    }
    styles = ("terminal", "json", "requirements", "pyproject", "dockerfile", "conda", "pixi")
    return {
        f"setup/{name}/{style}.txt": printed("setup", "--for", *args, "--format", style)
        for name, args in cases.items()
        for style in styles
    }


ALL: dict[str, Callable[[], dict[str, str]]] = {
    maker.__name__: maker for maker in (reports, findings, helps, manuals, repairs, setups, logs)
}
