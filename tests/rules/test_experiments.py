"""Rules that read what experiments measured: where a slow step's time goes, and what each remedy gave."""

import pytest
from one_rule import changed, found, outcome, roots, status

from gpucheck.model import Status

SCALING, PEERS, INPUT, BATCH = (
    "scaling-inefficient",
    "peer-access-unavailable",
    "input-pipeline-bound",
    "small-per-replica-batch",
)
QUOTA, COMPILED = "cpu-quota-too-low", "kernels-jit-compiled"
EIGHT = [f"GPU:{ordinal}" for ordinal in range(8)]
# Seconds of a step: eight GPUs on the pipeline, on repeated batches, one GPU likewise, and the exchange alone.
SYNCHRONIZED = {
    "all_devices_step_seconds": 0.032,
    "all_devices_repeated_batch_step_seconds": 0.0315,
    "gradient_all_reduce_seconds": 0.013,
}
STARVED = {
    "all_devices_step_seconds": 0.032,
    "all_devices_repeated_batch_step_seconds": 0.019,
    "gradient_all_reduce_seconds": 0.001,
}
NEITHER = {
    "all_devices_step_seconds": 0.032,
    "all_devices_repeated_batch_step_seconds": 0.0315,
    "gradient_all_reduce_seconds": 0.002,
}
ALONE = {"one_device_step_seconds": 0.0175, "one_device_repeated_batch_step_seconds": 0.0174, "per_replica_batch_size": 64}


def measured(figures, efficiency=0.55, devices=EIGHT, made="passed", **more):
    experiment = {"name": "scaling", "status": made, "devices": devices, "figures": {**ALONE, **figures}}
    changes = {"training.runs[8].scaling_efficiency": efficiency, "training.experiments": [experiment], **more}
    return changed(changes, "hgx-h200")


def without_nvlink(plain):
    for gpu in plain["gpus"]["gpus"]:
        gpu.update(nvlinks=[], fabric_state="not-supported", pcie_generation_max=4)
    return plain


def test_the_exchange_of_gradients_is_told_apart():
    finding = found(SCALING, measured({**SYNCHRONIZED, "large_all_reduce_bytes_per_second": 41e9}))
    assert finding.summary == (
        "mirrored on GPU:0-7 reaches 55 % of 8 times what one GPU does alone: of the 14.5 ms that a step takes longer,"
        " summing gradients over NVLink takes 13 ms."
    )
    assert "larger batch per replica" in finding.fix[0].text
    fields = {(item.fact, item.field) for item in finding.evidence}
    assert ("training", "experiments[0].figures.gradient_all_reduce_seconds") in fields
    assert any(fact == "gpus" and "nvlinks" in field for fact, field in fields)
    assert "41 GB/s" in finding.fix[1].text


def test_gpus_that_only_pcie_joins():
    plain = without_nvlink(measured(SYNCHRONIZED))
    finding = found(SCALING, plain)
    assert finding.summary.endswith("summing gradients over PCIe 4.0 with 16 lanes, without NVLink, takes 13 ms.")
    assert finding.fix[0].command == "nvidia-smi topo -m"
    assert ("gpus", "gpus[0].pcie_width") in {(item.fact, item.field) for item in finding.evidence}


def test_a_link_that_is_down_on_one_gpu_is_no_nvlink_between_all():
    plain = measured(SYNCHRONIZED)
    plain["gpus"]["gpus"][3]["nvlinks"] = []
    assert "without NVLink" in found(SCALING, plain).summary


def test_how_gpus_are_joined_need_not_be_known():
    plain = measured(SYNCHRONIZED)
    plain["gpus"] = None
    assert found(SCALING, plain).summary.endswith("of the 14.5 ms that a step takes longer, summing gradients takes 13 ms.")


def test_the_input_pipeline_is_told_apart():
    finding = found(SCALING, measured(STARVED))
    assert finding.summary.endswith(
        "of the 14.5 ms that a step takes longer, waiting for the input pipeline, which has 8 to feed, takes 12.9 ms."
    )
    assert "prefetch" in finding.fix[0].text


def test_no_single_cause():
    finding = found(SCALING, measured(NEITHER))
    assert finding.summary.endswith(
        ", and no single cause for it was found: of the 14.5 ms that a step takes longer, summing gradients takes 2 ms and the"
        " input pipeline 0.4 ms."
    )


