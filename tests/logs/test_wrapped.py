"""A log inside other text (a quotation, list, table, mail, notebook file) gives the same result as on its own."""

import html
import json

import pytest
from log_cases import FOLDER, log_cases, read_toml
from one_rule import log_findings

LOGS = {case.code: case for case in log_cases("wrapped")}
WRAPPINGS = read_toml(FOLDER / "wrappings.toml")


def wrapped(text, wrapping):
    """Wrap a text as wrappings.toml describes."""
    lines = text.split("\n")
    if "within" in wrapping:
        return text.join(wrapping["within"])
    if "numbered" in wrapping:
        return "\n".join(wrapping["numbered"] % number + line for number, line in enumerate(lines, 9))
    return "\n".join(line.join(wrapping["each"]) for line in lines)


def indented(text, by):
    return "\n".join(by + line for line in text.split("\n"))


# Forms created by a program, each with the log that is most sensitive to it.
FORMS = {
    "quoted fence": ("peer-access-unavailable", lambda text: indented(f"```\n{text}\n```", "> ")),
    "HTML's entities": ("tensorflow-not-installed", html.escape),
    "HTML": ("no-nvidia-gpu", lambda text: "<p>" + html.escape(text).replace("\n", "<br/>\n") + "</p>"),
    "reStructuredText": ("no-nvidia-gpu", lambda text: "::\n\n" + indented(text, "   ")),
    "JSON": ("tensorflow-not-installed", lambda text: json.dumps({"body": text})),
    "JSON's list": (
        "peer-access-unavailable",
        lambda text: json.dumps({"output_type": "stream", "text": [f"{line}\n" for line in text.split("\n")]}, indent=1),
    ),
    "JSON in JSON": ("no-nvidia-gpu", lambda text: json.dumps({"event": json.dumps({"log": text})})),
    "representation": (
        "host-memory-exhausted",
        lambda text: f"CompletedProcess(args=['train'], returncode=1, stdout=b'', stderr={text.encode()!r})",
    ),
    "YAML": ("no-nvidia-gpu", lambda text: "stderr: |\n" + indented(text, "  ")),
    "Windows": ("no-nvidia-gpu", lambda text: text.replace("\n", "\r\n") + "\r\n"),
    "hard blanks": ("driver-missing", lambda text: text.replace("  ", "\u00a0 ").replace(": ", ":\u00a0")),
    "curly quotes": ("tensorflow-not-installed", lambda text: text.replace("'", "\u2019").replace('"', "\u201d")),
}


def texts():
    """Yield the name, the log, the expected severity, and the wrapped text."""
    for name, wrapping in WRAPPINGS.items():
        log = LOGS[wrapping["log"]]
        yield name, log, wrapping.get("severity", log.level), wrapped(log.text.rstrip("\n"), wrapping)
    for name, (code, form) in FORMS.items():
        yield name, LOGS[code], LOGS[code].level, form(LOGS[code].text.rstrip("\n"))


@pytest.mark.parametrize(("log", "severity", "text"), [item[1:] for item in texts()], ids=[item[0] for item in texts()])
def test_wrapped_log_gives_the_same_result(log, severity, text):
    assert text != log.text
    (finding, *_) = log_findings(text)
    assert (finding.code, finding.severity.value) == (log.code, severity)
