"""The units, by systemd's own verification; the service's command, run."""

import configparser
import re
import shlex
import sys

import pytest
from recipe_helpers import RECIPES, accepts, adapted, impatient, installed, program, run

UNITS = ("gpucheck.service", "gpucheck.timer")


def unit(name):
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str
    parser.read(RECIPES / "systemd" / name)
    return parser


@pytest.mark.skipif(sys.platform != "linux", reason="no systemd")
def test_systemd_accepts_the_units(tmp_path):
    program = installed(tmp_path / "bin") / "gpucheck"
    for name, edits in zip(UNITS, ({"ExecStart=/opt/gpucheck/bin/gpucheck": f"ExecStart={program}"}, {}), strict=True):
        (tmp_path / name).write_text(adapted(f"systemd/{name}", edits))
    output = accepts("systemd-analyze", "verify", "--man=no", *(tmp_path / name for name in UNITS))
    assert "gpucheck" not in output  # an unknown setting is only a warning


@pytest.mark.skipif(sys.platform != "linux", reason="no systemd")
def test_exposure_level_of_the_service_is_low(tmp_path):
    output = accepts("systemd-analyze", "security", "--offline=true", "--no-pager", RECIPES / "systemd/gpucheck.service")
    assert float(re.search(r"exposure level for gpucheck.service: ([\d.]+)", output)[1]) < 6  # 9.6 without hardening


def test_settings_that_would_hide_faults_are_not_used():
    service = unit("gpucheck.service")["Service"]
    assert service["Type"] == "oneshot"
    for name in ("PrivateDevices", "ProtectKernelModules", "MemoryDenyWriteExecute", "PrivateUsers", "ProtectProc"):
        assert name not in service


def test_timeout_of_the_check_is_shorter_than_that_of_systemd():
    service = unit("gpucheck.service")["Service"]
    argv = shlex.split(service["ExecStart"].replace("$EXPECTED", "--gres 8"))
    assert float(argv[argv.index("--timeout") + 1]) < float(service["TimeoutStartSec"])


def test_service_writes_the_report(tmp_path):
    parse = pytest.importorskip("prometheus_client.parser").text_string_to_metric_families
    service = unit("gpucheck.service")["Service"]
    _, *argv = shlex.split(service["ExecStart"].replace("$EXPECTED", "--gres 0"))
    folder = f"/var/lib/{service['StateDirectory']}"
    done = run([sys.executable, "-m", "gpucheck", *(one.replace(folder, str(tmp_path)) for one in argv)])
    assert str(done.returncode) in ["0", *service["SuccessExitStatus"].split()]
    (verdict,) = [one for one in parse((tmp_path / "gpucheck.prom").read_text()) if one.name == "gpucheck_verdict"]
    assert {sample.labels["verdict"]: sample.value for sample in verdict.samples}["fail"] == done.stdout.startswith("FAIL")


def gate(tmp_path, changes=None, **options):
    """The gate in front of a job on a recorded machine with changes."""
    folder = installed(tmp_path / "bin", changes, **options)
    return run([program(tmp_path / "gate.sh", adapted("systemd/gate.sh", {"PATH=/opt/gpucheck/bin:": f"PATH={folder}:"}))])


@pytest.mark.skipif(sys.platform != "linux", reason="no systemd")
@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("echo PASS: fine", 0, ""),
        ("echo FAIL gpu-lost: x; echo gpucheck gpu-lost: GPU 1 is lost.; exit 1", 1, "gpucheck gpu-lost: GPU 1 is lost.\n"),
        ("echo FAIL gpu-lost: x; echo gpucheck gpu-lost: x; kill -9 $$", 1, "gpucheck gpu-lost: x\n"),
        ("exit 0", 0, "the job starts without a verdict: gpucheck ended with exit code 0\n"),  # a truncated program
        ("echo gpucheck run: prints; exit 1", 0, "the job starts without a verdict: gpucheck ended with exit code 1\n"),
        ("echo gpucheck run: prints; echo PASS: x", 0, "the job starts without a verdict: gpucheck ended with exit code 0\n"),
        ("echo >&2 gpucheck gpu-lost: x; exit 1", 0, "the job starts without a verdict: gpucheck ended with exit code 1\n"),
    ],
)
def test_gate_blocks_a_job_only_for_a_reported_fault(tmp_path, body, code, words):
    done = gate(tmp_path, body=body)
    assert (done.returncode, done.stdout) == (code, words)


@pytest.mark.skipif(sys.platform != "linux", reason="no systemd")
@pytest.mark.parametrize(("then", "code"), [("echo FAIL gpu-lost: x; echo gpucheck gpu-lost: x; exit 1", 1), ("echo PASS: x", 0)])
def test_invalid_option_of_the_gate_is_reported_and_the_check_still_runs(tmp_path, then, code):
    folder = installed(tmp_path / "bin", body=f'case "$*" in *--expect*) exit 2 ;; esac; {then}')
    edits = {"PATH=/opt/gpucheck/bin:": f"PATH={folder}:", "\nwarnings=\n": "\nwarnings='--expect /w.toml'\n"}
    done = run([program(tmp_path / "gate.sh", adapted("systemd/gate.sh", edits))])
    assert done.returncode == code
    assert "warnings='--expect /w.toml' is wrong: the check runs without it\n" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="no systemd")
def test_gate_starts_the_job_if_the_check_never_ends(tmp_path):
    (tmp_path / "bin").mkdir()
    limits = impatient(tmp_path / "bin")
    done = gate(tmp_path, body="trap '' TERM; sleep 45")
    assert (done.returncode, done.stdout) == (0, "the job starts without a verdict: gpucheck ended with exit code 137\n")
    _, kill, limit, *_ = limits.read_text().split()
    assert int(kill) + int(limit) < 90  # systemd's own limit


def test_timer_is_enabled_with_a_random_delay():
    timer = unit("gpucheck.timer")
    assert timer["Install"]["WantedBy"] == "timers.target"
    assert timer["Timer"]["RandomizedDelaySec"] == "30s"
