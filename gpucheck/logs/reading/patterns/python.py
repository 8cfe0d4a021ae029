"""Python's tracebacks and imports, and the signals that end an interpreter."""

import re
import sys

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named

_SIGNALS = {"4": "SIGILL", "6": "SIGABRT", "7": "SIGBUS", "8": "SIGFPE", "9": "SIGKILL", "11": "SIGSEGV", "15": "SIGTERM"}
_WORDS = {
    "aborted": "SIGABRT",
    "segmentation fault": "SIGSEGV",
    "illegal instruction": "SIGILL",
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


_IMPORTED = ("tensorflow", "keras", "numpy", "scipy", "h5py", "absl", "wrapt", "six", "jax", "torch", "pandas")
_INSTALLED = re.compile(r"(?i)[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\](?:python\d[^/\\]*[/\\])?\w+\.py$")


def _own(match: "re.Match[str]") -> dict[str, str] | None:
    """A user's file that is named like a package, or like a module of Python's own; the file, where the line tells it."""
    fields = {name.rstrip("23"): value for name, value in (named(match) or {}).items()}
    module, file = fields.get("module", ""), fields.get("file", "")
    if _INSTALLED.search(file) or (module not in _IMPORTED and (not file or module not in sys.stdlib_module_names)):
        return None
    return fields


_EXCEPTION = (
    r"^(?:\w+ )?(?P<type>(?:[A-Za-z_]\w*\.)*(?!Xid)[A-Z]\w*(?:Error|Exception|Interrupt"
    r"|Exit))(?:\(\))?(?:: ?(?P<message>[^\n]*))?$"
)

PATTERNS = (
    Pattern(Kind.TRACEBACK, ("error", "exception", "keyboardinterrupt", "systemexit"), _EXCEPTION),
    Pattern(Kind.MODULE_MISSING, ("no module named",), r"No module named ['\"]?(?P<module>[\w.-]+)"),
    Pattern(
        Kind.MODULE_MISSING,
        ("tensorflow is not installed",),
        r"^(?:\w*Error: )?TensorFlow is not installed\b",
        fixed(module="tensorflow"),
    ),
    Pattern(Kind.IMPORT_FAILED, ("importerror",), r"\b(?P<type>ImportError): (?P<message>[^\n]+)", _import, continuation_lines=1),
    # a file of one's own, named like what it wants to import
    Pattern(
        Kind.MODULE_HIDDEN,
        ("is not a package",),
        r"No module named '(?P<module>\w+)\.[\w.]+'; '(?P=module)' is not a package",
        _own,
        continuation_lines=3,
    ),
    Pattern(
        Kind.MODULE_HIDDEN,
        ("cannot import name", "partially initialized", "consider renaming"),
        r"cannot import name '[^']*' from (?:partially initialized module )?'(?P<module>\w+)'[^\n]*"
        r"\((?:consider renaming ')?(?P<file>[^()'\n]*[/\\](?P=module)\.py)"
        r"|module '(?P<module2>\w+)' has no attribute '\w+' \(consider renaming '(?P<file2>[^'\n]*[/\\](?P=module2)\.py)'"
        r"|partially initialized module '(?P<module3>\w+)' has no attribute",
        _own,
    ),
    Pattern(Kind.OWN_FILE, ('file "',), r'\bFile "(?P<file>[^"\n]*[/\\](?P<module>\w+)\.py)", line \d+, in <module>', _own),
    Pattern(
        Kind.IMPORT_FAILED,
        ("dll load failed",),
        r"(?:(?P<type>\b\w{0,60}Error): )?(?P<message>DLL load failed[^\n]*)",
        _import,
        continuation_lines=1,
    ),
    Pattern(
        Kind.IMPORT_FAILED,
        ("native tensorflow runtime",),
        r"Failed to load the native TensorFlow runtime",
        fixed(module="tensorflow", type="ImportError", message="native runtime"),
    ),
    Pattern(
        Kind.IMPORT_FAILED,
        ("self-check failed",),
        r"Could not (?:find|load) (?P<message>the DLL\(s\) 'msvcp\w+\.dll[^\n]{0,60})",
        fixed(module="tensorflow"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.IMPORT_FAILED,
        (
            "descriptors cannot",
            "descriptors should not",
            "numpy.dtype size changed",
            "compiled using numpy 1.x",
            "_array_api not found",
            "multiarray failed to import",
            "incompatible protobuf",
            "'messagefactory' object",
            "module 'numpy' has no attribute",
            "unable to convert function return value",
        ),
        r"(?P<message>Descriptors (?:cannot|should) (?:not )?be created directly|numpy\.dtype size changed"
        r"|[Ii]ncompatible Protobuf [\w/ ]*versions|'MessageFactory' object has no attribute"
        r"|module 'numpy' has no attribute '\w+'|Unable to convert function return value to a Python type"
        r"|compiled using NumPy 1\.x cannot be run in"
        r"|_ARRAY_API not found|numpy\.core\.multiarray failed to import)",
        lambda match: {**(named(match) or {}), "module": "google.protobuf" if _PROTOBUF.search(match[0]) else "numpy"},
    ),
    # a file of one's own named tensorflow.py, or an installation without its files
    Pattern(
        Kind.IMPORT_FAILED,
        ("module 'tensorflow' has no attribute",),
        r"(?P<message>module 'tensorflow' has no attribute '(?:__version__|constant|Variable|keras|config|data|io|function|compat"
        r"|random|python|math|reduce_\w+|Tensor)')",
        fixed(module="tensorflow"),
    ),
    Pattern(
        Kind.CPU_INSTRUCTIONS_MISSING,
        ("compiled to use", "was built using"),
        r"(?:(?:TensorFlow library|jaxlib|version of jaxlib) was (?:compiled|built) (?:to use|with|using)|\bcompiled to use) "
        r"(?P<instructions>\w+)"
        r"[^\n]{0,60}?(?:aren't available|not available|do(?:es)? not support)",
        continuation_lines=3,
    ),
    # -- the end --
    Pattern(
        Kind.KILLED,
        ("(core dumped)",),
        r"(?P<word>(?i:Aborted|Segmentation fault|Illegal instruction|Bus error|Floating point exception)) +\(core dumped\)",
        _signal,
    ),
    Pattern(
        Kind.KILLED,
        ("aborted", "killed", "terminated", "segmentation fault", "illegal instruction", "bus error"),
        r"^(?:Fatal Python error: |\S+: line \d+: +\d+ |[^\n]*(?:s/step|it/s)[^\n]*[\d\]])?"  # a bar has no end of its line
        r"(?P<word>Aborted|Killed|Terminated|Segmentation fault"
        r"|Illegal instruction|Bus error)\b"
        r"(?=\W*$| {2,}| *\()|: line \d+: +\d+ (?P<job>Aborted|Killed|Segmentation fault|Bus error)\b"
        r"|\bsignal: (?P<signal>killed|terminated|aborted|segmentation fault)\b",
        lambda match: _signal(match) if match["word"] else {"signal": _WORDS[(match["job"] or match["signal"]).lower()]},
    ),
    # macOS: bash puts the signal's number behind its name, zsh says who it is
    Pattern(
        Kind.KILLED,
        ("illegal instruction:", "illegal hardware instruction", "segmentation fault:", "bus error:", "zsh: "),
        r"^(?P<word>Illegal instruction|Segmentation fault|Bus error): \d+$"
        r"|^zsh: (?P<zsh>killed|illegal hardware instruction|segmentation fault|bus error) ",
        lambda match: {"signal": _WORDS[(match["word"] or match["zsh"]).lower().replace(" hardware", "")]},
    ),
    Pattern(
        Kind.KILLED,
        ("signals.sig", "exit code", "exitcode", "exited with code", "signal "),
        r"(?:died with|<)\W{0,4}Signals\.(?P<name>SIG\w+)|(?i:exit(?:ed)?(?: with)? ?(?:code|status)"
        r"|exitcode)\W{1,8}-?(?P<number>4|6|7|9|11|134|135|137|139)\b"
        r"|(?i:killed by|terminated by|received) (?:signal )?(?P<number2>\d+|SIG\w+)",
        lambda match: (
            _signal(match) if match["name"] or match["number"] else {"signal": _SIGNALS.get(match["number2"], match["number2"])}
        ),
    ),
)