@pytest.mark.parametrize(
    "plain",
    [
        measured(SYNCHRONIZED, made="failed"),
        measured(SYNCHRONIZED, devices=EIGHT[:4]),
        measured({**SYNCHRONIZED, "all_devices_step_seconds": None}),
        measured({**SYNCHRONIZED, "all_devices_step_seconds": 0.01}),  # no longer than one device's
    ],
)
def test_what_was_not_measured_is_not_told_apart(plain):
    assert found(SCALING, plain).summary.endswith("of 8 times what one GPU does alone, and no cause for it was found.")


def test_a_larger_batch_that_helps_is_the_root():
    assert roots(measured(SYNCHRONIZED, **{"training.runs[8].doubled_batch_scaling_efficiency": 0.78})) == [BATCH]


def test_a_larger_batch_that_helps_is_the_cause_that_was_found():
    doubled = {"training.runs[8].doubled_batch_scaling_efficiency": 0.78}
    assert found(SCALING, measured(NEITHER, **doubled)).summary.endswith(
        "what one GPU does alone: of the 14.5 ms that a step takes longer, summing gradients takes 2 ms and the input pipeline 0.4 ms."
    )
    assert found(SCALING, measured(NEITHER, made="failed", **doubled)).summary.endswith("what one GPU does alone.")


@pytest.mark.parametrize(
    ("beside", "code"), [({"training.runs[0].input_wait_share": 0.25}, INPUT), ({"limits.cpu_quota": 15.0}, QUOTA)]
)
def test_what_starves_one_gpu_is_not_blamed_for_the_exchange_between_them(beside, code):
    assert set(roots(measured(SYNCHRONIZED, **beside))) == {SCALING, code}
    assert roots(measured(STARVED, **beside)) == [code]


def test_missing_peer_access_is_not_blamed_for_the_pipeline():
    missing = {"cuda.peers_missing": [[0, 1], [1, 0]]}
    plain = without_nvlink(measured(STARVED, **missing))
    assert roots(plain) == [SCALING]
    plain = without_nvlink(measured(SYNCHRONIZED, **missing))
    assert roots(plain) == [PEERS]
    assert "summing gradients takes 13 ms of each step" in found(PEERS, plain).summary


def test_logical_cpu_devices_are_never_judged():
    experiment = {
        "name": "scaling", "status": "passed", "devices": ["CPU:0", "CPU:1"], "figures": {**ALONE, **SYNCHRONIZED},
    }  # fmt: skip
    plain = changed({"training.experiments": [experiment], "training.runs[1].scaling_efficiency": 0.3}, "laptop-cpu")
    assert roots(plain) == []


LADDER = {
    "batch_size": 64, "jpeg_decode_and_augment_seconds_per_sample": 0.00042, "device_samples_per_second": 3650.0, "piped_samples_per_second": 1460.0,
    "jpeg_plain_samples_per_second": 410.0, "jpeg_prefetch_samples_per_second": 612.0, "jpeg_parallel_map_samples_per_second": 1930.0,
    "jpeg_cache_samples_per_second": 3200.0, "jpeg_larger_batch_size": 128, "jpeg_larger_batch_samples_per_second": 3900.0,
}  # fmt: skip


def starved(figures, **more):
    experiment = {"name": "input_pipeline", "status": "passed", "devices": ["GPU:0"], "figures": figures}
    rates = {"input_wait_share": 0.6, "device_samples_per_second": 3650.0, "piped_samples_per_second": 1460.0}
    waiting = {f"training.runs[0].{name}": value for name, value in rates.items()}
    return changed({**waiting, "training.experiments": [experiment], **more})


def test_the_fix_says_what_each_remedy_gave():
    finding = found(INPUT, starved(LADDER))
    # From the experiment's own steps, as the share is; Model.fit's rate is another loop's.
    assert finding.summary.endswith("in 60 % of its time: 1460 samples per second instead of 3650.")
    assert "runs[0].samples_per_second" not in {item.field for item in finding.evidence}
    assert [fix.text for fix in finding.fix] == [
        "Prepare batches ahead: end the pipeline with dataset.prefetch(tf.data.AUTOTUNE); tried on GPU:0 with samples that take"
        " 0.42 ms each to decode and augment, that gave 612 instead of 410 samples per second",
        "Prepare samples on several cores: dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE); that gave 1930 instead of 612"
        " samples per second",
        "Keep what was read: dataset.cache() before the random augmentation; that gave 3200 instead of 1930 samples per second",
        "Read from fewer, larger files (TFRecord, interleave), and augment on the GPU with Keras layers in the model",
        "Expect less of a larger batch: tried on GPU:0, too, without 1.3 times as much",
    ]


