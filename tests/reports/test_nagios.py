import re

import msgspec
import pytest
from reports.cases import CASES, eight_one_lost, eight_passed
from reports.hostile import dirty, long, named

from gpucheck.model.exit_styles import exit_code
from gpucheck.reports import nagios

# 'label'=value[UOM];[warn];[crit];[min];[max], as the plugin development guidelines have it
DATUM = re.compile(r"'[^'=|]+'=-?\d+(?:\.\d+)?(?:e[+-]\d+)?(?:s|us|ms|%|B|KB|MB|TB|c)?(?:;[\d.:@~]*){0,4}")
STATES = ["OK", "WARNING", "CRITICAL", "UNKNOWN"]


def parse(text):
    """State, message, performance data and long text, as Nagios splits them: at the first bar of the first line."""
    first, *rest = text.rstrip("\n").split("\n")
    message, bar, performance = first.partition("|")
    assert bar
    assert "|" not in performance
    data = re.findall(r"'[^']*'=\S+", performance)
    assert " ".join(data) == performance.strip()
    return re.match(r"GPUCHECK (\w+) - ", message)[1], message, data, rest


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty, lambda: named("a|'b'=c")], ids=[*CASES, "long", "dirty", "bars"])
def test_format_and_limit(make):
    text = nagios.render(make())
    assert len(text.encode("utf-8")) <= 4096
    state, message, data, rest = parse(text)
    assert STATES.index(state) == exit_code(make(), "nagios")
    assert all(DATUM.fullmatch(datum) for datum in data)
    assert not any("|" in line for line in rest)  # it would begin further performance data
    assert all(line.isprintable() for line in [message, *rest])


def test_cause_first_and_what_to_do():
    _, message, data, rest = parse(nagios.render(eight_one_lost()))
    assert message == "GPUCHECK CRITICAL - gpu-lost: GPU 3 has fallen off the bus; the other 7 work. "
    assert "'errors'=1;;0;0" in data
    assert "do: sudo reboot" in rest


def test_performance():
    data = parse(nagios.render(eight_passed()))[2]
    assert "'gpus'=8;;;0" in data
    assert "'gpu0_memory_used'=0B;;;0;150754820096" in data
    assert "'mirrored GPU:0-7 float32 samples_per_second'=431000;;;0" in data


def test_strict_warnings_are_critical():
    made = msgspec.structs.replace(CASES["warnings"](), exit_code=1)
    assert parse(nagios.render(CASES["warnings"]()))[0] == "WARNING"
    assert parse(nagios.render(made))[0] == "CRITICAL"


def test_rates_under_the_others_load_are_marked():
    made = CASES["pass-h200"]()
    beside = msgspec.structs.replace(made.training[0], devices=("GPU:1",), trained_with=3)
    data = parse(nagios.render(msgspec.structs.replace(made, training=(made.training[0], beside))))[2]
    assert [datum.partition("=")[0] for datum in data[-2:]] == [
        "'one_device GPU:0 float32 samples_per_second'",
        "'one_device GPU:1 float32 together samples_per_second'",
    ]
