"""A parsed program and the events that the trace recorded: the input of every rule."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from gpucheck.commands.lint.lookup import constant, holds, is_call, options, parts
from gpucheck.commands.lint.models import built
from gpucheck.commands.lint.names import MEANINGS, unbound
from gpucheck.commands.lint.trace import trace
from gpucheck.commands.lint.values import Call, Class, Constant, Event, Import, Name, Operation, Pairs, Read, Store, Test, Value
from gpucheck.core.model import Scope, Severity
from gpucheck.core.model.plugin import Function, Rule

GLOBAL_STRATEGY = (
    "keras.distribution.set_distribution",
    "tensorflow.distribute.experimental_set_strategy",
    "tensorflow.distribute.set_strategy",
)
HARMLESS = {f"builtins.{name}" for name in ("print", "str", "repr", "type", "isinstance", "id", "len")}
VERSIONS = re.compile(r"(tensorflow|keras)\.(\w+\.)*(__version__|VERSION|GIT_VERSION|version|executing_eagerly)(\.\w+)*")
PACKAGES = re.compile(r"tensorflow[\w-]*|tf[_-]keras|keras")
# TensorFlow 1, selected in Colab or installed by a notebook cell; a test that is skipped with some versions.
PINNED = re.compile(
    r"\bskip(?:if|If|Unless)\([^\n]{0,200}(?:__version__|\b(?:IS_|HAS_)?TF_?[12])|^\s*(?:%tensorflow_version\s+1|[%!]\s*(?:pip3?|conda)\s+install\b.*\btensorflow(?:-gpu|-cpu)?\s*==?\s*1\.)",
    re.MULTILINE,
)
# Text that mentions Keras 2 or a TensorFlow version that includes it: tensorflow==2.15, TensorFlow 2.4, tf-keras.
OLDER = re.compile(
    r"(?:tensorflow|\btf)[\w\[\] \t-]{0,20}?[ \t:`\"'=~<>(v]{0,6}(?:1\.[\dx]|2\.(?:1[0-5]|\d)(?!\d))"
    r"|tensorflow\S*[ \t]*<[ \t]*=?[ \t]*2\.1[0-6]|\bkeras[ \t-]*[=~<]*[ \t]*2\b|\bkeras[ \t]*<[ \t]*3(?:\.0)*(?![.\d])"
    r"|tf[_-]keras|TF_USE_LEGACY_KERAS",
    re.IGNORECASE,
)
# A project's variable for the version: IS_TF_1, tf2, TF_V2, tensorflow1, tf_version.
FLAG = re.compile(r"(^|_)(tf|tensorflow)_?(v?[12](?![0-9])|ver)", re.IGNORECASE)
# Modules that run a function in a new process, where TensorFlow is not initialized yet.
WORKERS = {"joblib", "loky", "ray", "dask", "distributed", "pyspark", "multiprocess", "pathos", "billiard", "submitit", "mpi4py"}
Locate = Callable[[int], tuple[int | None, int]]


class Edit(NamedTuple):
    """A range to replace with text. Lines and columns are counted as in the finding or problem that contains it."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Finding(NamedTuple):
    """One finding of a rule. Lines refer to the whole program; lines and columns start at 1; columns count bytes of UTF-8."""

    line: int
    column: int
    end_line: int
    end_column: int  # after the last byte
    message: str  # a sentence
    fix: str  # the remedy
    edit: Edit | None = None  # a correction that does not change the program's results


Findings = Iterator[Finding]


class LintRule(Rule, frozen=True, kw_only=True):
    """A rule whose ``check(script)`` yields findings."""

    check: Callable[..., Any]
    words: Collection[str] = ()  # a program without any of them is not checked


