"""Strip a raw log line to its message: without colors, timestamp, rank, pod, file name and line number."""

import re
from typing import NamedTuple

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colors and cursor movements
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles and hyperlinks
    r"|\x1b[@-Z\\-_]"
    r"|[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe]"  # NUL too: UTF-16 read as UTF-8 has one after every letter
    r"|(?<!001b)(?<!x1b)(?<!033)\[(?:0|0?1|22|39|[39][0-7]|(?:0|0?1);[39][0-7])m"  # colors whose escape character is missing
)

# Docker's json-file driver, one record per line.
_JSON = re.compile(r'^\{"log":"(.*?)(?:\\n)?","(?:stream|time|attrs)":')

# A line of output in a notebook file: a JSON string with escaped colors.
_CELL = re.compile(r'^"(.*?)(?:\\[rn])*",?$')
_SPELLED_COLOUR = re.compile(r"\\u001b\[[\d;]*m")

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_TAG = (
    r"</?(?:pre|code|samp|kbd|tt|p|div|span|font|ul|ol|li|table|tbody|tr|td|th|blockquote|details|summary|b|i|em|strong|br)\b"
    r"[^<>\n]{0,200}>"
    r"|\[/?(?i:code|quote|pre|spoiler|details|icode|php|bash)\b[^\]\n]{0,100}\]"  # BBCode, Discourse
    r"|\{(?:code|noformat|quote|panel)(?::[^}\n]{0,80})?\}"  # Jira
)

# A prefix that starts a record: the line does not continue the previous one.
_HEAD = re.compile(
    "|".join(
        (
            r"\[?\d{4}[-/]\d\d[-/]\d\d(?:T|,?[ ])\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d|[ ]UTC)?\]?:?[ ]*",
            r"[\[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?(?:[ ]+|$)",
            rf"{_MONTH}[ ]+\d\d?[ ]\d\d:\d\d:\d\d(?:\.\d+)?[ ][\w.-]+[ ](?:[\w./@-]+(?:\[\d+\])?:[ ]+)?",  # syslog, journal
            rf"\[{_DAY}[ ]{_MONTH}[ ]+\d+[ ]\d\d:\d\d:\d\d[ ]\d{{4}}\][ ]*",  # dmesg -T
            r"\[[ ]*\d+\.\d{6}\][ ]*",  # dmesg
            r"kernel:[ ]+",
            # absl and glog, with or without date, time and thread; also without the first part, in wrapped pastes
            r"(?:[IWEF](?:\d{8}|\d{4})[ ]+)?(?:\d\d:\d\d:[\d.]+[ ]+)?(?:\d+[ ]+)?[\w./+-]+\.(?:cc|cpp|c|h|hpp|inc|cu"
            r"|py|go):\d+\][ ]*",
            r"[IWEF][ ][^\s\]]+:\d+\][ ]*",  # TensorFlow 1 and 2
            rf"{_LEVEL}:[A-Za-z_][\w.]*:[ ]*",  # Python's logging
            rf"{_LEVEL}:\d{{4}}-\d\d-\d\d[ ]\d\d:\d\d:\d\d,\d+:[\w.]+:\d+:[ ]*",  # JAX's
            rf"\[{_LEVEL}\][ ]*",
            rf"{_LEVEL}[ ]+-[ ]+",
            rf"{_LEVEL}[ ]+(?=\d{{4}}-\d\d-\d\dT)",  # Google Cloud
            rf"{_LEVEL}[ ]+\|[ ]+[\w.<>]+:[\w.<>]+:\d+[ ]-[ ]",  # loguru
            r"\{\w[\w.]*:\d+\}[ ]",  # Airflow
            r"(?:(?:time|ts|t|level|lvl|logger|caller|source)=(?:\"[^\"]*\"|[^\s\"]\S*)[ ]+)+"
            r"(?:msg|message|err|error)=\"?",  # logfmt
            r"[\w.-]+:\d+:\d+[ ]\[\d+\][ ]+",  # NCCL: host:pid:thread [device]
        )
    )
)

# A prefix that every line of a stream has, also continuation lines.
_MARK = re.compile(
    "|".join(
        (
            r"\#\d+[ ]\d+\.\d+[ ]",  # docker build
            r"[\s#>|]+",  # indentation, comments, quotations, table cells
            r"(?:[-*+]|//+|\d{1,3}[.)]|[\u2022\u25e6\u00b7\u2013\u2014\u25cf])[ ]+",  # lists, comments
            r"[A-Z]{2,3}>[ ]?",  # a quotation with initials
            r"\+(?=[A-Za-z\[])",  # a line of a diff
            _TAG,
            r"[\[{ ]{0,8}\\{0,4}\"[\w.@/-]{1,40}\\{0,4}\" ?: ?[\[{ ]{0,8}\\{0,4}\"",  # a JSON key and the start of its value
            r"\[(?:rank|default|worker|ps|chief)[ _-]?\d+\]:?[ ]*",
            r"\[\d+(?:,\d+)*\](?:<std(?:out|err|diag)>)?:[ ]*",  # mpirun
            r"\d{1,7}(?::[ ]+|:(?=[^\d\s])|[ ]*[|\u2192\u2502][ ]*|\t|-(?=[A-Z\[ ]))",  # srun --label, grep -n, editors
            r"[\w./-]{1,80}\.(?:log|txt|out|err)(?::\d+:|-\d+-|:[ ])",  # grep on files
            r"[^\t\n]{1,80}\t[^\t\n]{1,80}\t(?=\d{4}-\d\d-\d\dT)",  # gh run view --log
            r"##\[\w+\]|::(?:error|warning|notice|debug)(?:[ ][^:\n]{0,80})?::",  # GitHub Actions, Azure
            r"\d\d[OE][+ ]",  # GitLab, after its timestamp
            r"\[(?:std(?:out|err)|err|out|error|info|warn(?:ing)?)\][ ]*|(?:stdout|stderr)[:|][ ]*",
            r"\[resource\.[^\]\n]{0,80}\][ ]*",  # Google Cloud
            r"[a-z][a-z\d-]*-\d+[ ][a-z][a-z\d-]*[ ](?=[A-Z\d\[ ])",  # stern: pod and container
            r"E[ ]{3}",  # pytest
            r"\[pod/[^\]\s]+\][ ]*",  # kubectl logs --prefix
            r"[\w.-]+-\d+[ ]+\|[ ]",  # docker compose
            r"\([\w ]*pid=\d+(?:, ip=[\d.]+)?\)[ ]*",  # Ray
            r"<\d{1,2}>",  # priority in /dev/kmsg
            r"(?:stdout|stderr)[ ][FP][ ]",  # CRI log files
        )
    )
)

