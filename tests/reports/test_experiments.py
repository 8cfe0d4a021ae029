"""What experiments measured, with names and units; whole reports stand in the files of ``test_goldens.py``."""

import msgspec
import pytest
from reports.builders import report
from reports.cases import SITUATIONS, situation

from gpucheck.model import Evidence, Experiment
from gpucheck.reports import html, markdown, terminal
from gpucheck.reports.shared import experiments
from gpucheck.reports.shared.evidence import evidence

LOOK = {"width": 80, "color": False, "ascii": False, "verbose": True}


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


def test_what_an_experiment_says_is_no_markup():
    hostile = Experiment(name="a|b", status="failed", reason="<b>*x*</b>\x1b[31m", devices=("<i>",), figures={"<u>_share": 0.5})
    made = msgspec.structs.replace(report("h200"), experiments=(hostile,))
    assert "\x1b" not in terminal.render(made, **LOOK)
    assert "<b>" not in markdown.render(made, facts=False)
    assert "<u>" not in html.render(made)
    assert "<i>" not in html.render(made)
    assert "experiments" not in terminal.render(report("h200"), **LOOK)
    assert "Experiments" not in markdown.render(report("h200")) + html.render(report("h200"))


def test_in_tables_and_as_evidence():
    made = situation(**SITUATIONS["experiments"])
    row = "| memory after clear | GPU:0 | failed: memory is not given back | least growth of a round 64 MiB |"
    assert row in markdown.render(made, facts=False).splitlines()
    assert "least growth of a round 64 MiB</td>" in html.render(made)
    seen = Evidence(fact="training", field="experiments[0].figures.jpeg_decode_seconds_per_sample", value=0.00042)
    assert evidence(seen, made).startswith("experiment input pipeline JPEG decode seconds per sample: ")
