"""Detect lines that mention a failure that did not happen: source code with a message, advice, tables of codes.

A cause that is only mentioned is reported, but not as an error: nothing shows that it occurred.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from gpucheck.core.logs.reading import lines as raw

_MOST_LINES = 400  # first lines, which decide whether a text is a listing
_FEWEST = 3  # minimum lines of code in a listing
_SHARE = 0.4  # minimum share of code in the lines that are neither empty nor comments

_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_NOTHING = '""'

# Advice and change logs. Sentences with "I" or "we" report what happened.
_SUPPOSED = re.compile(
    r"(?i)\b(?:if|in case|unless|should)\b (?!I\b|we\b|this is )[^.;]*"
    r"|\b(?:errors?|messages?|warnings?|failures?) (?:like|such as)\b|\b(?:e\.g\.|for example|for instance|such as,)"
    r"|\b(?:can|may|might|could|would|will) (?:(?:also|still|otherwise|then|sometimes|even) )?"
    r"(?:see|get|encounter|hit|face|fail|raise|throw|cause|trigger|result|lead|enable|show|print|report|crash|be caused)\b"
    r"|\b(?:avoid(?:s|ing)?|prevent(?:s|ing)?|to (?:fix|silence|suppress|work around))\b|\bwithout (?:this|that|which)\b"
    r"|^\W*(?:fix(?:es|ed)?|handles?d?|avoid(?:s|ed)?|prevent(?:s|ed)?|resolve[sd]?|work(?:s|ed)? around)\b(?!\W*[:*])"
    r"|\b(?:no|without|never) [`'\"]?(?:[A-Z]+_){2,}"
    r"|如果|若出现|可能(?:会|报|出现)|避免|例如|比如|ないこと|場合|もし|만약|경우|(?<!\w)если\b"
    r"|\b(?:si (?:vous|ves|obtienes|recibe|aparece)|falls|neu gap|nếu)\b"
)
_MESSAGE_START = re.compile(r"(?:Error|ERROR|Warning|WARNING|Exception): ")  # a program's message follows, maybe with advice
_FAILURE = re.compile(
    r"(?i)\b(?:errors?|fail\w*|out of memory|oom|not found|cannot|can't|could not|couldn't|unable|unknown|mismatch\w*"
    r"|insufficient|no kernel|lost|missing|denied|killed|unsupported|invalid|xid|already in use)\b|[a-z]Error[A-Z]"
    r"|_(?:ERROR|STATUS)_"
)
_SENTENCE_END = re.compile(r"[.!?] +(?=[A-Z])")
_ROW = re.compile(r"\| *`?(?:Xid |SXid )?\d{1,5}`? *\|(?! *\d)")  # a row of a table of codes
_LINK = re.compile(r"\]\([\w./-]*(?:\.md|#)")  # to the same documentation
# Comments in languages where nothing else starts like that, and definitions of constants.
_SOURCE = re.compile(
    r"//(?!/*\w+/)|/\*|\*/|<!--|\{#|#define\b|\w+ = (?:-?\d+|0x\w+),$|case [A-Z_a-z.:0-9]+:"
    r"|(?:el)?if\b.*(?::|\{|\bthen|\[)$|\|\| |&& |assert |expect\("
)
_SEARCHES = re.compile(
    r"\b(?:[ez]?grep|rg|awk|sed) (?:-\w+ )*['\"]|\bre\.(?:search|compile|findall|match|sub)\(|\.(?:includes|contains)\("
)
_SESSION = re.compile(r">>> |In ?\[\d*\]:|[\w *>-]+\(e\.g\.[^()]*\)[*_]*:")  # of an interpreter; a question of an issue form
_PROSE = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]+ ){3}[^\W\d_]")
_NOTEBOOK = re.compile(r"\\n\",?$")
_OPEN_END = re.compile(r"(?:[;\\{(\[]|\"\"(?:\.\w+\(\))? ?[)\]}]*,|\"\" ?[)\]}]+:?)$")  # with empty strings
_PAIR = re.compile(r"[{\[ ]*\"\" *:")  # a JSON record is output
# so are lines of Python or a logger
_REPRESENTED = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning)\(\"\"|^\w+=\S|\w=\"\"(?: |$)|\breturncode=-?\d|\bstd(?:err|out)=b\"\""
    r"|^\S+\.(?:c|cc|cpp|cu|h|hpp):\d+: (?:\w+\(|.*\bAssertion\b)"  # C assertions
)

_PRINTED = re.compile(r"\[?(?:\w+\.)?(?:[Tt]ensor|Size|array|(?:Physical|Logical)Device)\(")  # values, as printed by Python
_CODE = re.compile(
    r"(?:import \w|from \S+ import |def \w|class \w|return\b|const |let |var |export |function\b|public |private |static |void "
    r"|int |#include|typedef |switch\b|for \w.*[:{]$|while\b.*[:{]$|try:|except\b|else\b|elif |if .*(?::|\{|then)$|fi$|done$"
    r"|esac$|echo |break;?$|raise\b|with .*:$|@\w)|.*\S *[;{]$|.*; *\}$"
    r"|[\w.\[\]'\"]+(?:: ?[\w.\[\]]+)? [-+|&:]?= (?![-\d.]|nan|inf)\S"
    r"|[\w.* ]*\w\(.*\)[;:,]?$"
)
_NEUTRAL = re.compile(r"[{}\[\](),;]*$|#(?![!\w])|//|/?\*|\"\"\"|--(?: |$)")
# Output of a program, a shell or an interpreter; code has no such lines.
_OUTPUT = re.compile(
    r"Traceback \(most|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt): |.*\.py:\d+: \w+Warning: "
    r"|[$%] \w|>>> |In ?\[\d*\]:|[^\s@]{1,80}@[^\s:~]{1,80}[:~]|\"(?:cell|output)_type\": "
)


def is_only_mentioned(line: str) -> bool:
    """Whether a line that names a failure, from ``lines.plain``, is source code, a hypothetical case or a table row."""
    line = raw.ends(line.strip())
    if _ROW.match(line) or _LINK.search(line) or _SOURCE.match(line) or _SEARCHES.search(line):
        return True
    if raw.clean(line).headed or _SESSION.match(line):
        return False
    if _SUPPOSED.search(_MESSAGE_START.split(_until_failure(line), maxsplit=1)[0]):
        return True
    return _holds_string(line) and not _REPRESENTED.search(_STRING.sub(_NOTHING, line))


def _until_failure(line: str) -> str:
    """Return the line up to the end of its first sentence about a failure: advice comes after that."""
    failure = _FAILURE.search(line)
    end = _SENTENCE_END.search(line, failure.end()) if failure else None
    return line[: end.start()] if end else line


def _holds_string(line: str) -> bool:
    """Whether the line is part of an expression with a string in it."""
    bare = _STRING.sub(_NOTHING, line)
    if _PAIR.match(bare) or _PROSE.search(bare) or _NOTEBOOK.search(line):
        return False
    return _NOTHING in bare and bool(_OPEN_END.search(bare))


class Listing:
    """Classifies a stream by its first lines: source code, or text with examples of messages."""

    def __init__(self) -> None:
        self._code = self._others = 0
        self._output = False
        self._examples: set[str] = set()  # from ``lines.plain``
        self._awaited = self._fenced = False

    def through(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the same lines, and classify the first ones."""
        stream = iter(lines)
        return itertools.chain(self._tee(itertools.islice(stream, _MOST_LINES)), stream)

    def only_mentions(self, line: str) -> bool:
        """Whether the line's failure is only mentioned; the line, or its start, is from ``lines.plain``."""
        return self.is_source or is_only_mentioned(line) or any(example.startswith(line) for example in self._examples)

    @property
    def is_source(self) -> bool:
        """Whether the text is source code without program output."""
        return not self._output and self._code >= max(_FEWEST, _SHARE * (self._code + self._others))

    def _tee(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self._look(raw.plain(raw.ends(line)))
            yield line

    def _look(self, text: str) -> None:
        if not text:
            return
        self._await_example(text)
        if _NEUTRAL.match(text):
            return
        if _PRINTED.match(text):
            self._others += 1
        elif _OUTPUT.match(text) or raw.clean(text).headed:
            self._output = True
        elif _CODE.match(text) or _SOURCE.match(text) or _holds_string(text):
            self._code += 1
        else:
            self._others += 1

    def _await_example(self, text: str) -> None:
        """Record the example after "if you see:": a fenced block, or else one line."""
        if text.startswith(("```", "~~~")):
            self._fenced, self._awaited = self._awaited and not self._fenced, False
        elif self._fenced or self._awaited:
            self._examples.add(text)
            self._awaited = False
        if text.endswith((":", "\uff1a")) and _SUPPOSED.search(text):
            self._awaited = True
