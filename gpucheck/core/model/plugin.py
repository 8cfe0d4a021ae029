"""Decorators that make a function a probe, a combiner or a rule, and the declarations that they store.

A plugin's identity is its place: ``probes/pci.py`` is the probe ``pci``, ``rules/gpu_not_detected/driver_missing.py`` the rule
``driver-missing`` of the row ``gpu-not-detected``. The annotations of a function declare its arguments, so plugin modules must
not use ``from __future__ import annotations``.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, get_args

import msgspec

from gpucheck.core.model.fact import Fact, probe_of
from gpucheck.core.model.findings import Finding, Fix, Skip
from gpucheck.core.model.kinds import Level, Scope, Severity

NOT_OF_NODE = "about what runs on a node, not about the node itself"  # why a check of the node skips a rule
Function = TypeVar("Function", bound=Callable[..., Any])


class Probe(msgspec.Struct, frozen=True):
    """A function ``read(host)`` that observes one part of the machine."""

    name: str
    level: Level  # the lowest level at which it runs
    smoke: bool  # True: only if training is enabled
    fact: type[Fact]
    read: Callable[[Any], Fact]
    tensorflow: bool = False  # True: only if TensorFlow is the tested backend (see ``Request.other_backend``)
    limit_seconds: float | None = None  # how long to wait for it; None: until the run's time limit


class Need(msgspec.Struct, frozen=True):
    """One argument of a rule or combiner: the fact it receives, and whether that may be None."""

    name: str
    fact: type[Fact]
    optional: bool

    @property
    def probe(self) -> str:
        """The probe or combiner of the fact: the module that declares it (the model declares the request)."""
        return probe_of(self.fact)


class Combiner(msgspec.Struct, frozen=True):
    """A function ``combine(fact, ...)`` that derives one fact from others, once per run."""

    name: str
    fact: type[Fact]
    needs: tuple[Need, ...]
    combine: Callable[..., Fact]


class Rule(msgspec.Struct, frozen=True):
    """A function ``check(fact, ...)`` that judges one root cause."""

    code: str
    row: str
    severity: Severity
    scope: Scope
    explains: tuple[str, ...]
    needs: tuple[Need, ...]
    check: Callable[..., Finding | Skip | None]
    doc: str
    tensorflow: bool = False  # True: only about TensorFlow, not other backends
    jobs: bool = False  # True: a running job may cause it, which is not a fault of the node
    first_check: str = ""  # empty: that of its row

    @property
    def repairs(self) -> Callable[..., Iterable[Fix]] | None:
        """The function ``repairs(context, *, ...)`` of the rule's module: what to do, best first; None: its page lists that."""
        return getattr(sys.modules[self.check.__module__], "repairs", None)

    @property
    def of_node(self) -> bool:
        """Whether it judges the machine itself, independent of jobs and Python environments."""
        return self.scope in (Scope.HARDWARE, Scope.HOST) and not self.jobs


class Row(msgspec.Struct, frozen=True):
    """A row of the troubleshooting table, declared in ``rules/<row>/__init__.py``."""

    problem: str
    first_check: str
    action: str
    position: int = 99  # in the table


def probe(
    *, level: Level, smoke: bool = False, tensorflow: bool = False, limit_seconds: float | None = None
) -> Callable[[Function], Function]:
    """Declare ``read(host) -> Fact`` as the probe named after its file; the arguments are fields of ``Probe``."""

    def declare(read: Function) -> Function:
        read.plugin = Probe(  # type: ignore[attr-defined]
            name=read.__module__.rpartition(".")[2],
            level=level,
            smoke=smoke,
            fact=read.__annotations__["return"],
            read=read,
            tensorflow=tensorflow,
            limit_seconds=limit_seconds,
        )
        return read

    return declare


def rule(
    *,
    scope: Scope,
    severity: Severity = Severity.ERROR,
    explains: tuple[str, ...] = (),
    tensorflow: bool = False,
    jobs: bool = False,
    first_check: str = "",
) -> Callable[[Function], Function]:
    """Declare ``check(fact, ...)`` as the rule named after its file.

    Args:
        scope: who must act.
        severity: unless the finding has its own.
        explains: codes of the findings that follow from it.
        tensorflow: whether it is about TensorFlow's installation or behavior, not about Keras on JAX or PyTorch.
        jobs: whether a job that runs on the machine may cause it.
        first_check: what to check first, if the row's does not apply.
    """

    def declare(check: Function) -> Function:
        _, _, row, name = check.__module__.rsplit(".", 3)
        check.plugin = Rule(  # type: ignore[attr-defined]
            code=name.replace("_", "-"),
            row=row.replace("_", "-"),
            severity=severity,
            scope=scope,
            explains=explains,
            needs=_needs(check),
            check=check,
            doc=sys.modules[check.__module__].__doc__ or "",
            tensorflow=tensorflow,
            jobs=jobs,
            first_check=first_check,
        )
        return check

    return declare


def combiner(combine: Function) -> Function:
    """Declare ``combine(fact, ...) -> Fact`` as the combiner named after its file.

    A fact's class can also be a combiner: its fields are the arguments.
    """
    combine.plugin = Combiner(  # type: ignore[attr-defined]
        name=combine.__module__.rpartition(".")[2],
        fact=combine if isinstance(combine, type) else combine.__annotations__["return"],
        needs=_needs(combine),
        combine=combine,
    )
    return combine


def _needs(function: Callable[..., Any]) -> tuple[Need, ...]:
    return tuple(_need(name, kind) for name, kind in function.__annotations__.items() if name != "return")


def _need(name: str, annotation: Any) -> Need:
    members = get_args(annotation) or (annotation,)  # of "Driver | None"
    (kind,) = (member for member in members if member is not type(None))
    return Need(name=name, fact=kind, optional=type(None) in members)
