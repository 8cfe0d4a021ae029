"""The Slurm scripts, run with fakes of gpucheck and scontrol that print the output of a case and record their arguments.

tests/systems runs them in Slurm itself, with the real gpucheck.
"""

import json
import os
import subprocess
import sys

import pytest
from recipe_helpers import RECIPES, accepts, example, program, tool
from slurm_scripts import BROKEN, DRAINED, FAULT, HEALTHY, JOB, UNKNOWN, decisions, line, noted, run_script, script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Slurm nodes run Linux")
UNREACHABLE = example("cuda-libraries-unreachable")  # environment
SCRIPTS = ("prolog.sh", "epilog.sh", "health_check.sh", "task_prolog.sh", "gpucheck.sh")


@pytest.mark.parametrize("path", [*(f"slurm/{name}" for name in SCRIPTS), "recovery/prove_node.sh", "systemd/gate.sh"])
def test_shellcheck_has_no_findings(path):
    accepts("shellcheck", "--severity=style", "--shell=sh", RECIPES / path)


@pytest.mark.parametrize(
    ("name", "body", "code", "scontrol", "logged"),
    [
        ("prolog.sh", FAULT, 1, DRAINED.format(""), "gpu-lost"),
        ("prolog.sh", HEALTHY, 0, "", '"verdict": "healthy"'),
        ("prolog.sh", "exit 0", 0, "", "gpucheck ended with exit 0"),  # the first line of a truncated program
        ("prolog.sh", f"{HEALTHY}; echo exit 0; exit 1", 0, "", '"verdict": "unknown"'),
        ("prolog.sh", f"{HEALTHY}; exit 3", 0, "", '"verdict": "unknown"'),
        ("prolog.sh", UNKNOWN, 0, "", "No verdict"),
        ("prolog.sh", BROKEN, 0, "", "in a traceback"),
        ("prolog.sh", "echo gpucheck: usage; exit 1", 0, "", '"verdict": "unknown"'),
        ("prolog.sh", "exit 127", 0, "", "gpucheck ended with exit 127"),
        ("prolog.sh", "kill -9 $$", 0, "", '"verdict": "unknown"'),
        ("epilog.sh", FAULT, 0, DRAINED.format(""), "gpu-lost"),
        ("epilog.sh", UNKNOWN, 0, "", "No verdict"),
        ("epilog.sh", BROKEN, 0, "", "in a traceback"),
        ("health_check.sh", FAULT, 0, DRAINED.format(""), "gpu-lost"),
        ("health_check.sh", UNKNOWN, 0, "", "No verdict"),
        ("health_check.sh", BROKEN, 0, "", "in a traceback"),
        ("health_check.sh", "exit 127", 0, "", "gpucheck ended with exit 127"),
    ],
)
def test_node_is_drained_only_for_a_fault_and_with_its_reason(tmp_path, name, body, code, scontrol, logged):
    done = run_script(script(tmp_path, name, body=body), **JOB)
    assert (done.returncode, done.stdout) == (code, "")
    assert noted(tmp_path, "scontrol") == scontrol
    assert logged in noted(tmp_path, "logger")


@pytest.mark.parametrize("started", [True, False])
def test_reason_names_a_job_only_if_it_started_on_a_healthy_node(tmp_path, started):
    run_script(script(tmp_path, "prolog.sh", body=HEALTHY if started else UNKNOWN), **JOB)
    program(tmp_path / "bin/gpucheck", f"#!/bin/sh\n{FAULT}\n")
    text = (RECIPES / "slurm/epilog.sh").read_text().replace("/etc/gpucheck/", f"{tmp_path}/")
    for _ in range(2):  # the second time for a job that was requeued
        run_script(program(tmp_path / "epilog.sh", text), **JOB)
        (tmp_path / "nodes").write_text(f"{line()}\n")
    blamed = DRAINED.format(" (after job 17 of user alice)" if started else "")
    assert noted(tmp_path, "scontrol") == blamed + DRAINED.format("")


