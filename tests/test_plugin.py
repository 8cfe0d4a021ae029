"""Plugins are found by their path, and their annotations declare their arguments."""

from gpucheck.cli import request
from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_probes, load_rows, load_rules, modules
from gpucheck.core.model import Fact
from gpucheck.core.model.plugin import Need
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.training.strategies import load_all

RULES = load_rules()


def test_probe_has_the_name_of_its_file_and_declares_its_fact():
    probes = {probe.name: probe for probe in load_probes()}
    assert probes["pci"].fact is Pci
    assert all(issubclass(probe.fact, Fact) for probe in probes.values())
    assert all(probe.fact.__module__.rpartition(".")[2] == name for name, probe in probes.items())


def test_rule_has_the_code_and_row_of_its_path():
    (rule,) = (rule for rule in RULES if rule.code == "no-nvidia-gpu")
    assert rule.row == "gpu-not-detected"
    assert Need(name="tpu", fact=Tpu, optional=False) in rule.needs
    assert Need(name="pci", fact=Pci, optional=False).probe == "pci"


def test_codes_are_unique_and_rows_are_known():
    codes = [rule.code for rule in RULES]
    assert len(codes) == len(set(codes))
    assert {rule.row for rule in RULES} <= load_rows().keys()


def test_private_modules_are_not_plugins():
    assert not [name for name in modules("gpucheck.core.probes") if name.rpartition(".")[2].startswith("_")]
    assert "gpucheck.core.rules.gpu_not_detected" in modules("gpucheck.core.rules")


def test_every_rule_has_a_complete_page():
    pages = [manual.page_of(rule) for rule in RULES]
    assert [page.code for page in pages if not page.title.endswith(".")] == []
    assert [page.code for page in pages if not page.sections["Fix"].lstrip().startswith("1. ")] == []


def test_strategies_of_the_command_line_match_the_strategy_modules():
    tensorflow = {name for name, strategy in load_all().items() if "tensorflow" in strategy.backends}
    assert set(request.STRATEGIES) == tensorflow
    assert set(request.KERAS_STRATEGIES) == load_all().keys() - tensorflow
