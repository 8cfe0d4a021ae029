"""The Slurm scripts, run with a gpucheck and a scontrol that say what a case says, and note what they were told.

tests/systems runs them in Slurm itself, with the real gpucheck.
"""

import sys

import pytest
from recipes import EXAMPLES, accepts, adapted, example, installed, program, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Slurm nodes run Linux")
JOB = {"SLURM_JOB_GPUS": "0", "SLURM_JOB_ID": "17", "SLURM_JOB_USER": "alice"}
NODE = "NodeName=node-1 CPUAlloc=0 Gres=gpu:8 State={state} ActiveFeatures=(null) Reason={reason} [root@2026-11-23T00:00:00]"
UNREACHABLE = example("cuda-libraries-unreachable")  # environment
FAULT = "echo gpucheck gpu-lost: GPU 1 is lost.; exit 1"
UNKNOWN = "echo >&2 gpucheck: No verdict: no time; exit 3"
BROKEN = "echo >&2 'Traceback (most recent call last):'; echo >&2 gpucheck gpu-lost: in a traceback; exit 1"
SCRIPTS = ("prolog.sh", "epilog.sh", "health_check.sh", "task_prolog.sh")


def script(tmp_path, name, changes=None, *, body=None, state="IDLE", reason="none", undrain=0):
    """The recipe as an administrator would adapt it; what it tells scontrol and the journal is noted in files of that name."""
    bin_folder = installed(tmp_path / "bin", changes, body=body)
    shown = NODE.format(state=state, reason=reason)
    note = f"printf '%s|' \"$@\" >> '{tmp_path}/"
    program(bin_folder / "scontrol", f"#!/bin/sh\ncase $1 in --oneliner) echo '{shown}' ;; *) {note}scontrol' ;; esac\n")
    program(bin_folder / "logger", f"#!/bin/sh\n{note}logger'\n[ $# -gt 4 ] || cat >> '{tmp_path}/logger'\n")
    edits = {"gpucheck=/opt": f"gpucheck={bin_folder}/gpucheck #/opt"} if name == "task_prolog.sh" else {}
    if not edits:
        edits = {"PATH=/opt/gpucheck/bin:": f"PATH={bin_folder}:"}
    if name == "health_check.sh":
        edits |= {"undrain_after=0": f"undrain_after={undrain}", "clean=/run": f"clean={tmp_path}"}
    return program(tmp_path / name, adapted(f"slurm/{name}", edits))


def asked(path, **env):
    return run([path], {"SLURMD_NODENAME": "node-1", **env})


def noted(tmp_path, name):
    return (tmp_path / name).read_text() if (tmp_path / name).exists() else ""


@pytest.mark.parametrize("name", SCRIPTS)
def test_shellcheck_finds_nothing(name):
    accepts("shellcheck", "--severity=style", EXAMPLES / "slurm" / name)


DRAINED = "update|nodename=node-1|state=drain|reason=gpucheck gpu-lost: GPU 1 is lost.{}|"


@pytest.mark.parametrize(
    ("name", "body", "code", "scontrol", "logged"),
    [
        ("prolog.sh", FAULT, 1, DRAINED.format(""), "gpu-lost"),
        ("prolog.sh", "exit 0", 0, "", ""),
        ("prolog.sh", UNKNOWN, 0, "", "No verdict"),
        ("prolog.sh", BROKEN, 0, "", "Traceback"),
        ("prolog.sh", "echo gpucheck: usage; exit 1", 0, "", ""),
        ("prolog.sh", "exit 127", 0, "", ""),
        ("prolog.sh", "kill -9 $$", 0, "", ""),
        ("epilog.sh", FAULT, 0, DRAINED.format(" (after job 17 of user alice)"), "after job 17"),
        ("epilog.sh", UNKNOWN, 0, "", "No verdict"),
        ("epilog.sh", BROKEN, 0, "", "Traceback"),
        ("health_check.sh", FAULT, 1, DRAINED.format(""), "gpu-lost"),
        ("health_check.sh", UNKNOWN, 0, "", "No verdict"),
        ("health_check.sh", BROKEN, 0, "", "Traceback"),
        ("health_check.sh", "exit 127", 0, "", ""),
    ],
)
def test_a_fault_drains_with_its_reason_and_nothing_else_does(tmp_path, name, body, code, scontrol, logged):
    done = asked(script(tmp_path, name, body=body), **JOB)
    assert (done.returncode, done.stdout) == (code, "")
    assert noted(tmp_path, "scontrol") == scontrol
    assert logged in noted(tmp_path, "logger")


