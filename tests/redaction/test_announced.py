"""Secrets that are announced as in configurations, commands, logs and services are redacted."""

import msgspec
from redaction.announced import lines
from reports.builders import found, report, rule

from gpucheck.core.logs.events import Event
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Evidence
from gpucheck.core.reports import json as json_report
from gpucheck.core.reports.redaction import redact

LINES = list(lines())
AROUND = (
    "{}",
    "2026-11-20 17:28:29.082674: E tsl/file.cc:95] {}",
    '{{"log": "{}"}}',
    "first\n{}\nlast",
)
AT_THE_START = (
    "srun:",
    "slurmstepd:",
    "Nov ",
    "-rw-",
    "sekret-gpu17:4711:",
    "  4711 ",
)  # announce a name only at the line's start


EMPTY = msgspec.structs.replace(report("h200"), facts={}, probes=(), outcomes=(), training=())


def redacted(text):
    """The redacted report whose log, evidence and summary contain this text and no other secret."""
    log = Log(source="log", lines=1, events=(Event(kind="xid", line=1, text=text, fields={"message": text}),))
    evidence = (Evidence(fact="log", field="events[0].text", value=text),)
    finding = found(rule("gpu-lost"), summary=text, evidence=evidence).finding
    return json_report.render(redact(msgspec.structs.replace(EMPTY, facts={"log": log}, unknown_because=(text, str(finding)))))


def test_every_announced_secret_is_redacted():
    leaks = []
    for line, secrets in LINES:
        for around in AROUND[:1] if line.startswith(AT_THE_START) else AROUND:
            text = redacted(around.format(line)).lower()
            leaks += [(around.format(line), secret) for secret in secrets if secret.lower() in text]
    assert leaks == []


def test_number_of_announced_secrets():
    assert len(LINES) >= 250
    assert all(secret in line for line, secrets in LINES for secret in secrets)
