"""A report that tells no secrets: hosts, users, homes, UUIDs, serials, addresses, tokens, values of unknown variables.

The same thing gets the same alias wherever it stands, so that a redacted report can still be followed: ``host-1`` in a fact is
``host-1`` in a log line. What is secret is learned from the report itself and from what the caller knows about the machine;
patterns catch the rest. When in doubt, an alias: a report that tells too little is cheaper than one that tells too much.
"""

from collections.abc import Callable, Iterable

from gpucheck.core.model import Report
from gpucheck.core.reports.redaction.aliases import Aliases
from gpucheck.core.reports.redaction.walk import changed


def redact(
    report: Report, *, hosts: Iterable[str] = (), users: Iterable[str] = (), has_time: Callable[[], bool] = lambda: True
) -> Report:
    """The report with aliases for what identifies a machine, a person or an account.

    Args:
        report: any report, replayed ones too.
        hosts: names of this machine, which only the caller can ask for.
        users: names of its user, likewise.
        has_time: asked again and again; once it says no, every text that is left is left out.

    Returns:
        A report of the same shape: verdict, codes, numbers and versions are untouched.
    """
    aliases = Aliases(has_time)
    aliases.learn(report, hosts, users)
    return changed(report, aliases.text)  # type: ignore[no-any-return]