@pytest.mark.parametrize(
    ("missing", "logged"), [("bin/gpucheck", "gpucheck"), ("slurm.sh", "missing or broken"), ("bin/scontrol", '"failed"')]
)
def test_missing_program_is_logged_and_the_job_starts(tmp_path, missing, logged):
    path = script(tmp_path, "prolog.sh", body=FAULT)
    (tmp_path / missing).unlink()
    if missing == "bin/scontrol":
        program(tmp_path / missing, "#!/bin/sh\nexit 1\n")
    assert run_script(path, **JOB).returncode == 0
    assert logged in noted(tmp_path, "logger")


@pytest.mark.parametrize("count", range(1, 9))
def test_truncated_script_is_logged_and_the_job_starts(tmp_path, count):
    path = script(tmp_path, "prolog.sh", body="exit 0")
    text = (tmp_path / "slurm.sh").read_text()
    (tmp_path / "slurm.sh").write_text(text[: len(text) * count // 9])
    assert run_script(path, **JOB).returncode == 0
    assert "is missing or broken" in noted(tmp_path, "logger")
    assert noted(tmp_path, "scontrol") == ""


@pytest.mark.parametrize("shell", ["sh", "dash", "bash"])
def test_node_is_checked_although_the_run_folder_is_not_writable(tmp_path, shell):
    path = script(tmp_path, "prolog.sh", body=HEALTHY)
    (tmp_path / "run/job.17").mkdir(parents=True)
    program(path, path.read_text().replace("/bin/sh ", f"{tool(shell)} "))
    assert run_script(path, **JOB).returncode == 0
    assert "is missing or broken" not in noted(tmp_path, "logger")
    assert decisions(tmp_path) == ["none"]


def test_health_check_on_a_full_disk_leaves_no_file(tmp_path):
    path = script(tmp_path, "health_check.sh", body=HEALTHY)
    text = (tmp_path / "slurm.sh").read_text()
    assert text.count('"$state/slurm.$$" &&') == 1
    # The file is created, but writing to it fails.
    (tmp_path / "slurm.sh").write_text(text.replace('"$state/slurm.$$" &&', '"$state/slurm.$$" && ! true &&'))
    run_script(path)
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh", "health_check.sh"])
@pytest.mark.parametrize(("body", "decision"), [(FAULT, "drained"), (HEALTHY, "none")])
def test_missing_folders_are_logged_and_the_node_is_checked(tmp_path, name, body, decision):
    path = script(tmp_path, name, body=body)
    for folder in ("state", "run"):
        (tmp_path / folder).touch()
    assert run_script(path, **JOB).returncode == (decision == "drained" and name == "prolog.sh")
    assert decisions(tmp_path) == [decision]
    assert f"{tmp_path}/state" in noted(tmp_path, "logger")
    assert "slurm.sh is missing or broken" not in noted(tmp_path, "logger")


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh"])
def test_job_without_gpus_is_not_checked(tmp_path, name):
    assert run_script(script(tmp_path, name, body=FAULT)).returncode == 0
    assert noted(tmp_path, "scontrol") == ""


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh", "health_check.sh"])
@pytest.mark.parametrize(
    ("state", "reason", "kept"),
    [
        ("IDLE+DRAIN", "RMA ticket 4711 (bob)", True),
        ("IDLE+DRAIN", "RMA Reason=gpucheck gpu-lost: 4711", True),
        ("MIXED+DRAIN+DYNAMIC_NORM", "gpucheck gpu-lost: before", True),
        ("DOWN*", "Not responding", True),
        ("IDLE+DRAIN", "Prolog error", False),
        ("IDLE+DRAIN", "Epilog error", False),
    ],
)
def test_drain_reason_is_replaced_only_if_slurm_set_it(tmp_path, name, state, reason, kept):
    done = run_script(script(tmp_path, name, body=FAULT, shown=line(state, reason)), **JOB)
    assert done.returncode == (name == "prolog.sh")  # the job must not start there
    assert noted(tmp_path, "scontrol") == ("" if kept else DRAINED.format(""))
    assert decisions(tmp_path) == ["kept"]
    assert not (tmp_path / "state/drained").exists()


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh", "health_check.sh"])
@pytest.mark.parametrize("state", ["IDLE", "IDLE+DRAIN"])
def test_monitor_mode_does_not_drain(tmp_path, name, state):
    shown = line(state, "Prolog error" if "DRAIN" in state else "none")
    done = run_script(script(tmp_path, name, body=FAULT, shown=shown, mode="monitor"), **JOB)
    assert noted(tmp_path, "scontrol") == ""
    assert decisions(tmp_path) == ["monitor" if state == "IDLE" else "kept"]
    assert done.returncode == 0


@pytest.mark.parametrize("state", ["IDLE+POWERED_DOWN", "MIXED+CLOUD+POWERING_DOWN"])
def test_power_saving_node_is_drained(tmp_path, state):
    assert run_script(script(tmp_path, "prolog.sh", body=FAULT, shown=line(state)), **JOB).returncode == 1
    assert noted(tmp_path, "scontrol") == DRAINED.format("")
    assert decisions(tmp_path) == ["drained"]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root: processes of two users")
@pytest.mark.parametrize(
    ("user", "file", "by_option", "used"),
    [
        (0, (0, 0o644, 0o755), True, True),
        (0, (0, 0o644, 0o755), False, True),
        (65534, (0, 0o644, 0o755), True, False),  # a program of any user that is called slurmd
        (0, (65534, 0o644, 0o755), True, False),
        (0, (0, 0o666, 0o755), True, False),
        (0, (0, 0o644, 0o1777), True, False),
    ],
)
def test_slurm_configuration_is_trusted_only_from_root(tmp_path, user, file, by_option, used):
    """The configuration names the plugins that scontrol loads as root, and the number of GPUs below which the node is drained."""
    (tmp_path / "slurm").mkdir()
    conf = tmp_path / "slurm/slurm.conf"
    conf.touch()
    owner, mode, of_folder = file
    os.chown(conf, owner, 0)
    conf.chmod(mode)
    conf.parent.chmod(of_folder)
    path = script(tmp_path, "prolog.sh", body=f"printf '%s\\n' \"$SLURM_CONF\" >'{tmp_path}/read'")
    # The system's pgrep, restricted to this process because other tests run at the same time.
    program(tmp_path / "bin/pgrep", f'#!/bin/sh\n/usr/bin/pgrep "$@" | grep -x "$(cat \'{tmp_path}/pid\')"\n')
    named = "printf slurmd >/proc/$$/comm; echo; read -r end"
    env = {**os.environ, "SLURM_CONF": "/of/the/environment" if by_option else str(conf)}
    with subprocess.Popen(
        ["sh", "-c", named, "slurmd", *(["-f", str(conf)] if by_option else ["-D"])],
        env=env,
        user=user,
        extra_groups=[],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as slurmd:
        slurmd.stdout.readline()
        (tmp_path / "pid").write_text(f"{slurmd.pid}\n")
        run_script(path, **JOB, SLURM_CONF="")
    assert (tmp_path / "read").read_text() == (f"{conf}\n" if used else "\n")


@pytest.mark.parametrize("readable", [True, False])
def test_health_check_uses_the_named_configuration_only_if_this_node_has_it(tmp_path, readable):
    conf = tmp_path / "etc/slurm.conf"
    conf.parent.mkdir(exist_ok=True)
    if readable:
        conf.touch()
    path = script(tmp_path, "health_check.sh", body=f"printf '%s\\n' \"${{SLURM_CONF-unset}}\" >'{tmp_path}/read'; {HEALTHY}")
    (tmp_path / "config").write_text(f"SLURM_CONF = {conf}\n")
    run_script(path, SLURM_CONF="")
    assert (tmp_path / "read").read_text() == (f"{conf}\n" if readable else "unset\n")


def test_warnings_drain_only_if_enforced(tmp_path):
    strict = 'case "$*" in *--strict\\ --expect\\ /w.toml*) ' + FAULT + ";; esac"
    switch = "'--strict --expect /w.toml'"
    run_script(script(tmp_path, "health_check.sh", body=strict, warnings=switch))
    assert noted(tmp_path, "scontrol") == DRAINED.format("")


@pytest.mark.parametrize(
    ("then", "verdict", "commands"),
    [(FAULT, "fault", DRAINED.format("")), (HEALTHY, "unknown", ""), (UNKNOWN, "unknown", "")],
)
def test_invalid_option_is_reported_and_the_check_still_runs(tmp_path, then, verdict, commands):
    usage = "Error: Invalid value for --expect: no file\\n\\nUsage: gpucheck node\\nTry gpucheck node --help\\n"
    body = f'case "$*" in *--expect*) printf >&2 "{usage}"; exit 2 ;; esac; {then}'
    done = run_script(script(tmp_path, "prolog.sh", body=body, warnings="'--strict --expect /w.toml'"), **JOB)
    assert (done.returncode, noted(tmp_path, "scontrol")) == (int(verdict == "fault"), commands)
    (text,) = [json.loads(text) for text in noted(tmp_path, "logger").split("|") if text.startswith("{")]
    assert text["verdict"] == verdict
    assert verdict == "fault" or text["reason"] == "Error: Invalid value for --expect: no file"


def test_decision_is_logged_only_when_it_changes(tmp_path):
    path = script(tmp_path, "health_check.sh", body=f"[ -e '{tmp_path}/fault' ] || {{ {HEALTHY}; exit 0; }}; {FAULT}")
    for fault in (False, False, True, True, True, False, False):
        (tmp_path / "fault").touch() if fault else (tmp_path / "fault").unlink(missing_ok=True)
        run_script(path)
    assert decisions(tmp_path) == ["none", "drained", "kept", "none"]


def test_action_is_logged_as_a_field(tmp_path):
    run_script(script(tmp_path, "health_check.sh", body="echo 'gpucheck gpu-lost: GPU 1 [x] is lost. [power-cycle]'; exit 1"))
    (text,) = [text for text in noted(tmp_path, "logger").split("|") if text.startswith("{")]
    assert json.loads(text)["action"] == "power-cycle"


def test_reason_with_quotes_and_backslashes_is_logged_unchanged(tmp_path):
    reason = 'gpucheck gpu-lost: "GPU" 1 C:\\x $HOME `id`'
    (tmp_path / "reason").write_text(f"{reason}\n")
    run_script(script(tmp_path, "health_check.sh", body=f"cat '{tmp_path}/reason'; exit 1"))
    (text,) = [text for text in noted(tmp_path, "logger").split("|") if text.startswith("{")]
    assert json.loads(text)["reason"] == reason
    assert f"reason={reason}|" in noted(tmp_path, "scontrol")


def task(tmp_path, changes=UNREACHABLE, *, tensorflow=True, body=None, **env):
    """The TaskProlog of a task whose python3 has or lacks TensorFlow."""
    path = script(tmp_path, "task_prolog.sh", changes, body=body)
    program(tmp_path / "bin/python3", f"#!/bin/sh\nexit {int(not tensorflow)}\n")
    return run_script(path, PATH=f"{tmp_path}/bin:/usr/bin:/bin", **env)


def test_task_prolog_prints_for_slurm_and_exits_with_0(tmp_path):
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
def test_task_prolog_is_silent_in_other_cases(tmp_path, options, env):
    done = task(tmp_path, **options, **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
