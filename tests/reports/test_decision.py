"""The decision table: per path what was measured of its first metric, and whether it fits; never an estimate."""

import html5lib
import msgspec
import pytest
from reports.builders import PASSED, eight, found, report, rule

from gpucheck.model import Level, Request, Severity, TrainingRun
from gpucheck.reports import html, markdown, terminal
from gpucheck.reports.shared import hardware_paths

EIGHT = [f"GPU:{ordinal}" for ordinal in range(8)]
ONES = [{**PASSED, "devices": [device], "samples_per_second": 58600.0} for device in EIGHT]
MIRRORED = {**PASSED, "strategy": "mirrored", "devices": EIGHT, "replicas": 8, "samples_per_second": 431000.0}


def table(made):
    return {path.option: (path.measured, path.fits) for path in hardware_paths.paths(made)}


def test_the_table_of_what_fits_where():
    assert [path[:4] for path in hardware_paths.paths(report("h200"))] == [
        ("single GPU", "development and moderate training", "one device's memory and throughput", "peak memory"),
        ("multi-GPU", "throughput-limited training", "synchronization overhead", "scaling efficiency"),
        ("multi-worker", "workloads exceeding one host", "network and operational complexity", "worker utilization"),
        ("TPU", "large, compatible tensor workloads", "backend and runtime constraints", "time to target accuracy"),
    ]


def test_one_gpu():
    assert table(report("h200")) == {
        "single GPU": ("532 MiB of 140 GiB on GPU:0", "fits: GPU:0 alone trains 3,650 samples/s"),
        "multi-GPU": (None, "not here: one GPU has trained"),
        "multi-worker": (None, "not tried: --strategy multi_worker_mirrored does"),
        "TPU": (None, "not here: no TPU"),
    }


def test_no_gpu():
    found = table(report("laptop-cpu"))
    assert found["single GPU"] == (None, "not here: no GPU has trained; the CPU trains 418 samples/s")
    assert found["multi-GPU"] == (None, "not here: no GPU has trained")


def test_logical_cpu_devices_say_nothing_of_gpus():
    made = report("laptop-cpu", [("training.runs[1].scaling_efficiency", 0.45)])
    assert table(made)["multi-GPU"][0] is None


def test_eight_gpus():
    unmeasured = table(eight(runs=[*ONES, MIRRORED]))
    assert unmeasured["single GPU"][1] == "fits: GPU:0 alone trains 58,600 samples/s"
    assert unmeasured["multi-GPU"] == (None, "works: GPU:0-7 train together")
    measured = eight(runs=[*ONES, {**MIRRORED, "scaling_efficiency": 0.92}])
    assert table(measured)["multi-GPU"] == ("92 % on GPU:0-7 (experiment scaling)", "fits: 8 GPUs do the work of 7.4")
    slow = found(rule("scaling-inefficient", Severity.WARNING), summary="Slow.")
    measured = eight(runs=[*ONES, {**MIRRORED, "scaling_efficiency": 0.55}], judgements=[slow])
    assert table(measured)["multi-GPU"] == ("55 % on GPU:0-7 (experiment scaling)", "does not pay: 8 GPUs do the work of 4.4")
    broken = eight(runs=[*ONES, {**MIRRORED, "status": "failed", "scaling_efficiency": None}])
    assert table(broken)["multi-GPU"] == (None, "not yet: GPU:0-7 together did not pass")


WORKERS = {
    **PASSED,
    "strategy": "multi_worker_mirrored",
    "workers": 2,
    "replicas": 2,
    "devices": ["GPU:0", "GPU:1"],
    "cluster": "this machine",
}


