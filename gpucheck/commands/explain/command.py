"""The commands ``explain`` and ``rules``: manual pages of diagnoses, their table, and the root cause in a log."""

import errno
import functools
import math
import os
import re
import time
from collections.abc import Iterable
from typing import Any

import click

from gpucheck.cli.parameters import COLOR, READ_SECONDS, SECONDS, Command
from gpucheck.cli.screen import display_options, show, standard_input
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.explain import page, table
from gpucheck.commands.explain.table import load_rows, load_rules
from gpucheck.core.engine import manual
from gpucheck.core.model import Report
from gpucheck.core.model.naming import did_you_mean
from gpucheck.core.model.plugin import Rule
from gpucheck.core.model.progress import Progress
from gpucheck.core.reports import json

MESSAGE = "the text"  # the source of a report about an error message on the command line
MOST_MENTIONED = 5  # diagnoses that are suggested for a word
Rules = dict[str, Rule]  # by code


@click.command(cls=Command)
@click.argument(
    "words",
    metavar="CODE|ROW|FILE|MESSAGE|-",
    nargs=-1,
    required=True,
    shell_complete=lambda ctx, param, incomplete: _completions(incomplete),
)
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@COLOR
@click.option("-v", "--verbose", is_flag=True, help="Also show lines that look like errors but are harmless, and why.")
@click.option(
    "--redact", "redacting", is_flag=True, help="Replace hosts, users, addresses and secrets in log lines with aliases."
)
@click.option(
    "--timeout",
    type=SECONDS,
    show_default=f"{READ_SECONDS:g}; none for -",
    help="Time limit for a log; the part read by then is explained.",
)
@click.pass_obj
def explain(
    limit: TimeLimit,
    /,
    words: tuple[str, ...],
    style: str,
    color: str,
    verbose: bool,
    redacting: bool,
    timeout: float | None,
) -> None:
    """Print the page of a diagnosis or a row of the troubleshooting table, or find the root cause in a log or an error message.

    A log can be any text, for example from TensorFlow, Keras, JAX, PyTorch, nvidia-smi, pip, dmesg, journalctl, NCCL, Docker,
    Kubernetes or Slurm. It may be compressed (gzip, xz, bzip2). A tar or zip archive may contain several logs; it is read
    without extracting it. The diagnoses are the same as for a machine. Exit codes: 0 the page was printed or the log was read,
    whether or not a cause was found (see --format json); 2 unknown code, file or message, or the file is unreadable or not text;
    3 the result could not be written.

    \b
    Examples:
      gpucheck explain driver-library-mismatch
      gpucheck explain "Out of memory"
      gpucheck explain train.log
      gpucheck explain "failed call to cuInit: CUDA_ERROR_NO_DEVICE"
      kubectl logs trainer-0 | gpucheck explain -
    """
    what = " ".join(words)
    rules = {rule.code: rule for rule in load_rules()}
    code = what.lower().replace("_", "-")
    if what in rules or (code in rules and not os.path.lexists(what)):
        _explain_code(rules[code], style, color)
    elif len(words) > 1 and (file := next(filter(os.path.isfile, words), None)) is not None:
        raise click.UsageError(f"{file} is a file: only one can be explained at a time")
    else:
        # The writer of a pipe may be a training run of hours, and would be killed if reading stopped.
        limit.set(timeout or (math.inf if what == "-" else READ_SECONDS))
        _explain_log(what, rules, style, color, verbose, redacting, limit)


def _explain_code(rule: Rule, style: str, color: str) -> None:
    _need_pages([rule])
    parsed, own = manual.page_of(rule), load_rows()[rule.row]
    show(page.render_json(parsed, rule, own) if style == "json" else page.render(parsed, rule, own, **display_options(color)))


