"""``gpucheck bench`` as a user runs it."""

import csv
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from leftovers import VARIABLE, leftovers, leftovers_after

needs_tensorflow = pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
ENDLESS = ["--allow-cpu", "--strategy=one_device", "--batch-size=4", "--batch-size=5", "--steps=1000000", "--format=json"]


def gpucheck(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "gpucheck", "bench", *args],
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
        **options,
    )


@needs_tensorflow
@pytest.mark.tensorflow
def test_run_with_profile_plot_and_price(tmp_path):
    marker = f"bench-{os.getpid()}"
    args = ["--allow-cpu", "--batch-size", "4", "--steps", "2", "--epochs", "2", "--price-per-hour", "3600", "--profile", "trace"]
    done = gpucheck(
        *args, "--format", "json", "--output", "b.json", "--plot", "b.svg", cwd=tmp_path, env={**os.environ, VARIABLE: marker}
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [  # without a terminal, a line for each configuration
        "gpucheck: measuring 1 of 2: one_device on 1 CPU, float32, batch 4",
        "gpucheck: measuring 2 of 2: mirrored on 2 CPUs, float32, batch 4",
    ]
    got = json.loads((tmp_path / "b.json").read_text())
    assert got["ended"] == "finished"
    assert got["samples"] == []  # no GPU
    alone, both = got["measurements"]
    assert (alone["strategy"], alone["replicas"], alone["global_batch_size"]) == ("one_device", 1, 4)
    assert (both["strategy"], both["replicas"], both["global_batch_size"], both["devices"]) == (
        "mirrored",
        2,
        8,
        ["CPU:0", "CPU:1"],
    )
    for one in (alone, both):
        assert (one["status"], one["repeats"], one["epochs"], one["steps"]) == ("measured", 3, [2, 2, 2], 2)
        assert one["first_step_seconds"] > one["step_seconds"]["maximum"]
        assert one["warmup_seconds"] > one["first_step_seconds"]
        speed = one["samples_per_second"]
        assert 0 < speed["minimum"] <= speed["median"] <= speed["maximum"]
        assert sorted(speed["values"])[1] == speed["median"]
        assert one["device_samples_per_second"]["median"] > 0
        assert 0 <= one["input_wait_share"]["median"] < 1
        assert one["cost_per_epoch"] == pytest.approx(one["epoch_seconds"]["median"])
        assert one["gpus"] == []
        assert one["profile_problem"] is None
        traced = one["traced"]
        assert traced["steps"] == 2
        whole = traced["device_seconds"] + traced["input_seconds"] + traced["host_seconds"]
        assert whole == pytest.approx(traced["step_seconds"], abs=1e-6)
        assert traced["device_seconds"] > 0
        assert 0 < one["began_seconds"] < one["ended_seconds"] < got["seconds"]
    expected = both["samples_per_second"]["median"] / alone["samples_per_second"]["median"] / 2 * 100
    assert both["scaling_efficiency_percent"] == pytest.approx(expected)
    assert len(set(both["accuracy"]["values"])) == 1  # every repeat does the same work
    assert any("share its cores" in note for note in got["notes"])
    assert list(tmp_path.glob("trace/one_device-1-float32-batch4/**/*.xplane.pb"))
    assert b"Scaling" in (tmp_path / "b.svg").read_bytes()
    assert leftovers_after(marker, 5) == []


@needs_tensorflow
@pytest.mark.tensorflow
@pytest.mark.slow
def test_nan_loss_is_not_measured(tmp_path):
    import numpy as np

    np.savez(tmp_path / "huge.npz", x=np.full((8, 32, 32, 3), 3e38, "float32"), y=np.arange(8))
    args = ["--allow-cpu", "--strategy", "one_device", "--batch-size", "4", "--data", "huge.npz", "--steps", "2"]
    done = gpucheck(*args, "--format", "json", cwd=tmp_path)
    (got,) = json.loads(done.stdout)["measurements"]
    assert (done.returncode, got["status"], got["samples_per_second"]) == (1, "failed", None)
    assert got["reason"].startswith("the loss is not finite")


@needs_tensorflow
@pytest.mark.tensorflow
@pytest.mark.slow
def test_npz_data_to_target_accuracy(tmp_path):
    import numpy as np

    images = np.zeros((40, 32, 32, 3), "uint8")
    images[20:] = 255
    np.savez(tmp_path / "two.npz", x=images, y=np.arange(40)[:, None] // 20)
    args = ["--allow-cpu", "--strategy", "one_device", "--batch-size", "8", "--data", "two.npz", "--target-accuracy", "0.6"]
    done = gpucheck(*args, "--format", "csv", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)  # the line of the configuration
    (row,) = csv.DictReader(io.StringIO(done.stdout), strict=True)
    # A pass over nine tenths of the data.
    assert (row["steps"], row["dropped_samples"], row["held_out_samples"]) == ("4", "4", "4")
    assert float(row["seconds_to_target_median"]) > 0
    assert float(row["accuracy_minimum"]) >= 0.6
    assert max(map(int, row["epochs"].split())) < 20
    np.savez(tmp_path / "bad.npz", x=images, y=np.full(40, 12))
    refused = gpucheck(*args[:-3], "bad.npz", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "bad.npz: y holds classes from 12 to 12; expected 0 to 9" in " ".join(refused.stderr.split())


@needs_tensorflow
@pytest.mark.tensorflow
@pytest.mark.slow
def test_timeout_is_reported_and_leaves_no_process():
    marker = f"bench-late-{os.getpid()}"
    done = gpucheck(*ENDLESS, "--timeout", "20", env={**os.environ, VARIABLE: marker})
    assert done.returncode == 3
    got = json.loads(done.stdout)
    assert got["ended"] == "timed out"
    assert {(one["status"], one["reason"]) for one in got["measurements"]} == {("not-measured", "timed out")}
    assert leftovers_after(marker, 5) == []


@needs_tensorflow
@pytest.mark.tensorflow
def test_ctrl_c_writes_the_report_and_leaves_no_process():
    marker = f"bench-stopped-{os.getpid()}"
    process = subprocess.Popen(
        [sys.executable, "-m", "gpucheck", "bench", *ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, VARIABLE: marker},
    )
    deadline = time.monotonic() + 60
    while len(leftovers(marker)) < 2 and time.monotonic() < deadline:  # gpucheck and its child
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "gpucheck: interrupted\n")
    assert json.loads(out)["ended"] == "interrupted"
    assert leftovers_after(marker, 5) == []


@needs_tensorflow
@pytest.mark.tensorflow
@pytest.mark.slow
def test_missing_tpu_is_not_measured(tmp_path):
    done = gpucheck("--strategy", "tpu", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("gpucheck: nothing to measure: tpu is not measured: no TPU is connected: ")
