"""A raw log line down to its message: no colours, no timestamp, no rank, no pod, no file name and line number."""

import re
from typing import NamedTuple

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles and hyperlinks
    r"|\x1b[@-Z\\-_]"
    r"|[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe]"  # NUL too: UTF-16 read as UTF-8 leaves one behind every letter
)

# Docker's json-file driver, one record per line.
_JSON = re.compile(r'^\{"log":"(.*?)(?:\\n)?","(?:stream|time|attrs)":')

# A line of output in a notebook's file: a string in JSON, with its colours spelled out.
_CELL = re.compile(r'^"(.*?)(?:\\[rn])*",?$')
_SPELLED_COLOUR = re.compile(r"\\u001b\[[\d;]*m")

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"

# A prefix that starts a record: what follows cannot be the continuation of the line before.
_HEAD = re.compile(
    "|".join(
        (
            r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?\]?:?[ ]*",
            r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?(?:[ ]+|$)",
            rf"{_MONTH}[ ]+\d\d?[ ]\d\d:\d\d:\d\d(?:\.\d+)?[ ][\w.-]+[ ](?:[\w./@-]+(?:\[\d+\])?:[ ]+)?",  # syslog, journal
            rf"\[{_DAY}[ ]{_MONTH}[ ]+\d+[ ]\d\d:\d\d:\d\d[ ]\d{{4}}\][ ]*",  # dmesg -T
            r"\[[ ]*\d+\.\d{6}\][ ]*",  # dmesg
            r"kernel:[ ]+",
            # absl and glog, with or without date, time and thread; also where a wrapped paste lost the first part
            r"(?:[IWEF](?:\d{8}|\d{4})[ ]+)?(?:\d\d:\d\d:[\d.]+[ ]+)?(?:\d+[ ]+)?[\w./+-]+\.(?:cc|cpp|h|hpp|inc|cu"
            r"|py|go):\d+\][ ]*",
            r"[IWEF][ ][^\s\]]+:\d+\][ ]*",  # TensorFlow 1 and 2
            rf"{_LEVEL}:[A-Za-z_][\w.]*:[ ]*",  # Python's logging
            rf"\[{_LEVEL}\][ ]*",
            rf"{_LEVEL}[ ]+-[ ]+",
            r"[\w.-]+:\d+:\d+[ ]\[\d+\][ ]+",  # NCCL: host:pid:thread [device]
        )
    )
)

# A prefix that every line of a stream carries, continuation or not.
_MARK = re.compile(
    "|".join(
        (
            r"[\s#>|]+",  # indentation, comments, quotations, table cells
            r"-[ ]",
            r"\[(?:rank|default|worker|ps|chief)[ _-]?\d+\]:?[ ]*",
            r"\[\d+(?:,\d+)*\](?:<std(?:out|err|diag)>)?:[ ]*",  # mpirun
            r"\d+:[ ]+",  # srun --label, grep -n
            r"\[pod/[^\]\s]+\][ ]*",  # kubectl logs --prefix
            r"[\w.-]+-\d+[ ]+\|[ ]",  # docker compose
            r"\([\w ]*pid=\d+(?:, ip=[\d.]+)?\)[ ]*",  # Ray
            r"<\d{1,2}>",  # priority in /dev/kmsg
            r"(?:stdout|stderr)[ ][FP][ ]",  # CRI log files
        )
    )
)


class Message(NamedTuple):
    """A line without its prefixes."""

    text: str
    headed: bool  # it carried a prefix that starts a record


def plain(line: str) -> str:
    """The line as a person would see it: without colours, control characters and surrounding blanks."""
    return _CONTROL.sub("", line).strip()


def clean(line: str) -> Message:
    """The message of a line.

    ``"2026-11-20 17:28:29.082674: I tsl/file.cc:95] Opened"`` -> ``Message("Opened", True)``. Never raises.
    """
    text = plain(line)
    if text.startswith("{") and (record := _JSON.match(text)):
        text = record[1].replace('\\"', '"').replace("\\t", " ").replace("\\u003c", "<").replace("\\u003e", ">")
        text = text.replace("\\r", "").replace("\\\\", "\\")
    elif text.startswith('"') and (cell := _CELL.match(text)):
        text = _SPELLED_COLOUR.sub("", cell[1]).replace('\\"', '"').replace("\\\\", "\\").strip()
    if "\\_" in text:  # Markdown's way to write a plain underscore
        text = text.replace("\\_", "_")
    position, headed = 0, False
    for _ in range(12):
        if head := _HEAD.match(text, position):
            headed = True
        elif not (head := _MARK.match(text, position)):
            break
        if head.end() == position:
            break
        position = head.end()
    return Message(text[position:].rstrip(" |"), headed)


def split(line: str, limit: int) -> list[str]:
    """The parts of a line that was overwritten in place, as progress bars do, none of them longer than ``limit``."""
    parts = line.replace("\b", "\r").replace("\0", "").split("\r") if "\r" in line or "\b" in line or "\0" in line else [line]
    short = []
    for part in parts:
        if len(part) <= limit:
            short.append(part)
        else:  # pieces overlap, so that a message on a seam is whole in one of them
            short += [part[start : start + limit] for start in range(0, len(part), limit - limit // 8)]
    return [part for part in short if part] or [""]