# The end of a progress bar of Keras or tqdm that a message follows in the same line: the bar ends without a line end.
_BAR_MARKS = ("/step", "ETA:", "it/s", "s/it")
_METRIC = r" - [\w ./@+-]{1,40}: "
_NUMBER = r"(?:-?\d{1,12}\.\d{4}(?:e[+-]\d\d|(?!e[+-]\d))|nan|inf)"
_MESSAGE = r"(?=[A-Za-z/]|\[?\d{4}-\d\d-\d\d|\[[A-Z])"
_BAR_END = re.compile(
    rf"(?:ETA: [\d:smh]{{1,12}}(?![\d:smh])|\d[mu]?s/step)(?:{_METRIC}{_NUMBER}){{0,40}}(?!{_METRIC}){_MESSAGE}"
    rf"|\d(?:s/it|it/s)(?:, [^\r\n]{{1,80}}?)?\]{_MESSAGE}"
)

_TAIL = re.compile(rf"(?:[ ]*(?:{_TAG}))+$")
_MOST_CHARACTERS = 2048  # maximum characters of a line: many patterns take quadratic time
_END = 200  # characters at the end in which closing marks are searched
_CLOSED = re.compile(r"(?:\\{0,4}\"[ \]}),]*)+$")  # the end of a string and of the list and record around it


class Message(NamedTuple):
    """A line without its prefixes."""

    text: str
    headed: bool  # it had a prefix that starts a record


def plain(line: str) -> str:
    """Return the line as displayed: without colors, control characters and surrounding spaces."""
    return _CONTROL.sub("", line).strip()


def after_bar(line: str) -> str:
    """Return the message that follows a progress bar in its line; other lines as they are."""
    ends = [bar.end() for bar in _BAR_END.finditer(line)] if any(mark in line for mark in _BAR_MARKS) else []
    return line[ends[-1] :] if ends else line


def ends(line: str) -> str:
    """Return the line; for a very long one, as programs write without line ends, its start and end."""
    return line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS // 2]} {line[-_MOST_CHARACTERS // 2 :]}"


def clean(line: str) -> Message:
    """Return the message of a line.

    ``"2026-11-20 17:28:29.082674: I tsl/file.cc:95] Opened"`` -> ``Message("Opened", True)``. Never raises.
    """
    text = plain(line)
    if text.startswith("{") and (record := _JSON.match(text)):
        text = record[1].replace('\\"', '"').replace("\\t", " ").replace("\\u003c", "<").replace("\\u003e", ">")
        text = text.replace("\\r", "").replace("\\\\", "\\")
    elif text.startswith('"') and (cell := _CELL.match(text)):
        text = _SPELLED_COLOUR.sub("", cell[1]).replace('\\"', '"').replace("\\t", " ").replace("\\\\", "\\").strip()
    if "\\_" in text:  # an underscore escaped in Markdown
        text = text.replace("\\_", "_")
    headed = False
    for _ in range(4):  # a quotation may contain a list, which may contain code
        text, more = _after_prefixes(text)
        headed = headed or more
        inner = _inside(text)
        if inner == text:
            break
        text = inner
    return Message(text, headed)


def headless(text: str) -> str:
    """Return a line without the prefixes that start a record, for a sentence that quotes it."""
    text = plain(text)
    while (head := _HEAD.match(text)) and head.end():
        text = text[head.end() :]
    return text


def _after_prefixes(text: str) -> tuple[str, bool]:
    """Return the text after all prefixes, and whether one of them starts a record."""
    position, headed, quoted = 0, False, False
    for _ in range(16):
        if head := _HEAD.match(text, position):
            headed = True
        elif not (head := _MARK.match(text, position)):
            break
        position = head.end()
        quoted = quoted or head[0].endswith('"')
    text = text[position:].rstrip(" |")
    return (text[:-_END] + _CLOSED.sub("", text[-_END:]) if quoted else text), headed


def _inside(text: str) -> str:
    """Return the text without surrounding marks: code, bold, closing tags."""
    if text.endswith((">", "]", "}")):
        text = text[:-_END] + _TAIL.sub("", text[-_END:])
    if text.startswith("```") or text.endswith("```"):
        return text.strip("`").strip()
    for mark in ("**", "__", "``", "`", "*"):
        size = len(mark)
        if len(text) > 2 * size and text.startswith(mark) and text.endswith(mark) and mark not in text[size:-size]:
            return text[size:-size].strip()
    return text