def test_a_gpucheck_that_is_missing_is_told_to_the_journal(tmp_path):
    path = script(tmp_path, "prolog.sh")
    (tmp_path / "bin/gpucheck").unlink()
    assert asked(path, **JOB).returncode == 0
    assert "gpucheck: not found" in noted(tmp_path, "logger")


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh"])
def test_a_job_without_gpus_is_not_looked_at(tmp_path, name):
    assert asked(script(tmp_path, name, body=FAULT)).returncode == 0
    assert noted(tmp_path, "scontrol") == ""


@pytest.mark.parametrize(
    ("state", "reason", "kept"),
    [
        ("IDLE+DRAIN", "maintenance", True),
        ("MIXED+DRAIN+DYNAMIC_NORM", "gpucheck gpu-lost: before", True),
        ("IDLE+DRAIN", "Prolog error", False),
        ("IDLE+DRAIN", "Epilog error", False),
    ],
)
def test_a_drained_node_keeps_its_reason_unless_slurm_gave_it(tmp_path, state, reason, kept):
    assert asked(script(tmp_path, "health_check.sh", body=FAULT, state=state, reason=reason)).returncode == 1
    assert noted(tmp_path, "scontrol") == ("" if kept else DRAINED.format(""))


@pytest.mark.parametrize(
    ("undrain", "state", "reason", "checks", "resumed"),
    [
        (3, "IDLE+DRAIN", "gpucheck gpu-lost: before", 2, False),
        (3, "IDLE+DRAIN", "gpucheck gpu-lost: before", 3, True),
        (0, "IDLE+DRAIN", "gpucheck gpu-lost: before", 3, False),
        (1, "IDLE+DRAIN", "maintenance", 3, False),
        (1, "IDLE", "none", 3, False),
    ],
)
def test_a_node_comes_back_after_so_many_clean_checks(tmp_path, undrain, state, reason, checks, resumed):
    path = script(tmp_path, "health_check.sh", body="exit 0", state=state, reason=reason, undrain=undrain)
    assert [asked(path).returncode for _ in range(checks)] == [0] * checks
    assert noted(tmp_path, "scontrol") == ("update|nodename=node-1|state=resume|" if resumed else "")


@pytest.mark.parametrize("body", [UNKNOWN, BROKEN, "exit 127"])
def test_a_check_that_could_not_look_is_not_clean(tmp_path, body):
    path = script(tmp_path, "health_check.sh", body=body, state="IDLE+DRAIN", reason="gpucheck gpu-lost: before", undrain=1)
    assert asked(path).returncode == 0
    assert noted(tmp_path, "scontrol") == ""


def task(tmp_path, changes=UNREACHABLE, *, tensorflow=True, body=None, **env):
    """The TaskProlog of a task whose python3 has TensorFlow, or has not."""
    path = script(tmp_path, "task_prolog.sh", changes, body=body)
    program(tmp_path / "bin/python3", f"#!/bin/sh\nexit {int(not tensorflow)}\n")
    return asked(path, PATH=f"{tmp_path}/bin:/usr/bin:/bin", **env)


def test_the_task_prolog_prints_for_slurm_and_never_fails(tmp_path):
    done = task(tmp_path, SLURM_LOCALID="0", **JOB)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("print gpucheck: ERROR cuda-libraries-unreachable (environment): ")
    assert len(done.stdout.splitlines()) > 2
    assert all(line.startswith("print gpucheck: ") for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("options", "env"),
    [
        ({"changes": None}, JOB),
        ({}, {}),
        ({}, {**JOB, "SLURM_LOCALID": "1"}),
        ({"tensorflow": False}, JOB),
        ({"body": "exit 127"}, JOB),
        ({"body": "echo >&2 usage; exit 2"}, JOB),
    ],
)
def test_the_task_prolog_is_silent_otherwise(tmp_path, options, env):
    done = task(tmp_path, **options, **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
