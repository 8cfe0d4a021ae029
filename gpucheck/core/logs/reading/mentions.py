"""Lines that mention a failure without one: source text that holds a message, advice for a case that may come, tables of codes.

A cause that a text only speaks of is worth naming, and no alarm: nothing shows that it came to pass.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from gpucheck.core.logs.reading import lines as raw

_LOOKED_AT = 400  # lines that tell whether a text is a listing
_FEWEST = 3  # lines of code that make one
_SHARE = 0.4  # of the lines that are neither empty nor comments

_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_NOTHING = '""'

# Advice and change logs. Who says "I" or "we" tells what happened.
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
_SAID = re.compile(r"(?:Error|ERROR|Warning|WARNING|Exception): ")  # what follows are a program's words, advice included
_FAILURE = re.compile(
    r"(?i)\b(?:errors?|fail\w*|out of memory|oom|not found|cannot|can't|could not|couldn't|unable|unknown|mismatch\w*"
    r"|insufficient|no kernel|lost|missing|denied|killed|unsupported|invalid|xid|already in use)\b|[a-z]Error[A-Z]"
    r"|_(?:ERROR|STATUS)_"
)
_SENTENCE_END = re.compile(r"[.!?] +(?=[A-Z])")
_ROW = re.compile(r"\| *`?(?:Xid |SXid )?\d{1,5}`? *\|(?! *\d)")  # of a table of codes
_LINK = re.compile(r"\]\([\w./-]*(?:\.md|#)")  # into the same documentation
# Comments of languages in which nothing else begins like that, and definitions of constants.
_SOURCE = re.compile(
    r"//(?!/*\w+/)|/\*|\*/|<!--|\{#|#define\b|\w+ = (?:-?\d+|0x\w+),$|case [A-Z_a-z.:0-9]+:"
    r"|(?:el)?if\b.*(?::|\{|\bthen|\[)$|\|\| |&& |assert |expect\("
)
_SEARCHES = re.compile(
    r"\b(?:[ez]?grep|rg|awk|sed) (?:-\w+ )*['\"]|\bre\.(?:search|compile|findall|match|sub)\(|\.(?:includes|contains)\("
)
_SESSION = re.compile(r">>> |In ?\[\d*\]:|[\w *>-]+\(e\.g\.[^()]*\)[*_]*:")  # an interpreter's, and a form's question
_PROSE = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]+ ){3}[^\W\d_]")
_NOTEBOOK = re.compile(r"\\n\",?$")
_OPEN_END = re.compile(r"(?:[;\\{(\[]|\"\"(?:\.\w+\(\))? ?[)\]}]*,|\"\" ?[)\]}]+:?)$")  # where strings are empty
_PAIR = re.compile(r"[{\[ ]*\"\" *:")  # a record in JSON is somebody's output
# so is what Python or a logger writes
_REPRESENTED = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning)\(\"\"|^\w+=\S|\w=\"\"(?: |$)|\breturncode=-?\d|\bstd(?:err|out)=b\"\""
    r"|^\S+\.(?:c|cc|cpp|cu|h|hpp):\d+: (?:\w+\(|.*\bAssertion\b)"  # of C's assertions
)

_PRINTED = re.compile(r"\[?(?:\w+\.)?(?:[Tt]ensor|Size|array|(?:Physical|Logical)Device)\(")  # values, as Python shows them
_CODE = re.compile(
    r"(?:import \w|from \S+ import |def \w|class \w|return\b|const |let |var |export |function\b|public |private |static |void "
    r"|int |#include|typedef |switch\b|for \w.*[:{]$|while\b.*[:{]$|try:|except\b|else\b|elif |if .*(?::|\{|then)$|fi$|done$"
    r"|esac$|echo |break;?$|raise\b|with .*:$|@\w)|.*\S *[;{]$|.*; *\}$"
    r"|[\w.\[\]'\"]+(?:: ?[\w.\[\]]+)? [-+|&:]?= (?![-\d.]|nan|inf)\S"
    r"|[\w.* ]*\w\(.*\)[;:,]?$"
)
_NEUTRAL = re.compile(r"[{}\[\](),;]*$|#(?![!\w])|//|/?\*|\"\"\"|--(?: |$)")
# What a program, a shell or an interpreter prints; a line of code is no record of a log.
_OUTPUT = re.compile(
    r"Traceback \(most|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt): |.*\.py:\d+: \w+Warning: "
    r"|[$%] \w|>>> |In ?\[\d*\]:|[^\s@]{1,80}@[^\s:~]{1,80}[:~]|\"(?:cell|output)_type\": "
)


def is_only_mentioned(line: str) -> bool:
    """Whether a line that names a failure is source text, a supposition or a table's row: a line as ``lines.plain`` gives it."""
    line = raw.ends(line.strip())
    if _ROW.match(line) or _LINK.search(line) or _SOURCE.match(line) or _SEARCHES.search(line):
        return True
    if raw.clean(line).headed or _SESSION.match(line):
        return False
    if _SUPPOSED.search(_SAID.split(_until_failure(line), maxsplit=1)[0]):
        return True
    return _holds_string(line) and not _REPRESENTED.search(_STRING.sub(_NOTHING, line))


def _until_failure(line: str) -> str:
    """The line up to the end of its first sentence about a failure: a program's advice comes after that."""
    failure = _FAILURE.search(line)
    end = _SENTENCE_END.search(line, failure.end()) if failure else None
    return line[: end.start()] if end else line


def _holds_string(line: str) -> bool:
    """Whether the line is an expression that goes on or ends there, with a string in it."""
    bare = _STRING.sub(_NOTHING, line)
    if _PAIR.match(bare) or _PROSE.search(bare) or _NOTEBOOK.search(line):
        return False
    return _NOTHING in bare and bool(_OPEN_END.search(bare))


class Listing:
    """What the lines of a stream are, as far as its beginning tells: a program's source, examples of what may be seen."""

    def __init__(self) -> None:
        self._code = self._others = 0
        self._output = False
        self._examples: set[str] = set()  # as ``lines.plain`` gives them
        self._awaited = self._fenced = False

    def through(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, the first ones looked at on their way."""
        stream = iter(lines)
        return itertools.chain(self._looked_at(itertools.islice(stream, _LOOKED_AT)), stream)

    def only_mentions(self, line: str) -> bool:
        """Whether what the line names is not known to have come to pass; a line as ``lines.plain`` gives it, or its beginning."""
        return self.is_source or is_only_mentioned(line) or any(example.startswith(line) for example in self._examples)

    @property
    def is_source(self) -> bool:
        """True for a listing without any program's output."""
        return not self._output and self._code >= max(_FEWEST, _SHARE * (self._code + self._others))

    def _looked_at(self, lines: Iterable[str]) -> Iterator[str]:
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
        """Take note of what follows "if you see:", a block between fences or else one line."""
        if text.startswith(("```", "~~~")):
            self._fenced, self._awaited = self._awaited and not self._fenced, False
        elif self._fenced or self._awaited:
            self._examples.add(text)
            self._awaited = False
        if text.endswith((":", "\uff1a")) and _SUPPOSED.search(text):
            self._awaited = True
