"""What a person answered in an issue's form, or says in passing: the system, TensorFlow's version and Python's.

A form has a heading and its answer below ("### OS platform and distribution"), a label and its answer behind it ("- Python
version: 3.12"), or a row of a table.
"""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Fields, Pattern

OS, TENSORFLOW, PYTHON = Kind.OS_NAMED, Kind.TENSORFLOW_NAMED, Kind.PYTHON_NAMED

_TO_ANSWER = r"(?: ?\([^()\n]{0,120}\))?[\s*_`:=|?-]{1,12}(?:(?:is|are|was) )?"
_SYSTEMS = {  # the first that fits
    "wsl": r"\bWSL ?[12]?\b|Windows Subsystem for Linux|microsoft-standard",
    "windows": r"\bWindows\b|\bWin ?(?:7|8|10|11)\b|\bwin32\b",
    "macos": r"\bmac ?OS\b|\bOS ?X\b|\bDarwin\b|\bMac(?:Book)?\b",
    "linux": r"Linux|Ubuntu|Debian|Fedora|CentOS|\bRHEL\b|Red ?Hat|\bRocky\b|\bArch\b|SUSE|\bMint\b|\bPop!?_OS\b|NixOS|Gentoo",
}
_ANSWER = 60  # characters: behind them stands the next heading


def _system(labelled: str) -> Fields:
    def fields(match: "re.Match[str]") -> dict[str, str] | None:
        if labelled == "no" and "e.g." in match.string:
            return None  # a form's own words
        answer = match.string[match.start("os") : match.start("os") + _ANSWER]
        answer = re.split(
            r"(?i)\b(?:mobile device|(?:tensorflow|python|cuda|bazel|gcc)\b(?:/\w+)? (?:version|installed))", answer
        )[0]
        system = next((name for name, pattern in _SYSTEMS.items() if re.search(pattern, answer, re.IGNORECASE)), None)
        return {"os": system, "labelled": labelled} if system else None

    return fields


def _version(name: str, labelled: str) -> Fields:
    return lambda match: {name: match[name], "labelled": labelled}


_TENSORFLOW = r"(?P<tensorflow>[12]\.\d{1,2}(?:\.\d+)?(?:-?rc\d+|\.dev\d+)?)(?![\w.]*(?:whl|tar))"
_PYTHON = r"(?P<python>3\.\d{1,2})(?!\d)"

PATTERNS = (
    Pattern(
        OS,
        ("os platform", "operating system", "os version", "os:", "os**", "os |", "platform:"),
        r"(?i)(?:\bOS (?:platform(?! (?:and|&))|platform (?:and|&) distribution|version|name)"
        r"|\bOperating systems?(?: and version)?|\b(?:OS|Platform)(?=[*_`]*\s*[:|=]))"
        rf"{_TO_ANSWER}(?P<os>[A-Za-z][^\n]*)",
        _system("yes"),
        continuation_lines=3,
    ),
    Pattern(
        TENSORFLOW,
        ("tensorflow version", "tensorflow-gpu version", "tf version", "tensorflow:", "tensorflow**", "tensorflow |"),
        rf"(?i)\b(?:TensorFlow|TF)(?:[ -]gpu)?(?: version)?{_TO_ANSWER}(?:(?:tf|v|tensorflow(?:-gpu)?)[ =v-]*)?{_TENSORFLOW}",
        _version("tensorflow", "yes"),
        continuation_lines=3,
    ),
    Pattern(
        PYTHON,
        ("python version", "python:", "python**", "python |"),
        rf"(?i)\bPython(?: version)?{_TO_ANSWER}(?:(?:v|python)[ ]?)?{_PYTHON}",
        _version("python", "yes"),
        continuation_lines=3,
    ),
    # in passing
    Pattern(
        OS,
        ("windows 1", "windows10", "windows11", "win10", "win11", "win 1"),
        r"(?i)\b(?P<os>Win(?:dows)? ?1[01]\b)",
        _system("no"),
    ),
    Pattern(OS, ("ubuntu", "wsl2"), r"(?i)\b(?P<os>(?:X?K?ubuntu (?:linux )?\d\d\.\d\d|WSL2)\b)", _system("no")),
    Pattern(
        TENSORFLOW,
        ("tensorflow 2.", "tf 2.", "tf2.", "tensorflow-gpu 2.", "tensorflow v2."),
        r"(?i)\b(?:TensorFlow|TF)(?:[ -]gpu)? ?v?(?P<tensorflow>2\.\d{1,2}(?:\.\d+)?)(?!\w|\.\d)",
        _version("tensorflow", "no"),
    ),
    Pattern(PYTHON, ("python 3.",), rf"(?i)\bPython {_PYTHON}", _version("python", "no")),
    # what they complain of
    Pattern(
        Kind.GPU_UNSEEN,
        (
            *(
                f"{no} {verb}"
                for no in ("not", "n't")
                for verb in ("detect", "recogn", "see", "find", "us", "list", "show", "access")
            ),
            *(
                f"{no} to {verb}"
                for no in ("unable", "fails", "failed")
                for verb in ("detect", "recogn", "see", "find", "us", "access")
            ),
            *("cannot find", "gpu not", "gpu is not", "gpus not", "gpu isn't"),
        ),
        r"(?i:\b(?:tensorflow|tf|keras)\b[^\n.;|]{0,30}?(?:\bnot|n't|\bcannot|\bunable to|\bfail(?:s|ed)? to)(?: \w+)? "
        r"(?:detect|see|find|recogni[sz]|us[ei]|list|show|access)\w*\b[^\n.;|]{0,24}?\bGPUs?\b"
        r"|\bGPUs?\b[^\n.;|]{0,24}?(?:\bnot|n't)(?: \w+)? (?:detected|found|recogni[sz]ed|visible|listed|used|seen|available)\b"
        r"[^\n.;|]{0,24}?\b(?:tensorflow|tf|keras)\b)",
        continuation_lines=1,
    ),
)
