"""What a person answered in an issue's form, or says in passing: which system it is."""

import re

_SYSTEMS = {  # the first that fits
    "wsl": r"\bWSL ?[12]?\b|Windows Subsystem for Linux|microsoft-standard",
    "windows": r"\bWindows\b|\bWin ?(?:7|8|10|11)\b|\bwin32\b",
    "macos": r"\bmac ?OS\b|\bOS ?X\b|\bDarwin\b|\bMac(?:Book)?\b",
    "linux": r"Linux|Ubuntu|Debian|Fedora|CentOS|\bRHEL\b|Red ?Hat|\bRocky\b|\bArch\b|SUSE|\bMint\b|\bPop!?_OS\b|NixOS|Gentoo",
}
_ANSWER = 60  # characters: behind them stands the next heading


def _system(match: "re.Match[str]") -> dict[str, str] | None:
    answer = match.string[match.start("os") : match.start("os") + _ANSWER]
    answer = re.split(r"(?i)\b(?:mobile device|(?:tensorflow|python|cuda|bazel|gcc)\b(?:/\w+)? (?:version|installed))", answer)[0]
    system = next((name for name, pattern in _SYSTEMS.items() if re.search(pattern, answer, re.IGNORECASE)), None)
    return {"os": system} if system else None


def _mentioned(match: "re.Match[str]") -> dict[str, str] | None:
    return None if "e.g." in match.string else _system(match)  # a form's own words