def on_cpu(*rates):
    """A CPU that waits for its pipeline, and the rates of the ladder."""
    names = ("plain", "prefetch", "parallel_map", "cache", "larger_batch")
    figures = {"jpeg_decode_and_augment_seconds_per_sample": 0.00022}
    figures.update({f"jpeg_{name}_samples_per_second": rate for name, rate in zip(names, rates, strict=True)})
    experiment = {"name": "input_pipeline", "status": "passed", "devices": ["CPU:0"], "figures": figures}
    return changed({"training.runs[0].input_wait_share": 0.4, "training.experiments": [experiment]}, "laptop-cpu")


def test_what_was_measured_as_slower_is_not_recommended():
    """Nothing helped: the general advice, and no figure that speaks against it."""
    texts = [fix.text for fix in found(INPUT, on_cpu(351.4, 268.4, 214.0, 261.1, 144.5)).fix]
    assert texts[0].startswith("Prepare batches ahead, on several cores")
    assert texts[-1].startswith("Measure each of them with your own samples: tried on CPU:0, none of prefetch, a parallel map, ")
    assert not any("samples per second" in text or "GPU" in text for text in texts)


def test_only_what_beats_those_that_helped_before_it_has_helped():
    """A cache that wins back some of what a parallel map lost has not helped, nor a gain within the scatter."""
    first, files, little = [fix.text for fix in found(INPUT, on_cpu(244.3, 250.0, 100.0, 200.0, 400.0)).fix]
    assert first.startswith("Take batches of twice the size; tried on CPU:0 with")
    assert first.endswith("that gave 400 instead of 244 samples per second")
    assert "GPU" not in files
    assert little == "Expect less of prefetch, a parallel map and a cache: tried on CPU:0, too, without 1.3 times as much"


def test_two_small_gains_are_one_together():
    first, _, little = [fix.text for fix in found(INPUT, on_cpu(100.0, 120.0, 144.0, 150.0, 150.0)).fix]
    assert first.startswith("Prepare samples on several cores")
    assert first.endswith("that gave 144 instead of 100 samples per second")
    assert little.startswith("Expect less of prefetch, a cache and a larger batch: ")


def test_without_the_experiment_a_cpu_is_told_nothing_of_a_gpu():
    finding = found(INPUT, changed({"training.runs[0].input_wait_share": 0.4}, "laptop-cpu"))
    assert not any("GPU" in fix.text for fix in finding.fix)


def test_a_remedy_that_was_not_tried_has_no_figure():
    finding = found(INPUT, starved({"piped_samples_per_second": 1460.0}))
    assert not any("gave" in fix.text or "tried" in fix.text for fix in finding.fix)
    other = starved(LADDER)
    other["training"]["experiments"][0]["status"] = "failed"
    assert not any("gave" in fix.text for fix in found(INPUT, other).fix)


def test_too_few_processors_are_judged_by_what_they_achieved():
    few = {"limits.cpu_quota": 1.0}
    enough = {**LADDER, "jpeg_parallel_map_samples_per_second": 3300.0}
    assert status(QUOTA, starved(enough, **few)) is Status.CLEAR
    finding = found(QUOTA, starved(LADDER, **few))
    assert finding.summary == (
        "This container or job may use 1 of 16 processors for 1 GPU; decoding and augmenting on all of them, it fed GPU:0 1930"
        " samples per second, of the 3650 that the GPU can train."
    )
    assert ("training", "experiments[0].figures.jpeg_parallel_map_samples_per_second") in {
        (item.fact, item.field) for item in finding.evidence
    }
    assert "at least 2 per GPU" in found(QUOTA, changed(few)).summary


def jit(*seconds, compiled=(), machine="hgx-h200"):
    """The first step's seconds of the first jobs."""
    changes = {f"training.runs[{place}].first_step_seconds": value for place, value in enumerate(seconds)}
    changes.update({f"training.runs[{place}].compiled": True for place in compiled})
    return changed(changes, machine)


def test_a_first_step_is_slow_measured_by_the_others():
    slow = jit(14.0, *[1.2] * 7, 1.3)
    assert found(COMPILED, slow).summary.startswith("The first training step took 14 s, where it takes 1.2 s in other jobs,")
    assert status(COMPILED, jit(14.0, *[9.0] * 7)) is Status.CLEAR  # all of them take long: nothing that the first one compiled
    assert status(COMPILED, jit(4.4, *[0.3] * 7, 0.4)) is Status.CLEAR  # libraries are loaded once


def test_what_xla_compiles_is_not_the_drivers():
    """On a healthy H200 the first step under XLA takes a minute or more: it compiles and autotunes."""
    assert status(COMPILED, jit(160.0, compiled=(0,), machine="h200")) is Status.CLEAR
    assert outcome(COMPILED, jit(160.0, machine="h200")).finding is not None
