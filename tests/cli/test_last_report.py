"""A command that hangs past its timeout ends with a complete report of the results so far."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from case_files import program

from gpucheck.cli.formats import FORMATS

ROOT = pathlib.Path(__file__).parents[2]
# The run hangs at the first call; the thread that ends the command makes a second call.
HANGS = program("last_report_hangs.py")
ENDED = "gpucheck: ended at its time limit: a file system or driver did not respond, or the processors are busy\n"
QUICK = ("--quick", "--allow-cpu", "--timeout", "4")
JUDGING = "gpucheck.core.engine.verdict.decide"
PLACES = {
    "loading": "gpucheck.core.engine.discovery.load_rules",
    "judging": JUDGING,
    "rendering": "gpucheck.core.reports.json.render",
    "redaction": "gpucheck.core.reports.redaction.redact",
}
LOG = "ResourceExhaustedError: OOM when allocating tensor with shape[64,512] by allocator GPU_0_bfc\n"


def ended(place, how, *args, code=3, **options):
    command = [sys.executable, "-c", HANGS, place, how, *map(str, args)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=150, **options)
    assert done.returncode == code, done.stderr
    assert ENDED in done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr.replace(ENDED, "")


def is_complete(text):
    report = json.loads(text)
    assert (report["verdict"], report["exit_code"]) == ("unknown", 3)
    assert "ended at its time limit" in report["unknown_because"][0]
    assert next(probe["status"] for probe in report["probes"] if probe["name"] == "limits") == "ok"
    assert "skipped" in {outcome["status"] for outcome in report["outcomes"]}
    return True


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_partial_report(place):
    out, err = ended(place, "once", *QUICK, "--redact", "--format", "json")
    assert is_complete(out)
    assert err == ""


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("level", [("--no-smoke",), (), ("--full",)], ids=str)
def test_partial_report_at_every_level(level):
    out, _ = ended(JUDGING, "once", *level, "--allow-cpu", "--timeout", "6", "--format", "json")
    assert is_complete(out)


def test_partial_report_in_every_format_and_in_files(tmp_path):
    reports = [f"--report={name}={tmp_path / name}" for name in FORMATS]
    out, _ = ended(JUDGING, "once", *QUICK, *reports)
    assert "ended at its time limit" in " ".join(out.split())
    assert is_complete((tmp_path / "json").read_text())
    for name in FORMATS:
        text = (tmp_path / name).read_text()
        assert "ended at its time limit" in " ".join(text.split()) or name == "prometheus", name
    assert 'verdict="unknown"} 1' in (tmp_path / "prometheus").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FORMATS)


def test_partial_result_of_commands_that_examine_the_machine(tmp_path):
    _, err = ended(JUDGING, "once", "run", "--allow-cpu", "--timeout", "4", "--", "true")
    assert err.startswith("gpucheck: not started: ")
    out, err = ended(JUDGING, "once", "snapshot", "-", *QUICK)
    assert (out, "nothing was written" in err) == ("", True)
    _, err = ended(JUDGING, "once", "env", "--timeout", "4")
    assert "no environment variable fixes this" in err
    (tmp_path / "good.toml").write_text("schema_version = 1\n[gpu]\ncount = 8\n")
    out, _ = ended(JUDGING, "once", "compare", tmp_path / "good.toml", *QUICK, "--format", "json")
    assert json.loads(out)


def test_partial_result_of_commands_that_read_files(tmp_path):
    (tmp_path / "log").write_text(LOG)
    out, _ = ended("gpucheck.core.logs.causes.judge", "once", "explain", "--timeout", "4", "--format", "json", tmp_path / "log")
    report = json.loads(out)
    assert [finding["code"] for finding in report["findings"]] == ["gpu-memory-exhausted"]
    assert report["facts"]["log"]["cut"] == "the time limit was reached (--timeout)"
    (tmp_path / "train.py").write_text("import tensorflow as tf\n")
    place = "gpucheck.commands.lint.runner.lint_program"
    out, _ = ended(place, "once", "lint", "--timeout", "4", "--format", "json", tmp_path / "train.py", code=2)
    assert [failure["file"] for failure in json.loads(out)["unreadable"]] == [str(tmp_path / "train.py")]


@pytest.mark.slow
@pytest.mark.tensorflow
def test_partial_result_of_a_benchmark():
    out, _ = ended("gpucheck.commands.bench.plan.plan", "once", "bench", "--allow-cpu", "--timeout", "60", "--format", "json")
    assert json.loads(out)["ended"] == "timed out"


def test_second_hang_still_prints_a_line():
    assert ended(PLACES["rendering"], "always", *QUICK, "--format", "json") == ("", "")
