"""Planned configurations by request and devices: the cases of tests/cases/bench_plan.txt.

devices ["CPU:0", "GPU:0"]
xla = "both"                        a field of the request
-> one_device × 1 float32 batch 64  a planned configuration, in order; "XLA", and why it is not measured
-> note: the text of a note
-> refused 2: the reason, with the exit code
"""

import json
import pathlib

import case_files

from gpucheck.commands.bench import plan
from gpucheck.commands.bench.model import Ask

CASES = pathlib.Path(__file__).parents[1] / "cases" / "bench_plan.txt"
GPUS = ["CPU:0", "GPU:0", "GPU:1", "GPU:2", "GPU:3"]


def outcome(case):
    """Return the lines of the plan."""
    devices, ask = GPUS, {}
    for line in case.given:
        name, equals, value = line.partition(" = ")
        if equals:
            ask[name] = tuple(json.loads(value)) if value.startswith("[") else json.loads(value)
        else:
            devices = json.loads(line.removeprefix("devices "))
    try:
        items, notes = plan.plan(Ask(**ask), devices)
    except plan.Refused as refused:
        return [f"-> refused {refused.exit_code}: {refused}"]
    assert len({item.id for item in items}) == len({item.folder for item in items}) == len(items)
    lines = []
    for item in items:
        xla, reason = " XLA" * item.xla, f": {item.reason}" if item.reason else ""
        at_once = f" {item.steps_per_execution} at once" if item.steps_per_execution > 1 else ""
        lines.append(f"{item.strategy} × {len(item.devices)} {item.precision} batch {item.batch_size}{xla}{at_once}{reason}")
    return [f"-> {line}" for line in [*lines, *(f"note: {note}" for note in notes)]]


def test_plans_match_their_cases(request):
    case_files.check(CASES, case_files.read(CASES), outcome, request.config.getoption("--update-goldens"))


def test_groups_by_process():
    items, _ = plan.plan(Ask(devices=(1, 2, 4), batch_sizes=(8, 16), allow_cpu=True), ["CPU:0"])
    assert {cpus: len(group) for cpus, group in plan.groups(items).items()} == {1: 2, 2: 2, 4: 2}
    items, _ = plan.plan(Ask(devices=(1, 2, 4)), GPUS)
    assert {cpus: len(group) for cpus, group in plan.groups(items).items()} == {0: 3}
    items, _ = plan.plan(Ask(strategies=("mirrored", "tpu")), GPUS)
    assert {item.strategy for group in plan.groups(items).values() for item in group} == {"mirrored"}
    items, _ = plan.plan(Ask(strategies=("mirrored", "tpu")), [*GPUS, "TPU:0", "TPU:1"])
    assert [(cpus, [item.strategy for item in group]) for cpus, group in plan.groups(items).items()] == [
        (plan.ON_TPU, ["tpu"]),
        (0, ["mirrored"] * 2),
    ]


def test_steps_and_epochs():
    assert plan.epochs(Ask()) == 1
    assert plan.epochs(Ask(target_accuracy=0.5)) == plan.EPOCHS_MAX
    assert plan.epochs(Ask(target_accuracy=0.5, epochs=3)) == 3
    assert (plan.steps(Ask(), GPUS), plan.steps(Ask(), ["CPU:0"]), plan.steps(Ask(), ["TPU:0"])) == (50, 10, 50)
    assert plan.steps(Ask(model="train:make"), ["CPU:0"]) == 10
    assert (plan.steps(Ask(data="cifar10"), GPUS), plan.steps(Ask(data="cifar10", steps=7), GPUS)) == (0, 7)
