"""Combiners: derived facts, in the order of their dependencies, with missing facts reported."""

import pytest
from fakes import facts, machine
from msgspec.structs import replace

from gpucheck.core.combiners import log_causes
from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.engine.discovery import in_order, load_combiners, load_probes, load_rules
from gpucheck.core.engine.judgement import derive, judge
from gpucheck.core.engine.verdict import decide
from gpucheck.core.model import Fact, Request, Scope, Severity, Status, Verdict
from gpucheck.core.model.fact import Facts
from gpucheck.core.model.plugin import Combiner, Need, Rule
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.training import Training

PRESENCE = Need(name="presence", fact=GpuPresence, optional=False)


def crashing():
    """All combiners, with one for the presence of a GPU that raises."""

    def crash(**_):
        raise KeyError("x")

    return [replace(item, combine=crash) if item.name == "gpu_presence" else item for item in load_combiners()]


def test_combiners_come_after_those_they_need():
    derived = [combiner.fact for combiner in load_combiners()]
    for place, combiner in enumerate(load_combiners()):
        assert not {need.fact for need in combiner.needs} & set(derived[place:]), combiner.name


def test_names_of_combiners_and_probes_are_unique():
    names = [combiner.name for combiner in load_combiners()]
    assert len(names) == len(set(names))
    assert not set(names) & {"request", *(probe.name for probe in load_probes())}
    assert all(combiner.fact.__module__.rpartition(".")[2] == combiner.name for combiner in load_combiners())


def test_every_combiner_is_needed():
    plugins = (*load_rules(), *load_combiners())
    assert {combiner.fact for combiner in load_combiners()} <= {need.fact for plugin in plugins for need in plugin.needs}


def test_cycle_of_combiners_is_rejected():
    class Egg(Fact):
        pass

    class Hen(Fact):
        pass

    hen = Combiner("hen", Hen, (Need("egg", Egg, False),), lambda egg: Hen())
    egg = Combiner("egg", Egg, (Need("hen", Hen, False),), lambda hen: Egg())
    with pytest.raises(ValueError, match="egg, hen"):
        in_order([egg, hen])
    assert in_order([hen, replace(egg, needs=())]) == (replace(egg, needs=()), hen)


def test_missing_fact_is_reported_through_every_level():
    whole = derive(facts({**machine("h200"), "pci": None}), load_combiners())
    assert whole.get(GpuPresence) is None
    assert whole.reading("library_faults").problem == "pci: unreadable in this example"
    (judgement,) = judge(
        facts({**machine("h200"), "pci": None}), [rule for rule in load_rules() if rule.code == "library-corrupt"]
    )
    assert (judgement.outcome.status, judgement.outcome.reason) == (Status.SKIPPED, "pci: unreadable in this example")


@pytest.mark.parametrize("optional", [False, True])
def test_crash_of_a_combiner_crashes_rules_with_required_or_optional_need(optional):
    need = replace(PRESENCE, optional=optional)
    rule = Rule("a", "row", Severity.ERROR, Scope.HOST, (), (need,), lambda presence: None, "")
    (judgement,) = judge(facts(machine("h200")), [rule], crashing())
    assert judgement.outcome.status is Status.CRASHED
    assert judgement.outcome.reason == "combiner gpu_presence: KeyError: 'x'"
    assert derive(facts(machine("h200")), crashing()).get(LibraryFaults) is None  # derived from GpuPresence


def test_crash_of_a_combiner_is_reported_once_and_gives_no_verdict():
    given = facts(machine("h200"))
    outcomes = [judgement.outcome for judgement in judge(given, load_rules(), crashing())]
    decision = decide(Request(), given, (), outcomes)
    assert decision.verdict is Verdict.UNKNOWN
    (gap,) = decision.unknown_because
    assert "combiner gpu_presence: KeyError: 'x'" in gap


def test_derived_facts_can_be_looked_up_by_type():
    whole = derive(facts(machine("h200")), load_combiners())
    assert whole.get(GpuPresence) == GpuPresence(present=True, evidence=whole.get(GpuPresence).evidence)
    assert whole.get(Pci) is not None
    assert Facts([]).get(GpuPresence) is None


@pytest.mark.parametrize(("before", "named"), [("", True), ("x\n" * log_causes.REASON_CHARACTERS, False)])
def test_only_the_start_of_a_reason_is_judged(before, named):
    training = facts(machine("h200")).get(Training)
    failed = replace(training.runs[0], status="failed", reason=f"{before}InternalError: Dst tensor is not initialized.")
    causes = log_causes.combine(outcomes=TrainingOutcomes(training=replace(training, runs=(failed,)), log=None))
    assert (causes.failed_run("gpu-memory-exhausted") is not None) == named
