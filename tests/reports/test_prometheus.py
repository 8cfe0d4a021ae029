import re

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from reports.cases import CASES, eight_one_lost, eight_passed
from reports.hostile import INJECTION, UUID, dirty, long, named, secretive

from gpucheck.reports import prometheus


def parse(made):
    """(name, labels) -> value."""
    text = prometheus.render(made)
    samples = {}
    for family in text_string_to_metric_families(text):
        assert family.name.startswith("gpucheck_")
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in samples
            assert sample.timestamp is None
            samples[key] = sample.value
    return samples


def value(samples, name, **labels):
    return samples[f"gpucheck_{name}", frozenset(labels.items())]


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty, lambda: named(INJECTION)], ids=[*CASES, "long", "dirty", "named"])
def test_a_foreign_parser_reads_it(make):
    made = make()
    samples = parse(made)
    assert value(samples, "exit_code") == made.exit_code
    assert value(samples, "verdict", verdict=made.verdict.value) == 1
    assert sum(number for (name, _), number in samples.items() if name == "gpucheck_verdict") == 1
    text = prometheus.render(made)
    types = re.findall(r"^# TYPE (\S+) (\S+)$", text, flags=re.MULTILINE)
    assert {kind for _, kind in types} == {"gauge"}  # what ends in _total or _info by type would not be ours
    assert len({name for name, _ in types}) == len(types)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_help_is_the_same_in_every_file():
    helps = [re.findall(r"^# (?:HELP|TYPE) .*$", prometheus.render(make()), flags=re.MULTILINE) for make in CASES.values()]
    assert all(each == helps[0] for each in helps)


def test_values():
    samples = parse(eight_one_lost())
    assert value(samples, "healthy") == 0
    assert value(samples, "root_causes", severity="error") == 1
    assert (
        value(samples, "finding", code="gpu-lost", row="gpu-not-detected", severity="error", scope="hardware", root="true") == 1
    )
    assert value(samples, "gpu_success", gpu="3") == 0
    assert value(samples, "gpu_success", gpu="2") == 1
    assert value(samples, "run_start_timestamp_seconds") == 1767323045
    labels = {"strategy": "one_device", "devices": "GPU:3", "precision": "float32", "compiled": "false"}
    assert value(samples, "training_success", **labels) == 0
    labels = {"strategy": "mirrored", "devices": "GPU:0-7", "precision": "float32", "compiled": "false"}
    assert value(parse(eight_passed()), "training_samples_per_second", **labels) == 431000
    assert value(parse(CASES["pass-h200"]()), "healthy") == 1
    assert value(parse(CASES["unknown"]()), "healthy") == 0
    assert value(parse(CASES["unknown"]()), "probe_success", probe="tensorflow") == 0


def test_no_label_grows_without_bound():
    text = prometheus.render(secretive())
    assert UUID not in text
    assert "fallen off" not in text


def test_a_start_that_is_no_time_is_left_out():
    made = msgspec.structs.replace(CASES["quick"](), started_at="yesterday")
    assert not any(name == "gpucheck_run_start_timestamp_seconds" for name, _ in parse(made))


def test_rates_under_the_others_load_can_be_told_apart():
    made = CASES["pass-h200"]()
    beside = msgspec.structs.replace(made.training[0], devices=("GPU:1",), trained_with=3)
    samples = parse(msgspec.structs.replace(made, training=(made.training[0], beside)))
    labels = {"strategy": "one_device", "precision": "float32", "compiled": "false"}
    assert value(samples, "training_trained_with", devices="GPU:0", **labels) == 0
    assert value(samples, "training_trained_with", devices="GPU:1", **labels) == 3
