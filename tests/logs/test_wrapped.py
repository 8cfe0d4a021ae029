"""A log inside something else (a quotation, a list, a table, a mail, a notebook's file) says what it says on its own."""

import html
import json

import pytest
from log_cases import log_cases
from one_rule import log_findings

LOGS = {case.code: case for case in log_cases("wrapped")}


def _each(before, after=""):
    return lambda text: "\n".join(f"{before}{line}{after}" for line in text.split("\n"))


def _numbered(form):
    return lambda text: "\n".join(form % number + line for number, line in enumerate(text.split("\n"), 9))


def _within(before, after):
    return lambda text: f"{before}{text}{after}"


# name -> the log that notices best when the wrapping is not taken away, and what wraps a text
WRAPPINGS = {
    # Markdown and its kin
    "quotation": ("no-nvidia-gpu", _each("> ")),
    "tight quotation": ("host-memory-exhausted", _each(">")),
    "quotation of a quotation": ("peer-access-unavailable", _each("> > ")),
    "mail's quotations": ("no-nvidia-gpu", _each(">> ")),
    "initials": ("host-memory-exhausted", _each("AL> ")),
    "list": ("peer-access-unavailable", _each("- ")),
    "list of stars": ("no-nvidia-gpu", _each("* ")),
    "list of bullets": ("host-memory-exhausted", _each("\u2022 ")),
    "numbered list": ("peer-access-unavailable", _numbered("%d. ")),
    "quoted list": ("no-nvidia-gpu", _each("> - ")),
    "indented": ("host-memory-exhausted", _each("    ")),
    "indented by tabs": ("peer-access-unavailable", _each("\t\t")),
    "fence": ("no-nvidia-gpu", _within("I get this:\n\n```\n", "\n```\n\nWhat is wrong?")),
    "fence of a language": ("host-memory-exhausted", _within("```shell\n", "\n```")),
    "quoted fence": ("peer-access-unavailable", lambda text: _each("> ")(f"```\n{text}\n```")),
    "code": ("no-nvidia-gpu", _each("`", "`")),
    "bold": ("host-memory-exhausted", _each("**", "**")),
    "bold code": ("peer-access-unavailable", _each("- **`", "`**")),
    "Slack": ("no-nvidia-gpu", _within("```", "```")),
    "Slack, with a name": ("host-memory-exhausted", _within("Ada Lovelace  10:12 AM\n```", "```")),
    "cell of a table": ("peer-access-unavailable", _each("| node7 | ", " | 3 |")),
    "only cell of a table": ("no-nvidia-gpu", _each("|", "|")),
    "cell with code": ("host-memory-exhausted", _each("| fails | `", "` |")),
    # HTML
    "details": ("peer-access-unavailable", _within("<details><summary>Log</summary>\n<pre>\n", "\n</pre>\n</details>")),
    "pre and code": ("no-nvidia-gpu", _within("<pre><code>", "</code></pre>")),
    "pre with classes": (
        "host-memory-exhausted",
        _within('<pre class="lang-py s-code-block"><code class="hljs">', "</code></pre>"),
    ),
    "HTML's entities": ("tensorflow-not-installed", lambda text: html.escape(text)),
    "HTML": ("no-nvidia-gpu", lambda text: "<p>" + html.escape(text).replace("\n", "<br/>\n") + "</p>"),
    "list in HTML": ("host-memory-exhausted", _each("<li>", "</li>")),
    # forums and trackers
    "Jira's code": ("peer-access-unavailable", _within("{code:java}\n", "\n{code}")),
    "Jira's code, tight": ("no-nvidia-gpu", _within("{code}", "{code}")),
    "Jira's noformat": ("host-memory-exhausted", _within("{noformat}", "{noformat}")),
    "Jira's quotation": ("peer-access-unavailable", _within("{quote}\n", "\n{quote}")),
    "BBCode": ("no-nvidia-gpu", _within("[code]", "[/code]")),
    "BBCode's quotation": ("host-memory-exhausted", _within('[QUOTE="ada, post: 41, member: 7"]', "[/QUOTE]")),
    "Discourse's quotation": ("peer-access-unavailable", _within('[quote="ada, post:2, topic:51"]\n', "\n[/quote]")),
    "reStructuredText": ("no-nvidia-gpu", lambda text: "::\n\n" + _each("   ")(text)),
    # data
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
    "logfmt": ("peer-access-unavailable", _each('time="2026-11-20T17:28:29Z" level=error msg="', '"')),
    "YAML": ("no-nvidia-gpu", lambda text: "stderr: |\n" + _each("  ")(text)),
    # numbers, times and names before each line
    "numbers and a bar": ("host-memory-exhausted", _numbered("%4d | ")),
    "numbers and an arrow": ("peer-access-unavailable", _numbered("%6d\u2192")),
    "numbers and a colon": ("no-nvidia-gpu", _numbered("%d:")),
    "numbers, a colon and a blank": ("host-memory-exhausted", _numbered("%d: ")),
    "numbers and a tab": ("peer-access-unavailable", _numbered("%6d\t")),
    "grep": ("no-nvidia-gpu", _numbered("train.log:%d:")),
    "grep's neighbours": ("host-memory-exhausted", _numbered("%d-")),
    "GitHub Actions": ("peer-access-unavailable", _each("2026-11-20T17:30:01.1234567Z ")),
    "GitHub Actions, of a job": ("no-nvidia-gpu", _each("train (3.12)\tRun tests\t2026-11-20T17:30:01.1234567Z ")),
    "GitHub Actions, an error": ("host-memory-exhausted", _each("2026-11-20T17:30:01.1234567Z ##[error]")),
    "GitHub's annotation": ("peer-access-unavailable", _each("::error::")),
    "GitLab": ("no-nvidia-gpu", _each("2026-11-20T17:30:01.123456Z 01O ")),
    "Kubernetes": ("host-memory-exhausted", _each("2026-11-20T17:30:01.123456789Z ")),
    "Kubernetes, by stern": ("peer-access-unavailable", _each("train-0 main ")),
    "Jenkins": ("no-nvidia-gpu", _each("[2026-11-20T17:30:01.123Z] ")),
    "Azure": ("host-memory-exhausted", _each("2026-11-20T17:30:01.1234567Z [stderr]")),
    "Airflow": ("peer-access-unavailable", _each("[2026-11-20, 17:30:01 UTC] {subprocess.py:93} INFO - ")),
    "Google Cloud": ("no-nvidia-gpu", _each("ERROR 2026-11-20T17:30:01.123456Z [resource.labels.taskName: workerpool0-0] ")),
    "CloudWatch": ("host-memory-exhausted", _each("2026-11-20T17:30:01.123+01:00\t")),
    "Docker's build": ("peer-access-unavailable", _each("#14 12.41 ")),
    "Compose": ("no-nvidia-gpu", _each("train-1  | ")),
    "syslog": ("host-memory-exhausted", _each("Nov 20 17:30:01 node7 train[4121]: ")),
    "loguru": ("peer-access-unavailable", _each("2026-11-20 17:30:01.123 | ERROR    | train:main:41 - ")),
    "tagged": ("no-nvidia-gpu", _each("[stderr] ")),
    "pytest": ("host-memory-exhausted", _each("E   ")),
    "clock": ("peer-access-unavailable", _each("(17:30:01) ")),
    # a terminal
    "after a prompt": ("no-nvidia-gpu", _within("(venv) ada@node7:~/model$ python train.py\n", "\n(venv) ada@node7:~/model$ ")),
    "after a root's prompt": ("host-memory-exhausted", _within("[root@node7 model]# python train.py\n", "")),
    "after PowerShell's": ("peer-access-unavailable", _within("PS D:\\model> python train.py\n", "")),
    "after Python's": ("no-nvidia-gpu", _within(">>> train()\n", "\n>>> ")),
    "after IPython's": ("host-memory-exhausted", _within("In [3]: train()\n", "\n\nIn [4]: ")),
    "after fish's": ("peer-access-unavailable", _within("ada@node7 ~/model> python train.py\n", "")),
    "after an arrow": ("no-nvidia-gpu", _within("\u279c  model git:(main) \u2717 python train.py\n", "")),
    "comment": ("host-memory-exhausted", _each("# ")),
    "comment of code": ("peer-access-unavailable", _each("// ")),
    "Windows": ("no-nvidia-gpu", lambda text: text.replace("\n", "\r\n") + "\r\n"),
    "colours": ("host-memory-exhausted", _each("\x1b[31m", "\x1b[0m")),
    "colours without escape": ("peer-access-unavailable", _each("[31m", "[0m")),
    "hard blanks": ("driver-missing", lambda text: text.replace("  ", "\u00a0 ").replace(": ", ":\u00a0")),
    "curly quotes": ("tensorflow-not-installed", lambda text: text.replace("'", "\u2019").replace('"', "\u201d")),
    "line of a diff": ("no-nvidia-gpu", _each("+")),
}
AS_A_WARNING = {"comment of code"}  # what a comment says need not have happened


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrapped(wrapping):
    code, wrap = WRAPPINGS[wrapping]
    wrapped = wrap(LOGS[code].text.rstrip("\n"))
    assert wrapped != LOGS[code].text
    (finding, *_) = log_findings(wrapped)
    assert finding.code == code
    assert finding.severity.value == ("warning" if wrapping in AS_A_WARNING else LOGS[code].level)