def _explain_log(what: str, codes: Rules, style: str, color: str, verbose: bool, redacting: bool, limit: TimeLimit) -> None:
    from gpucheck.cli.delivery import redacted
    from gpucheck.commands.explain import report as explanation
    from gpucheck.commands.explain.archives import Archive, archive_in
    from gpucheck.commands.explain.log import explain
    from gpucheck.commands.explain.log_file import opened, split
    from gpucheck.core.system.read import STDIN, Refused

    def text(report: Report) -> str:
        report = redacted(report, max(limit.end, time.monotonic()) + limit.ending.redaction) if redacting else report
        return json.render(report) if style == "json" else explanation.render(report, verbose=verbose, **display_options(color))

    progress = Progress[Report]()
    limit.write_partial(progress, lambda partial: [functools.partial(show, text(partial))])
    standard_input(what)
    try:
        log = opened(what, limit.reading_end)
        name = STDIN if what == "-" else what
        content = archive_in(log, what, name)
        if isinstance(content, Archive):
            report = explain(content.texts(), name, lambda: log.cut or content.cut, progress)
        else:
            report = explain([("", split(content, name))], name, lambda: log.cut, progress)
    except Refused as refused:
        raise click.UsageError(str(refused)) from None
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            raise click.UsageError(f"cannot read {what}: {error.strerror}") from None
        if _explain_row(what, codes, style, color):
            return
        report = explain([("", what.splitlines())], MESSAGE, lambda: None, progress)
        if not _known(report, what):
            raise _unknown(what, codes) from None
    show(text(report))


def _known(report: Report, what: str) -> bool:
    """Whether the argument is an error message: it has a known line, and is not a path."""
    from gpucheck.core.logs.log import Log

    log = report.fact(Log)
    is_path = os.sep in what and len(what.split()) == 1
    return not is_path and bool(report.findings or (log is not None and log.harmless))


def _explain_row(what: str, codes: Rules, style: str, color: str) -> bool:
    """Print the row of the troubleshooting table with these words; return False if there is none."""
    rows = load_rows()
    names = table.matching(what, rows)
    if len(names) > 1:
        problems = ", ".join(f'"{rows[name].problem}"' for name in names)
        raise click.UsageError(f"several rows of the table: {problems}; `gpucheck rules` lists them")
    if names:
        _need_pages(codes.values())
        show(table.render_row(names[0], rows[names[0]], tuple(codes.values()), style, **display_options(color)))
    return bool(names)


def _unknown(what: str, codes: Rules) -> click.UsageError:
    """Return the error, which suggests similar codes."""
    similar = did_you_mean(what, codes, most=3, otherwise="")
    if not similar and (mentioned := _mentioned(what, codes.values())):
        similar = f" (did you mean {' or '.join(mentioned)}?)"
    code = "no diagnosis with that code, and no known failure in this text" if " " in what else "and no diagnosis with that code"
    return click.UsageError(f"no file {what!r}, {code}; `gpucheck rules` lists the codes{similar}")


def _mentioned(what: str, rules: Iterable[Rule]) -> list[str]:
    """Return the diagnoses whose title or symptom, or else page, contains all words; none if the text looks like a file name."""
    words = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in what.replace("-", " ").split()]
    if not words or any(sign in what for sign in "./\\"):
        return []
    pages = [manual.page_of(rule) for rule in rules if rule.doc]
    texts = [{page.code: f"{page.title}\n{page.sections['Symptom']}" for page in pages}]
    texts.append({page.code: "\n".join(page.sections.values()) for page in pages})
    found = next(
        filter(None, ([code for code, text in each.items() if all(word.search(text) for word in words)] for each in texts)), []
    )
    return sorted(found, key=lambda code: not all(word.search(code) for word in words))[:MOST_MENTIONED]


@click.command(cls=Command)
@click.option("--format", "style", type=click.Choice(["terminal", "json", "markdown"]), default="terminal", show_default=True)
@COLOR
def rules(style: str, color: str) -> None:
    """List the troubleshooting table: row, code, severity, one line.

    \b
    Examples:
      gpucheck rules
      gpucheck rules --format markdown > table.md
      gpucheck rules --format json
    """
    listed = load_rules()
    _need_pages(listed)
    show(table.render(listed, load_rows(), style, **display_options(color)))


def _need_pages(rules: Iterable[Rule]) -> None:
    if not all(rule.doc for rule in rules):
        raise click.UsageError("this Python removes docstrings (-OO, PYTHONOPTIMIZE=2), which contain the manual pages")


def _completions(incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    codes = [CompletionItem(rule.code) for rule in load_rules() if rule.code.startswith(incomplete)]
    return codes or [CompletionItem(incomplete, type="file")]
