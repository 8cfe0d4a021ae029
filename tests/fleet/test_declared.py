"""The fields that a fleet reads exist in the report: a renamed field would silently be unknown."""

import typing

import msgspec

from gpucheck.commands.fleet import decoded
from gpucheck.core.engine.recorded import fact_types
from gpucheck.core.model import Report


def struct_in(hint):
    """The struct in a type, or None."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next(filter(None, map(struct_in, typing.get_args(hint))), None)


def undeclared(part, whole):
    """Names of fields of a partial struct that the complete struct lacks, including nested structs."""
    declared = typing.get_type_hints(whole)
    for name, hint in typing.get_type_hints(part).items():
        if name not in declared:
            yield f"{whole.__name__}.{name}"
        elif struct_in(hint) not in (None, decoded.Facts):
            yield from undeclared(struct_in(hint), struct_in(declared[name]))


def test_fields_that_a_fleet_reads_exist_in_the_report():
    assert list(undeclared(decoded.Report, Report)) == []


def test_fields_that_a_fleet_reads_exist_in_the_facts():
    facts = typing.get_type_hints(decoded.Facts)
    assert [field for name, hint in facts.items() for field in undeclared(struct_in(hint), fact_types()[name])] == []
