import pytest

from gpucheck.bench import plan
from gpucheck.bench.model import Ask

GPUS = ["CPU:0", "GPU:0", "GPU:1", "GPU:2", "GPU:3"]


def planned(there, /, **ask):
    items, notes = plan.plan(Ask(**ask), there)
    return [(one.strategy, len(one.devices), one.precision, one.xla, one.batch_size) for one in items], notes


def test_default_on_gpus_and_on_a_cpu():
    assert planned(GPUS) == ([("one_device", 1, "float32", False, 64), ("mirrored", 4, "float32", False, 64)], [])
    found, (note,) = planned(["CPU:0"], allow_cpu=True)
    assert found == [("one_device", 1, "float32", False, 16), ("mirrored", 2, "float32", False, 16)]
    assert "share its cores" in note


@pytest.mark.parametrize("ask", [{"strategies": ("one_device",)}, {"xla": "on"}, {"strategies": ("one_device", "tpu")}], ids=str)
def test_one_device_of_a_cpu_shares_its_cores_with_none(ask):
    found, notes = planned(["CPU:0"], allow_cpu=True, **ask)
    assert max(count for _, count, *_ in found) == 1
    assert not any("share its cores" in note for note in notes)


def test_one_gpu_has_nothing_to_mirror():
    assert planned(["CPU:0", "GPU:0"]) == (
        [("one_device", 1, "float32", False, 64)],
        ["mirrored is not measured: there is one GPU"],
    )


def test_every_combination():
    found, _ = planned(GPUS, devices=(4, 1, 2), batch_sizes=(32, 64), precisions=("float32", "mixed_float16"))
    assert len(found) == len(set(found)) == 3 * 2 * 2
    assert [count for _, count, *_ in found[:3]] == [1, 2, 4]


def test_xla_is_measured_on_one_device_only():
    found, notes = planned(GPUS, xla="both")
    assert [(strategy, xla) for strategy, _, _, xla, _ in found] == [
        ("one_device", False),
        ("mirrored", False),
        ("one_device", True),
    ]
    assert notes == [plan.NO_XLA]
    with pytest.raises(plan.Refused, match="XLA") as refused:
        planned(GPUS, xla="on", strategies=("mirrored",), devices=(2,))
    assert refused.value.exit_code == 2


def test_what_is_not_measured_is_planned_with_its_reason():
    items, notes = plan.plan(Ask(strategies=("mirrored", "tpu", "multi_worker_mirrored"), batch_sizes=(8, 16)), GPUS)
    unmeasured = [(one.strategy, one.batch_size, one.devices) for one in items if one.reason]
    assert unmeasured == [(name, size, ()) for size in (8, 16) for name in ("tpu", "multi_worker_mirrored")]
    assert notes == []
    assert {one.strategy for group in plan.groups(items).values() for one in group} == {"mirrored"}
    assert len({one.id for one in items}) == len(items)


def test_mirrored_alone_takes_one_device_too():
    found, _ = planned(GPUS, strategies=("mirrored",), devices=(1, 2))
    assert [one[:2] for one in found] == [("mirrored", 1), ("mirrored", 2)]


def test_no_baseline_is_told():
    assert planned(GPUS, devices=(2,))[1] == ["no scaling efficiency: one device is not measured in this run (add --devices 1)"]


@pytest.mark.parametrize(
    ("ask", "devices", "code", "words"),
    [
        ({}, ["CPU:0"], 3, "lists no GPU here; --allow-cpu"),
        ({"devices": (8,)}, GPUS, 2, "--devices 8: TensorFlow lists 4 GPUs"),
        ({"devices": (2,)}, ["CPU:0", "GPU:0"], 2, "--devices 2: TensorFlow lists 1 GPU$"),
        ({"devices": (100,), "allow_cpu": True}, ["CPU:0"], 2, "--devices 100: the CPU is split into 64 at most"),
        ({"strategies": ("tpu",)}, GPUS, 2, "nothing to measure: tpu is not measured: gpucheck bench does not measure TPUs"),
        (
            {"strategies": ("one_device",), "devices": (2,)},
            GPUS,
            2,
            "nothing to measure: one_device is not measured: it takes --devices 1",
        ),
        (
            {"strategies": ("parameter_server",), "devices": (1,)},
            GPUS,
            2,
            "^nothing to measure: parameter_server is not measured: ",
        ),
    ],
)
def test_refused(ask, devices, code, words):
    with pytest.raises(plan.Refused, match=words) as refused:
        planned(devices, **ask)
    assert refused.value.exit_code == code


@pytest.mark.parametrize(
    ("ask", "note"),
    [
        (
            {"strategies": ("one_device", "mirrored"), "devices": (1,)},
            "mirrored is not measured: with --devices 1, one_device is; it takes more",
        ),
        (
            {"strategies": ("one_device",), "devices": (1, 2)},
            "--devices 2 is not measured: one_device trains on one; --strategy mirrored takes several",
        ),
    ],
)
def test_nothing_that_was_asked_for_is_dropped_in_silence(ask, note):
    items, notes = plan.plan(Ask(**ask), GPUS)
    assert [(one.strategy, len(one.devices)) for one in items] == [("one_device", 1)]
    assert notes == [note]


def test_what_another_command_trains_has_a_line():
    items, _ = plan.plan(Ask(strategies=("one_device", "parameter_server"), devices=(1,)), GPUS)
    assert [(one.strategy, bool(one.reason)) for one in items] == [("parameter_server", True), ("one_device", False)]


def test_groups_are_processes():
    items, _ = plan.plan(Ask(devices=(1, 2, 4), batch_sizes=(8, 16), allow_cpu=True), ["CPU:0"])
    assert {cpus: len(group) for cpus, group in plan.groups(items).items()} == {1: 2, 2: 2, 4: 2}
    items, _ = plan.plan(Ask(devices=(1, 2, 4)), GPUS)
    assert {cpus: len(group) for cpus, group in plan.groups(items).items()} == {0: 3}


def test_stages_are_distinct():
    items, _ = plan.plan(Ask(devices=(1, 2), batch_sizes=(8, 16), precisions=plan.PRECISIONS, xla="both"), GPUS)
    assert len({one.id for one in items}) == len({one.folder for one in items}) == len(items)


def test_steps_and_epochs():
    assert plan.epochs(Ask()) == 1
    assert plan.epochs(Ask(target_accuracy=0.5)) == plan.MOST_EPOCHS
    assert plan.epochs(Ask(target_accuracy=0.5, epochs=3)) == 3
    assert (plan.steps(Ask(), GPUS), plan.steps(Ask(), ["CPU:0"])) == (50, 10)
    assert (plan.steps(Ask(data="cifar10"), GPUS), plan.steps(Ask(data="cifar10", steps=7), GPUS)) == (0, 7)
