"""Expectation items that the cases of tests/cases/expectations do not cover."""

from expectations import recorded_reports
from expectations.recorded_reports import RULES

from gpucheck.core.expectations.gpus import usable_gpus
from gpucheck.core.expectations.items import Machine
from gpucheck.core.expectations.versions import ABSENT, versions_seen
from gpucheck.core.model import Expectations, Verdict, VersionExpectations

CODES = {rule.code for rule in RULES if rule.row == "expectation"}


def test_rules_are_skipped_without_expectations():
    got = recorded_reports.report()
    assert (got.verdict, got.unknown_because) == (Verdict.PASS, ())
    assert {one.reason for one in got.outcomes if one.code in CODES} == {"no expectations were given"}


def test_every_expectation_rule_is_evaluated():
    got = recorded_reports.report(expectations=Expectations(versions=VersionExpectations(python=">3")))
    assert {one.code: one.status.value for one in got.outcomes if one.code in CODES} == dict.fromkeys(CODES, "clear")


def test_machine_without_a_driver_has_no_gpus_and_no_driver_version():
    cpu = Machine.of(recorded_reports.report(name="laptop-cpu"))
    assert usable_gpus(cpu)[0] == 0
    seen = versions_seen(cpu)
    assert (seen["driver"], seen["cuda"]) == (ABSENT, ABSENT)
