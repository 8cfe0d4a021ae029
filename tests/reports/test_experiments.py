"""The figures of experiments, with names and units, and the conclusion of --full, which has only measured values.

Complete reports are in the files of ``test_goldens.py``.
"""

import pytest
from msgspec.structs import replace
from reports.builders import report
from reports.cases import CASES, SITUATIONS, situation

from gpucheck.core.model import Evidence, Experiment, Request
from gpucheck.core.reports import html, markdown, terminal
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.experiments import conclusion, measured

GPUS = tuple(f"GPU:{number}" for number in range(8))
LOOK = {"width": 80, "color": False, "ascii": False, "verbose": True}


def test_text_of_an_experiment_is_not_markup():
    hostile = Experiment(name="a|b", status="failed", reason="<b>*x*</b>\x1b[31m", devices=("<i>",), figures={"<u>_share": 0.5})
    made = replace(report("h200"), experiments=(hostile,))
    assert "\x1b" not in terminal.render(made, **LOOK)
    assert "<b>" not in markdown.render(made, facts=False)
    assert "<u>" not in html.render(made)
    assert "<i>" not in html.render(made)
    assert "experiments" not in terminal.render(report("h200"), **LOOK)
    assert "Experiments" not in markdown.render(report("h200")) + html.render(report("h200"))


def test_figures_in_tables_and_as_evidence():
    made = situation(**SITUATIONS["experiments"])
    row = "| memory after clear | GPU:0 | failed: memory is not given back | least growth of a round 64 MiB |"
    assert row in markdown.render(made, facts=False).splitlines()
    assert "least growth of a round 64 MiB</td>" in html.render(made)
    seen = Evidence(fact="training", field="experiments[0].figures.jpeg_decode_seconds_per_sample", value=0.00042)
    assert evidence(seen, made).startswith("experiment input pipeline JPEG decode seconds per sample: ")


def test_requested_soak_is_shown_without_verbose():
    figures = {
        "computations": 42,
        "rounds": 298,
        "repeated_seconds": 301.3,
        "unavailable": 1,
        "highest_celsius": 71,
        "sm_clock_mhz": 1980,
    }
    soaked = Experiment(name="repeated_computations", status="passed", devices=("GPU:0",), figures=figures)
    look = {**LOOK, "verbose": False, "width": 120}
    for request, shown in ((Request(soak_minutes=5), True), (Request(), False)):
        made = replace(report("h200", request=request), experiments=(soaked,))
        line = "298 rounds of 42 computations, the same results each time; 1 not available on a device; at most 71 °C; SM clock 1,980 MHz"
        assert (line in " ".join(terminal.render(made, **look).split())) is shown


def said(name, devices=("GPU:0",), status="passed", reason=None, **figures):
    made = Experiment(name=name, status=status, reason=reason, devices=devices, figures=figures)
    return [(one.kind, one.text) for one in conclusion(replace(CASES["pass-h200"](), experiments=(made,)))]


@pytest.mark.parametrize(
    ("name", "devices", "figures", "kind", "words"),
    [
        ("input_pipeline", ("GPU:0",), {"input_wait_share": 0.31}, "limits", "31 % of a step is spent waiting for data."),
        ("input_pipeline", ("GPU:0",), {"input_wait_share": 0.02}, "fine", "2 % of a step is spent waiting for data."),
        (
            "input_pipeline",
            ("GPU:0",),
            {"jpeg_plain_samples_per_second": 100.0, "jpeg_prefetch_samples_per_second": 150.0, "jpeg_cache_samples_per_second": 300.0},
            "change",
            "Where images are read from files, .cache() after a parallel map, and .prefetch(tf.data.AUTOTUNE) made training 3.0 times"
            " as fast (300 samples/s, not 100).",
        ),
        (
            "input_pipeline",
            ("CPU:0",),
            {"jpeg_plain_samples_per_second": 140.0, "jpeg_prefetch_samples_per_second": 300.0, "jpeg_larger_batch_samples_per_second": 323.0},
            "change",
            "Where images are read from files, .prefetch(tf.data.AUTOTUNE) made training 2.1 times as fast (300 samples/s, not 140).",
        ),
        ("precision", ("GPU:0",), {"mixed_float16_training_speedup": 1.9, "mixed_bfloat16_training_speedup": None}, "change", "mixed_float16 trained 1.9"),
        ("precision", ("CPU:0",), {"mixed_float16_training_speedup": 0.0089, "mixed_bfloat16_training_speedup": 0.5}, "leave", "The precision at float32: mixed_float16 0.0089 times and mixed_bfloat16 0.5 times as fast."),
        ("xla_warm_up", ("CPU:0",), {"step_seconds": 0.02, "xla_step_seconds": 0.019, "xla_first_step_seconds": 9.0}, "leave", "XLA off (jit_compile=False): a step took 19 ms with it, and 20 ms without."),
        ("xla_warm_up", ("GPU:0",), {"step_seconds": 0.02, "xla_step_seconds": 0.01, "xla_first_step_seconds": 9.0, "break_even_steps": 800.0}, "change", "XLA (jit_compile=True) made a step 2.0 times as fast; it pays off from step 800 on."),
        ("scaling", GPUS, {"scaling_efficiency": 0.5, "doubled_batch_scaling_efficiency": 0.55}, "limits", "GPU:0-7 do the work of 4.0: 50 % of 8 times one."),
        ("scaling", GPUS, {"scaling_efficiency": 0.93}, "fine", "GPU:0-7 do the work of 7.4."),
        ("memory_after_clear", ("GPU:0",), {}, "fine", "Memory is released after clear_session."),
    ],
)  # fmt: skip
def test_sentence_for_measured_figures(name, devices, figures, kind, words):
    ((got_kind, text),) = said(name, devices, **figures)
    assert (got_kind, text[: len(words)]) == (kind, words)


def test_larger_batch_is_suggested_if_it_scaled_better():
    kinds = [kind for kind, _ in said("scaling", GPUS, scaling_efficiency=0.5, doubled_batch_scaling_efficiency=0.8)]
    assert kinds == ["limits", "change"]


def test_unmeasured_figures_are_omitted():
    assert said("precision", mixed_float16_training_speedup=1.1) == said("xla_warm_up", step_seconds=1.0) == []
    assert said("out_of_memory", status="skipped", reason="no time") == []
    assert said("out_of_memory", status="failed", reason="it ended") == [
        ("limits", "The experiment out of memory failed: it ended.")
    ]
    made = Experiment(name="scaling", status="passed", figures={"scaling_efficiency": 0.5, "gradient_all_reduce_seconds": None})
    assert measured(made) == "efficiency 50 %"
