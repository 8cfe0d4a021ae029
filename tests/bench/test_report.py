import csv
import dataclasses
import io
import json

import pytest
from bench.cases import HOT, LOAD, PROFILE, names, one, result
from msgspec.structs import replace

from gpucheck.bench import report
from gpucheck.bench.figures import measurement
from gpucheck.bench.model import Ask, Sample
from gpucheck.child.messages.benchmark import Configuration, Measured

LOOK = {"width": 100, "color": False, "ascii": False}
FAILED = measurement(Configuration("mirrored", names(8), "float32", False, 64), Measured("NCCL: no\x1b[31m answer"))
MISSED = measurement(Configuration("mirrored", names(8), "float32", False, 64), None, "interrupted")


def test_json():
    got = json.loads(report.render(result(), "json", **LOOK))
    assert got["schema_version"] == "1.0"
    first = got["measurements"][0]
    assert first["samples_per_second"]["median"] == pytest.approx(320)
    assert first["scaling_efficiency_percent"] is None
    assert got["measurements"][1]["scaling_efficiency_percent"] == pytest.approx(100)


def test_json_holds_the_timeline():
    sample = Sample(seconds=1.2, device="GPU:0", utilization_percent=98.0)
    (got,) = json.loads(report.render(result(samples=(sample,)), "json", **LOOK))["samples"]
    assert got == {"seconds": 1.2, "device": "GPU:0", "utilization_percent": 98.0, "power_watts": None, "sm_clock_mhz": None}


def test_csv():
    text = report.render(result([replace(one(profile=PROFILE), gpus=(LOAD, HOT)), FAILED]), "csv", **LOOK)
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    assert len(rows) == 2
    assert None not in rows[0]
    assert float(rows[0]["samples_per_second_median"]) == pytest.approx(320)
    assert (rows[0]["sm_clock_mhz"], rows[0]["scaling_efficiency_percent"]) == ("1980.0 990.0", "")
    assert (rows[0]["clock_event_reasons"], rows[0]["slowed_by"]) == ("SwPowerCap HwThermalSlowdown", "HwThermalSlowdown")
    assert (rows[0]["traced_steps"], rows[0]["traced_input_seconds"], rows[1]["traced_input_seconds"]) == ("10", "0.04", "")
    assert (rows[1]["status"], rows[1]["devices"].split()[-1]) == ("failed", "GPU:7")
    assert len({len(row) for row in csv.reader(io.StringIO(text))}) == 1


def test_terminal():
    text = report.render(result([replace(one(), gpus=(LOAD,)), one(2), FAILED], ask=Ask(price_per_hour=3.6)), "terminal", **LOOK)
    for words in (
        "one_device on GPU:0, float32, batch 64 per replica",
        "320 (160 to 640) samples/s; a step 200 ms, an epoch of 10 steps 2.0 s",
        "640 (640 to 640) samples/s on one resident batch; 50 % (0 to 75) of a step waits for input",
        "first step 5.0 s (trace, compile, autotune), 6 steps 6.0 s; in no other figure",
        "1 GiB at its peak",
        "97 % busy, 410 W, 1,980 MHz (median of 3 samples)",
        "100 % of 2 × one device",
        "0.002 per epoch",
        "fastest here: mirrored on GPU:0-1, float32, batch 64 (640 samples/s)",
    ):
        assert words in " ".join(text.split())
    assert "failed: NCCL: no" in text
    assert "\x1b" not in text


def test_where_a_traced_step_went():
    text = report.render(result([one(profile=PROFILE)]), "terminal", **LOOK)
    assert "trace/one: of a step's 200 ms, device 150 ms (75 %), input 40 ms (20 %), host 10 ms (5 %)" in " ".join(text.split())
    unread = report.render(
        result([one(profile=dataclasses.replace(PROFILE, traced=None, problem="no host"))]), "terminal", **LOOK
    )
    assert "trace/one: no host" in unread
    none = report.render(
        result([one(profile=dataclasses.replace(PROFILE, recorded=False, traced=None, problem="busy"))]), "terminal", **LOOK
    )
    assert "none: busy" in none


def test_slowed_gpus_are_named():
    text = " ".join(report.render(result([replace(one(2), gpus=(LOAD, HOT))]), "terminal", **LOOK).split())
    assert "990 MHz (median of 3 samples); slowed down by HwThermalSlowdown" in text
    assert "GPUs were slowed down while they were measured (HwThermalSlowdown): see `gpucheck explain gpu-throttled`" in text
    assert "gpu-throttled" not in report.render(result([replace(one(), gpus=(LOAD,))]), "terminal", **LOOK)


def test_a_strategy_without_devices():
    missed = measurement(Configuration("tpu", (), "float32", False, 64), None, "not here")
    text = report.render(result([missed, one()]), "terminal", **LOOK)
    assert "tpu, float32, batch 64 per replica\n  not measured: not here" in text


def test_narrow_and_ascii():
    text = report.render(result([one(), one(2), FAILED], notes=("a note",)), "terminal", width=40, color=False, ascii=True)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 40


def test_what_is_missing_is_said():
    text = report.render(result([one(2), MISSED], ended="interrupted"), "terminal", **LOOK)
    assert "one device was not measured" in text
    assert "not measured: interrupted" in text
    assert "interrupted after 1 of 2 configurations" in text


def test_hints_only_where_they_hold():
    assert "explain" not in report.render(result(), "terminal", **LOOK)  # one repeat did not wait
    waiting = one(seconds=(2.0, 2.0, 2.0))
    assert "1 of 1 wait for input" in report.render(result([waiting]), "terminal", **LOOK)
    assert "0.9 was not reached" in report.render(result(ask=Ask(target_accuracy=0.9)), "terminal", **LOOK)
