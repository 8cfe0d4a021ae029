"""The advice of a benchmark: settings to change, settings to leave, differences within noise."""

import pytest
from bench.cases import HOT, one
from msgspec.structs import replace

from gpucheck.commands.bench.wording import advice, ranked, varying

FLOAT16 = "mixed_float16"


REFUSED = (
    "InternalError: Autotuner could not find any supported configs for HLO: %cudnn-conv-bias-activation.9 = (bf16[256,32,32,64]{3,2,1,0},"
    ' u8[0]{0}) custom-call(%Cast.29, %transpose, %Cast.34), custom_call_target="__cudnn$convBiasActivationForward"'
)


def timed(seconds, spread=0.0, **settings):
    """Return a configuration whose ten steps take these seconds."""
    return one(seconds=(seconds, seconds * (1 - spread), seconds * (1 + spread)), device=(seconds,) * 3, **settings)


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ([timed(1.0)], []),
        ([timed(2.0), timed(1.0, precision=FLOAT16)], ["Change precision to mixed_float16: 2.00 times as fast as float32."]),
        (
            [timed(1.0), timed(2.0, precision=FLOAT16)],
            ["Keep precision at float32 (mixed_float16 is 0.50 times as fast)."],
        ),
        (
            [timed(1.0, spread=0.2), timed(1.1, xla=True)],
            ["No conclusion on XLA on: the ranges overlap with the first configuration's; increase --repeats."],
        ),
        (
            [timed(2.0), timed(2.0, xla=True), timed(5.0, precision=FLOAT16), timed(1.0, batch=128)],
            [
                "Change batch to 128 per replica: 2.00 times as fast as 64 per replica.",
                "Keep precision at float32 (mixed_float16 is 0.40 times as fast).",
                "No conclusion on XLA on: the ranges overlap with the first configuration's; increase --repeats.",
            ],
        ),
        (
            [timed(2.0), timed(1.0, at_once=8)],
            ["Change steps per execution to 8: 2.00 times as fast as 1."],
        ),
        (
            [timed(1.0), timed(1.5, at_once=8), timed(1.0, spread=0.1, at_once=4)],
            [
                "Keep steps per execution at 1 (8 is 0.67 times as fast).",
                "No conclusion on steps per execution 4: the ranges overlap with the first configuration's; increase --repeats.",
            ],
        ),
        (
            [replace(one(seconds=(2.0,) * 3), gpus=(HOT,))],
            [
                "The normal speed is unknown: GPUs were throttled (HwThermalSlowdown), see `gpucheck explain gpu-throttled`.",
                "Change the input pipeline: 1 of 1 configuration spends much of each step waiting for input, see `gpucheck explain input-pipeline-bound`.",
            ],
        ),
    ],
)
def test_advice_for_measured_configurations(measured, expected):
    measured = [replace(each, samples_per_second=scaled(each)) for each in measured]
    assert advice(measured) == expected


def scaled(measurement):
    """The speed as if every configuration had the same batch: the times of the cases are those of one batch."""
    speed, factor = measurement.samples_per_second, 64 / measurement.global_batch_size
    return replace(speed, median=speed.median * factor, minimum=speed.minimum * factor, maximum=speed.maximum * factor)


def test_shared_global_batch_is_not_reported_as_a_difference():
    shared = [one(batch=128, seconds=(2.0,) * 3, device=(2.0,) * 3), one(2, batch=64, seconds=(1.0,) * 3, device=(1.0,) * 3)]
    assert advice(shared) == ["Change strategy to mirrored on GPU:0-1: 2.00 times as fast as one_device on GPU:0."]
    assert [list(names) for names in varying(shared)] == [["strategy"]] * 2


def test_logical_cpu_devices_are_not_compared_with_the_whole_cpu():
    parts = replace(one(2, seconds=(1.0,) * 3, device=(1.0,) * 3), devices=("CPU:0", "CPU:1"))
    whole = [replace(timed(seconds, batch=batch), devices=("CPU:0",)) for seconds, batch in ((2.0, 64), (1.0, 128))]
    assert advice([whole[0], parts]) == []
    assert advice([*whole, parts]) == ["Change batch to 128 per replica: 4.00 times as fast as 64 per replica."]


def test_ranked_by_speed():
    order = ranked([timed(2.0), timed(1.0, precision=FLOAT16), timed(1.1, spread=0.2, xla=True)])
    assert [(each.precision, each.xla, round(ratio, 2), noise) for each, ratio, noise in order] == [
        (FLOAT16, False, 1.0, True),
        ("float32", True, 0.91, True),
        ("float32", False, 0.5, False),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (REFUSED, ["XLA can't run a convolution with the loaded cuDNN, see `gpucheck explain cudnn-version-mismatch`."]),
        ("ValueError: the data has no labels", []),
    ],
)
def test_cause_of_a_failed_configuration(reason, expected):
    assert advice([one(), replace(one(xla=True), status="failed", reason=reason, samples_per_second=None)]) == expected
