"""What the experiments of a run measured, in the reports that people read."""

import html5lib
import msgspec
import pytest
from reports.builders import report

from gpucheck.model import Evidence, Experiment
from gpucheck.reports import html, markdown, terminal
from gpucheck.reports.shared import experiments
from gpucheck.reports.shared.evidence import evidence

MADE = (
    Experiment(
        name="input_pipeline",
        status="passed",
        devices=("GPU:0",),
        figures={
            "batch_size": 64, "device_samples_per_second": 3650.0, "input_wait_share": 0.0234, "jpeg_decode_and_augment_seconds_per_sample": 0.00042,
            "jpeg_prefetch_samples_per_second": None,
        },
    ),
    Experiment(name="tensor_float_32", status="skipped", reason="TF32 begins with 8.0"),
    Experiment(
        name="memory_after_clear", status="failed", reason="memory is not given back", devices=("GPU:0",),
        figures={"least_growth_of_a_round_bytes": 64.0 * 2**20},
    ),
    Experiment(name="scaling", status="timed_out", reason="out of time", devices=("GPU:0", "GPU:1")),
)  # fmt: skip


def made(tried=MADE):
    return msgspec.structs.replace(report("h200"), experiments=tried)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("device_samples_per_second", 3650.4, "device 3,650 samples/s"),
        ("samples_per_second", 17.53, "17.5 samples/s"),
        ("gradient_all_reduce_seconds", 0.0130, "gradient all reduce 13 ms"),
        ("first_step_seconds", 4.4, "first step 4.4 s"),
        ("exchange_seconds", 0.0000421, "exchange 42.1 µs"),
        ("jpeg_decode_and_augment_seconds_per_sample", 0.00042, "JPEG decode and augment 420 µs per sample"),
        ("large_all_reduce_bytes", 4 << 20, "large all reduce 4 MiB"),
        ("large_all_reduce_bytes_per_second", 2.0 * 2**30, "large all reduce 2 GiB/s"),
        ("all_devices_repeated_batch_step_seconds", 0.188, "all devices repeated batch step 188 ms"),
        ("limit_set_by_gpucheck_bytes", 1 << 30, "limit set by gpucheck 1 GiB"),
        ("other_slowdown_share", -0.031, "other slowdown -3.1 %"),
        ("gpu_0_free_bytes", 11 << 30, "GPU 0 free 11 GiB"),
        ("gradient_bytes", 1495080, "gradient 1.43 MiB"),
        ("input_wait_share", 0.0234, "input wait 2.3 %"),
        ("doubled_batch_scaling_efficiency", 0.784, "doubled batch scaling efficiency 78 %"),
        ("tf32_speedup", 1.849, "TF32 speedup 1.85 ×"),
        ("first_loss_relative_difference", 2.1e-7, "first loss relative difference 2e-07"),
        ("break_even_steps", 10001, "break even 10,001 steps"),
        ("steps", 6, "6 steps"),
        ("xla_step_seconds", 0.004, "XLA step 4 ms"),
        ("break_even_steps", None, "break even unknown"),
    ],
)
def test_a_figure_has_its_name_and_its_unit(name, value, words):
    assert experiments.figure(name, value) == words


def test_in_the_terminal():
    text = terminal.render(made(), width=100, color=False, ascii=False, verbose=True)
    assert (
        "  experiments\n"
        "    input pipeline on GPU:0: ok\n"
        "      batch size 64 · device 3,650 samples/s · input wait 2.3 %\n"
        "      JPEG decode and augment 420 µs per sample · JPEG prefetch unknown\n"
    ) in text  # a figure's name and its value stay together
    assert "JPEG decode and augment 420 us per sample" in terminal.render(
        made(), width=100, color=False, ascii=True, verbose=True
    )
    assert "    tensor float 32: not tried: TF32 begins with 8.0\n" in text
    assert "    memory after clear on GPU:0: FAIL: memory is not given back\n      least growth of a round 64 MiB\n" in text
    assert "    scaling on GPU:0-1: out of time\n" in text


def test_without_experiments_nothing_is_said_of_them():
    plain = made(())
    assert "experiments" not in terminal.render(plain, width=100, color=False, ascii=False, verbose=True)
    assert "## Experiments" not in markdown.render(plain)
    assert 'id="experiments"' not in html.render(plain)


def test_in_markdown():
    text = markdown.render(made(), facts=False)
    start = text.index("## Experiments")
    assert text[start:].splitlines()[2:8] == [
        "| experiment | devices | result | measured |",
        "| --- | --- | --- | --- |",
        "| input pipeline | GPU:0 | passed | batch size 64, device 3,650 samples/s, input wait 2.3 %, JPEG decode and augment 420 µs per sample,"
        " JPEG prefetch unknown |",
        "| tensor float 32 | – | skipped: TF32 begins with 8.0 | – |",
        "| memory after clear | GPU:0 | failed: memory is not given back | least growth of a round 64 MiB |",
        "| scaling | GPU:0-1 | timed_out: out of time | – |",
    ]


def test_in_html():
    tree = html5lib.HTMLParser(strict=True).parse(html.render(made()))
    rows = [" ".join("".join(row.itertext()).split()) for row in tree.iter("{http://www.w3.org/1999/xhtml}tr")]
    assert any(row.startswith("input pipelineGPU:0passed") for row in rows)
    assert any("memory is not given back" in row and "least growth of a round 64 MiB" in row for row in rows)


def test_what_an_experiment_says_is_no_markup():
    hostile = (
        Experiment(name="a|b", status="failed", reason="<b>*x*</b>\x1b[31m", devices=("<i>",), figures={"<u>_share": 0.5}),
    )
    assert "\x1b" not in terminal.render(made(hostile), width=80, color=False, ascii=False, verbose=True)
    assert "<b>" not in markdown.render(made(hostile), facts=False)
    page = html.render(made(hostile))
    assert "<u>" not in page
    assert "<i>" not in page


def test_a_figure_that_a_finding_rests_on():
    whole = report("h200", [("training.experiments", [msgspec.to_builtins(MADE[0])])])
    seen = Evidence(fact="training", field="experiments[0].figures.jpeg_decode_and_augment_seconds_per_sample", value=0.00042)
    assert evidence(seen, whole).startswith("experiment input pipeline JPEG decode and augment seconds per sample: ")