def test_workers():
    run = {**WORKERS, "samples_per_second": 106_652.0}
    assert table(eight(runs=[*ONES, run]))["multi-worker"] == (
        "91 % of 2 × GPU:0 alone",
        "works: 2 workers trained together (this machine)",
    )
    shared = {**run, "devices": ["GPU:0", "GPU:0"]}
    assert table(eight(runs=[*ONES, shared]))["multi-worker"][0] is None  # both had the same GPU
    apart = {**shared, "cluster": "TF_CONFIG"}
    assert table(eight(runs=[*ONES, apart]))["multi-worker"][0] == "91 % of 2 × GPU:0 alone"
    unlike = {**run, "per_replica_batch_size": 7}
    assert table(eight(runs=[*ONES, unlike]))["multi-worker"][0] is None
    failed = {**run, "status": "failed"}
    assert table(eight(runs=[*ONES, failed]))["multi-worker"] == (None, "not yet: 2 workers together did not pass")


def test_workers_that_were_not_started_say_why():
    skipped = {**WORKERS, "status": "skipped", "reason": "TF_CONFIG can't be used: no JSON"}
    assert table(eight(runs=[*ONES, skipped]))["multi-worker"] == (None, "not tried: TF_CONFIG can't be used: no JSON")


def test_a_tpu():
    made = report("tpu-v5e")
    assert table(made)["TPU"][0] is None
    assert table(made)["TPU"][1].startswith("fits: TPU:0")
    lost = msgspec.structs.replace(made, training=tuple(msgspec.structs.replace(run, status="failed") for run in made.training))
    assert table(lost)["TPU"][1] == "not yet: the TPU has not trained"


def test_in_the_terminal_where_everything_was_asked_for():
    plain = report("h200")
    assert "which path fits" not in terminal.render(plain, width=120, color=False, ascii=False, verbose=False)
    full = report("h200", request=Request(level=Level.FULL))
    for text in (
        terminal.render(full, width=120, color=False, ascii=False, verbose=False),
        terminal.render(plain, width=120, color=False, ascii=False, verbose=True),
    ):
        assert "  which path fits\n    single GPU     development and moderate training; limit: one device's memory" in text
        assert "                   peak memory: 532 MiB of 140 GiB on GPU:0 · fits: GPU:0 alone trains 3,650 samples/s\n" in text
        assert "                   scaling efficiency: not measured here · not here: one GPU has trained\n" in text


@pytest.mark.parametrize("name", ["h200", "laptop-cpu", "tpu-v5e"])
def test_in_markdown_and_html(name):
    made = report(name)
    text = markdown.render(made, facts=False)
    assert "| single GPU | development and moderate training | one device's memory and throughput | peak memory: " in text
    tree = html5lib.HTMLParser(strict=True).parse(html.render(made))
    cells = [" ".join("".join(cell.itertext()).split()) for cell in tree.iter("{http://www.w3.org/1999/xhtml}td")]
    assert "throughput-limited training" in cells
    assert any("not measured here" in cell for cell in cells)


def test_a_device_that_an_error_is_about_does_not_fit():
    bad = found(rule("device-results-differ"), summary="Wrong.", affects=("GPU:0",))
    assert table(report("h200", judgements=[bad]))["single GPU"] == (
        None,
        "not yet: GPU:0 alone trains 3,650 samples/s; see device-results-differ",
    )
    changes = {"training.runs": [*ONES, MIRRORED]}
    some = table(report("hgx-h200", changes.items(), judgements=[bad]))
    assert some["single GPU"][1] == "fits: GPU:1 alone trains 58,600 samples/s"
    assert some["multi-GPU"] == (None, "not yet: GPU:0-7 train together; see device-results-differ")
    warned = found(rule("device-results-differ", Severity.WARNING), summary="Odd.", affects=("GPU:0",))
    assert "fits: GPU:0" in table(report("h200", judgements=[warned]))["single GPU"][1]


def test_nothing_trained_decides_nothing():
    made = msgspec.structs.replace(report("h200"), training=())
    assert hardware_paths.paths(made) == ()
    assert "which path fits" not in terminal.render(made, width=120, color=False, ascii=False, verbose=True)
    assert "Which path fits" not in markdown.render(made) + html.render(made)


def test_a_run_without_figures():
    made = msgspec.structs.replace(
        report("h200"),
        training=(TrainingRun(strategy="one_device", devices=("GPU:0",), replicas=1, precision="float32", status="passed"),),
    )
    assert table(made)["single GPU"] == (None, "fits: GPU:0 alone trains")
