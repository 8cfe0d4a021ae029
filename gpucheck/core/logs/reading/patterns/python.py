"""Python's tracebacks and imports, and the signals that end an interpreter."""

import re
import sys

from gpucheck.core.logs.reading.patterns import named

_SIGNALS = {"4": "SIGILL", "6": "SIGABRT", "7": "SIGBUS", "8": "SIGFPE", "9": "SIGKILL", "11": "SIGSEGV", "15": "SIGTERM"}
_WORDS = {
    "aborted": "SIGABRT",
    "segmentation fault": "SIGSEGV",
    "illegal instruction": "SIGILL",
    "illegal hardware instruction": "SIGILL",
    "bus error": "SIGBUS",
    "killed": "SIGKILL",
    "terminated": "SIGTERM",
    "floating point exception": "SIGFPE",
}


_PROTOBUF = re.compile(r"Descriptors|[Pp]rotobuf|MessageFactory")


def _signal(match: "re.Match[str]") -> dict[str, str] | None:
    caught = named(match) or {}
    if "number" in caught:
        number = int(caught["number"])
        name = _SIGNALS.get(str(number - 128 if number > 128 else number))
        return {"signal": name} if name else None
    if "name" in caught:
        return {"signal": caught["name"]}
    if "caught" in caught:
        return {"signal": _SIGNALS.get(caught["caught"], caught["caught"])}
    return {"signal": _WORDS[caught["word"].lower()]}


def _import(match: "re.Match[str]") -> dict[str, str] | None:
    """What could not be imported: named by the message, or by the file that the loader refused."""
    fields = named(match) or {}
    message = fields.get("message", "")
    module = re.search(r"while importing ([\w.]+)|from '([\w.]+)'|/site-packages/(\w+)/|/dist-packages/(\w+)/", message)
    if module:
        fields["module"] = next(group for group in module.groups() if group)
        if fields["module"].startswith("_pywrap_tensorflow"):
            fields["module"] = "tensorflow"
    return fields


def _binary(match: "re.Match[str]") -> dict[str, str] | None:
    return {**(named(match) or {}), "module": "google.protobuf" if _PROTOBUF.search(match[0]) else "numpy"}


_IMPORTED = ("tensorflow", "keras", "numpy", "scipy", "h5py", "absl", "wrapt", "six", "jax", "torch", "pandas")
_INSTALLED = re.compile(r"(?i)[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\](?:python\d[^/\\]*[/\\])?\w+\.py$")


def _own(match: "re.Match[str]") -> dict[str, str] | None:
    """A user's file that is named like a package, or like a module of Python's own; the file, where the line tells it."""
    fields = named(match) or {}
    module, file = fields.get("module", ""), fields.get("file", "")
    if _INSTALLED.search(file) or (module not in _IMPORTED and (not file or module not in sys.stdlib_module_names)):
        return None
    return fields
