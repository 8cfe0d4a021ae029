"""Redact a report: hosts, users, home folders, UUIDs, serials, addresses, tokens, values of unknown variables.

Equal values get the same alias everywhere, so that a redacted report stays readable: ``host-1`` in a fact is ``host-1`` in a
log line. Secrets are learned from the report and from the caller's data about the machine; patterns detect the rest. Doubtful
values are redacted: a report with too little information is better than one that exposes a secret.
"""

from collections.abc import Callable, Iterable

from gpucheck.core.model import Report
from gpucheck.core.reports.redaction.aliases import Aliases
from gpucheck.core.reports.redaction.walk import changed, strings
from gpucheck.core.reports.redaction.words import ALIAS


def redact(
    report: Report, *, hosts: Iterable[str] = (), users: Iterable[str] = (), has_time: Callable[[], bool] = lambda: True
) -> Report:
    """Return the report with aliases for values that identify a machine, a person or an account.

    Args:
        report: any report, including a replayed one.
        hosts: names of this machine, which only the caller can query.
        users: names of its user, which only the caller can query.
        has_time: called repeatedly; after it returns False, all remaining texts are omitted.

    Returns:
        A report of the same shape: verdict, codes, numbers and versions are unchanged.
    """
    aliases = Aliases(has_time)
    aliases.learn(report, hosts, users)
    return changed(report, aliases.text)  # type: ignore[no-any-return]


def notice(report: Report) -> str | None:
    """Return the notice that a shared report is redacted, with commands in backticks; None if no alias is in it."""
    if not any(ALIAS.search(text) for _, text in strings(report)):
        return None
    return (
        "Redacted for sharing: aliases such as `host-1` replace names, and a command with an alias can't be run."
        " For the real names, use `gpucheck --open` or `--no-redact`."
    )