def rule(*, words: Collection[str], severity: str = "error", explains: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Declare ``check(script)`` as the rule named after its file; the arguments are fields of ``LintRule``."""

    def declare(check: Function) -> Function:
        check.plugin = LintRule(  # type: ignore[attr-defined]
            code=check.__module__.rpartition(".")[2].replace("_", "-"),
            row="training-script",
            severity=Severity(severity),
            scope=Scope.CODE,
            explains=explains,
            needs=(),
            check=check,
            doc=sys.modules[check.__module__].__doc__ or "",
            words=words,
        )
        return check

    return declare


class Script:
    """One program, with its events in execution order."""

    def __init__(self, tree: ast.Module, locate: Locate = lambda line: (None, line), written: str = "") -> None:
        """Trace the program; ``locate`` finds the notebook cell of a line.

        ``written`` is the whole text of the file, with comments and shell commands.

        Raises:
            RecursionError: the program is nested too deeply.
        """
        self._locate = locate
        self.tree = tree
        self.written = written
        self.notebook = locate(1)[0] is not None
        self.unbound = unbound(tree, written)
        traced = trace(tree, {name: MEANINGS[name] for name in self.unbound})
        self.events = traced.events
        self.complete = traced.complete
        self.conditions = traced.conditions
        self._by_name: dict[str, list[Call]] = {}  # methods begin with a dot
        self.names = frozenset(_names(self.events))  # all imported names that are read or called
        self.calls = [event for event in self.events if isinstance(event, Call)]
        # Calls that the trace could not follow: they may do anything with their arguments.
        self.unfollowed = [call for call in self.calls if call.result is None and call.name not in HARMLESS]
        self.stores = [event for event in self.events if isinstance(event, Store)]
        self.reads = [event for event in self.events if isinstance(event, Read)]
        self.tests = [event for event in self.events if isinstance(event, Test)]
        self.imports = [event for event in self.events if isinstance(event, Import)]
        for call in self.calls:
            self._by_name.setdefault(call.name or f".{call.method}", []).append(call)
        self.settings = list(settings(self.events))
        self.trainings = self.calls_on_models("fit")
        # A script that installs TensorFlow 1, or with such a condition, supports several versions.
        conditions = any(_checks_version(test.value) or _checks_flag(test.node) for test in self.tests)
        self.checks_versions = conditions or PINNED.search(written) is not None
        legacy = "tf_keras" in self.modules() or any(setting.name == "TF_USE_LEGACY_KERAS" for setting in self.settings)
        self.standalone_keras = "keras" in self.modules() and not legacy  # not the copy in TensorFlow
        older = OLDER.search(written) or any(event.module.startswith("tensorflow.python") for event in self.imports)
        self.uses_keras_3 = not (legacy or self.checks_versions or older)  # as far as the file shows

    def where(self, node: ast.AST) -> str:
        """Return a node's position, for messages."""
        cell, line = self._locate(getattr(node, "lineno", 1))
        return f"line {line}" if cell is None else f"cell {cell}, line {line}"

    def calls_named(self, *names: str) -> list[Call]:
        """Return calls of these canonical names."""
        calls = [call for name in names for call in self._by_name.get(name, ())]
        return sorted(calls, key=lambda call: call.place.order)

    def methods(self, *names: str) -> list[Call]:
        """Return calls of methods of these names on a value that is not a module."""
        return self.calls_named(*(f".{name}" for name in names))

    def calls_on_models(self, *methods: str) -> list[tuple[Call, list[Call]]]:
        """Return every call of these methods on a known model, with the calls that may have built it."""
        return [(call, models) for call in self.methods(*methods) if (models := built(call.receiver))]

    @property
    def hidden_scope(self) -> bool:
        """Whether a scope is entered in a way that the trace does not follow: an exit stack, ``__enter__``, a global strategy."""
        entered = bool(self.methods("__enter__")) or any(not call.entered for call in self.methods("scope"))
        return entered or self.mentions(*GLOBAL_STRATEGY)

    def modules(self) -> set[str]:
        """Return the top-level modules that are imported."""
        return {event.module.partition(".")[0] for event in self.imports}

    def mentions(self, *names: str) -> bool:
        """Whether any of these canonical names is read or called anywhere."""
        return not self.names.isdisjoint(names)

    def passed_on(self, value: Value) -> bool:
        """Whether a value is passed to a call that the trace could not follow, or stored where other code can use it."""
        stored = [store.value for store in self.stores if _escapes(store.of)]
        return holds(stored, value) or any(holds(call.given, value) for call in self.unfollowed)


def _names(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, Call):
            yield event.name
        elif isinstance(event, Read):
            yield from (option.path for option in options(event.value) if isinstance(option, Name))
        elif isinstance(event, Import):
            yield event.module
            yield from (f"{event.module}.{name}" for name in event.names)


def _escapes(holder: Value) -> bool:
    """Whether other code may use a value stored in an object; False if its class and bases are all in this file."""
    made = holder.function if isinstance(holder, Call) else None
    return not isinstance(made, Class) or made.descends(lambda base: not base.startswith(("keras.", "builtins.")))


def at(node: ast.AST, message: str, fix: str, edit: Edit | None = None) -> Finding:
    """Return a finding at a node's position."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line, end_column = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
    return Finding(line, column + 1, end_line, end_column + 1, message, fix, edit)


class Setting(NamedTuple):
    """A variable that the script sets for itself and its children."""

    event: Event
    name: str
    value: Value


def settings(events: Iterable[Event]) -> Iterator[Setting]:
    """Yield every environment variable that the script sets, in order."""
    for event in events:
        for key, value in _assigned(event):
            name = constant(key)
            if isinstance(name, str):
                yield Setting(event, name, value)


def _assigned(event: Event) -> Iterable[tuple[Value, Value]]:
    """Return the variables that an event sets, and their values."""
    if isinstance(event, Store):
        if isinstance(event.of, Name) and event.of.path == "os.environ":
            return [(event.key, event.value)]
        if isinstance(event.of, Name) and event.of.path == "os" and constant(event.key) == "environ":
            return _pairs(event.value.parts if isinstance(event.value, Operation) else ())  # os.environ |= {...}
    elif is_call(event, "os.environ.setdefault", "os.putenv") and len(event.args) == 2:
        return [(event.args[0], event.args[1])]
    elif is_call(event, "os.environ.update"):
        return [*_pairs(event.args), *((Constant(name), value) for name, value in event.keywords.items())]
    return []


def _pairs(values: Iterable[Value]) -> list[tuple[Value, Value]]:
    return [pair for value in values if isinstance(value, Pairs) for pair in value.items]


def _checks_version(condition: Value) -> bool:
    """Whether a condition depends on TensorFlow's or Keras' version, or on whether they have an attribute.

    A script with such a condition supports several versions; the condition may be far from the call in question.
    """
    for part in parts(condition, lambda call: True):
        if isinstance(part, Name) and VERSIONS.fullmatch(part.path):
            return True
        if is_call(part, "importlib.metadata.version") and part.args and PACKAGES.fullmatch(str(constant(part.args[0]))):
            return True
        owner = part.args[0] if is_call(part, "builtins.hasattr", "inspect.signature") and part.args else None
        if any(isinstance(part, Name) and part.path.startswith(("tensorflow", "keras")) for part in parts(owner)):
            return True
    return False


def _checks_flag(condition: ast.AST) -> bool:
    names = [node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in ast.walk(condition)]
    return any(FLAG.search(name) for name in names)
