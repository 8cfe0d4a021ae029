"""The commands as a user runs them: --expect, snapshot, compare, config, and the sources of settings."""

import json
import os
import subprocess
import sys

import pytest
from command import gpucheck, in_a_process

QUICK = ("--quick", "--allow-cpu")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A snapshot of this machine, and a report of it."""
    folder = tmp_path_factory.mktemp("good")
    done = gpucheck("snapshot", "expected.toml", *QUICK, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "gpucheck: wrote expected.toml\n")
    assert gpucheck(*QUICK, "--format", "json", "--output", "good.json", cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def older_keras(tmp_path_factory):
    """Another environment: a folder that is searched first, with an older Keras."""
    folder = tmp_path_factory.mktemp("overlay")
    for name, text in {
        "keras/__init__.py": '__version__ = "3.4.1"\n',
        "keras-3.4.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: keras\nVersion: 3.4.1\n",
        "keras-3.4.1.dist-info/RECORD": "keras/__init__.py,,22\nkeras-3.4.1.dist-info/METADATA,,\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return {"PYTHONPATH": str(folder)}


@pytest.mark.tensorflow
def test_older_keras_is_the_only_reported_difference(good, older_keras):
    done = in_a_process("compare", "good.json", "--format", "json", cwd=good, env=older_keras)
    assert done.returncode == 1
    found = {(one["group"], one["what"]): one for one in json.loads(done.stdout)["changes"]}
    change = found.pop(("TensorFlow and Keras", "Keras"))
    assert change["new"] == "3.4.1"
    assert change["old"].startswith("3.")
    assert found.keys() <= {("environment variables", "PYTHONPATH")}
    done = in_a_process("compare", "expected.toml", cwd=good, env=older_keras)
    assert done.returncode == 1
    assert "TensorFlow and Keras" in done.stdout
    assert "→ 3.4.1" in done.stdout or "-> 3.4.1" in done.stdout
    assert "1 difference between expected.toml and this machine." in done.stdout


@pytest.mark.slow
@pytest.mark.tensorflow
def test_older_keras_does_not_meet_the_expectations(good, older_keras):
    done = in_a_process(*QUICK, "--expect", "expected.toml", "--format", "json", cwd=good, env=older_keras)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert "version-unexpected" in [one["code"] for one in report["findings"]]
    assert report["facts"]["request"]["expectations"]["versions"]["keras"].startswith("==3.")


def test_refused_snapshot_keeps_the_old_file(tmp_path):
    (tmp_path / "expected.toml").write_text("old")
    gpucheck("snapshot", "expected.toml", "--quick", cwd=tmp_path, env={"CUDA_VISIBLE_DEVICES": "-1"})
    assert (tmp_path / "expected.toml").read_text() == "old"
    assert os.listdir(tmp_path) == ["expected.toml"]


def test_precedence_of_pyproject_variables_and_command_line(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.gpucheck]\nlevel = "quick"\nallow-cpu = true\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    request = json.loads(gpucheck("--format", "json", cwd=inner).stdout)["facts"]["request"]
    assert (request["level"], request["allow_cpu"], request["timeout_seconds"]) == (0, True, 120.0)
    done = gpucheck("--format", "json", cwd=inner, env={"GPUCHECK_ALLOW_CPU": "0", "GPUCHECK_TIMEOUT": "50"})
    request = json.loads(done.stdout)["facts"]["request"]
    assert (request["level"], request["allow_cpu"], request["timeout_seconds"]) == (0, False, 50.0)
    done = gpucheck("--format", "json", "--timeout", "40", "--allow-cpu", cwd=inner, env={"GPUCHECK_TIMEOUT": "50"})
    request = json.loads(done.stdout)["facts"]["request"]
    assert (request["allow_cpu"], request["timeout_seconds"]) == (True, 40.0)


def test_toml_is_not_imported_without_settings(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    code = "import sys, gpucheck.cli as c, contextlib\nwith contextlib.suppress(SystemExit): c.cli.main(['--quick', '--allow-cpu'])\n"
    code += "print([m for m in ('tomllib', 'tomli', 'gpucheck.core.expectations.read', 'gpucheck.commands.expectations.drift') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.tensorflow
def test_compare_reads_a_report_from_standard_input(good):
    assert gpucheck("compare", "good.json", "-", cwd=good, input=(good / "good.json").read_text()).stdout == ""


FIT = {
    "seconds": 20.0,
    "epochs": 5,
    "steps": 100,
    "samples_per_second": 900.0,
    "step_seconds": 0.1,
    "input_wait_share": 0.8,
    "device": "GPU",
    "replicas": 1,
    "gpus": [{"index": 0, "utilization_percent": 20.0, "peak_bytes": 1 << 30}],
    "validation": {"name": "val_accuracy", "last": 0.9, "best": 0.9, "best_epoch": 5, "best_after_seconds": 20.0},
    "limit": {"text": "the input pipeline", "code": "input-pipeline-bound"},
}


def test_two_trainings_are_compared(tmp_path):
    better = {
        **FIT,
        "samples_per_second": 2000.0,
        "step_seconds": 0.095,
        "input_wait_share": 0.05,
        "gpus": [],
        "validation": {**FIT["validation"], "best": 0.89},
        "limit": {"text": "computing", "code": None},
    }
    for name, fit in (("before.json", FIT), ("after.json", better), ("other.json", {"seconds": 1})):
        (tmp_path / name).write_text(json.dumps(fit))
    done = gpucheck("compare", "before.json", "after.json", "-v", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")][1:] == [
        "samples/s: 900 → 2,000",
        "% of a step spent waiting for data: 80 → 5",
        "what limits it: input-pipeline-bound → no fault",
        *sorted(f"GPU 0, {what}: in before.json only" for what in ("% busy", "peak memory in GiB")),
    ]
    assert gpucheck("compare", "before.json", "before.json", cwd=tmp_path).returncode == 0
    for other in ([], ["other.json"]):
        done = gpucheck("compare", "before.json", *other, cwd=tmp_path)
        assert (done.returncode, "can only be compared with another one" in done.stderr) == (2, True)
    worse = {**FIT, "validation": {**FIT["validation"], "best": 0.5}}
    (tmp_path / "worse.json").write_text(json.dumps(worse))
    assert gpucheck("compare", "before.json", "worse.json", cwd=tmp_path).stdout.splitlines() == [
        "training results",
        "  The program learns better or worse than before.",
        "  best val_accuracy: 0.9 → 0.5",
        "",
        "1 difference between before.json and worse.json.",
    ]


@pytest.mark.tensorflow
def test_invalid_comparisons_are_rejected_with_the_reason(tmp_path):
    for name, text in (
        ("fit.json", json.dumps(FIT)),
        ("fit.toml", '[fit]\ndevice = "gpu"\n'),
        ("gpu.toml", "[gpu]\ncount = 1\n"),
        ("page.html", "<!doctype html>"),
    ):
        (tmp_path / name).write_text(text)
    assert gpucheck(*QUICK, "--format", "json", "--output", "report.json", cwd=tmp_path).returncode == 0
    summary = "the summary of a training run"
    only_fit = f"fit.toml: only [fit], which `gpucheck compare` compares with {summary}"
    kinds = f'neither a report (--format json), {summary} (Watch(report="fit.json")), nor an expectations file'
    for names, words in (
        (("report.json", "fit.json"), f"report.json is a report of a machine, and fit.json is {summary}"),
        (("fit.json", "report.json"), f"fit.json: {summary} can only be compared with another one, and report.json is a report"),
        (("fit.toml", "report.json"), only_fit),
        (("fit.toml",), only_fit),
        (("gpu.toml", "page.html"), f"page.html: neither a report (--format json) nor {summary}"),
        (("page.html", "report.json"), f"page.html: {kinds}"),
        (("page.html", "fit.json"), f"page.html: {kinds}"),
    ):
        done = gpucheck("compare", *names, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in " ".join(done.stderr.split()), done.stderr
    done = gpucheck("compare", "fit.toml", "fit.json", cwd=tmp_path)
    assert done.returncode == 0, "a device is written in either case"


def test_training_summary_is_compared_with_limits(tmp_path):
    (tmp_path / "fit.json").write_text(json.dumps(FIT))
    limits = tmp_path / "limits.toml"
    limits.write_text(
        '[fit]\ndevice = "GPU"\nmin_samples_per_second = 1000\nmax_input_wait_percent = 10\nmax_first_step_seconds = 5\n'
    )
    done = gpucheck("compare", "limits.toml", "fit.json", "-v", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")][1:] == [
        "samples/s: at least 1,000 → 900",
        "% of a step spent waiting for data: at most 10 → 80",
        "seconds of the first step (at most 5): not in fit.json",
    ]
    limits.write_text("[fit]\nmin_gpu_percent = 15\nmax_step_seconds = 0.1\n")
    assert gpucheck("compare", "limits.toml", "fit.json", cwd=tmp_path).returncode == 0
    refused = gpucheck("--expect", "limits.toml", "--quick", "--allow-cpu", cwd=tmp_path)
    assert refused.returncode == 2, "a check of the machine can't judge it, and must not pass"
    for text, words in (
        ("[gpu]\ncount = 1\n", "no table [fit]"),
        ("[fit]\nmin_gpu_percent = -1\n", "limits.toml:2: fit.min_gpu_percent"),
    ):
        limits.write_text(text)
        done = gpucheck("compare", "limits.toml", "fit.json", cwd=tmp_path)
        assert (done.returncode, words in " ".join(done.stderr.split())) == (2, True), done.stderr
