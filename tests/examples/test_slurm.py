"""The Slurm scripts, run with a gpucheck and a scontrol that say what a case says, and note what they were told.

tests/systems runs them in Slurm itself, with the real gpucheck.
"""

import datetime
import json
import re
import sys
import time

import pytest
from recipes import EXAMPLES, accepts, adapted, example, installed, program, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Slurm nodes run Linux")
JOB = {"SLURM_JOB_GPUS": "0", "SLURM_JOB_ID": "17", "SLURM_JOB_USER": "alice"}
NODE = "NodeName={name} CPUAlloc=0 Gres=gpu:8 State={state} ActiveFeatures=(null) CapWatts=n/a Reason={reason} [root@{time}] Comment=x"
UNREACHABLE = example("cuda-libraries-unreachable")  # environment
FAULT = "echo gpucheck gpu-lost: GPU 1 is lost.; exit 1"
UNKNOWN = "echo >&2 gpucheck: No verdict: no time; exit 3"
BROKEN = "echo >&2 'Traceback (most recent call last):'; echo >&2 gpucheck gpu-lost: in a traceback; exit 1"
SCRIPTS = ("prolog.sh", "epilog.sh", "health_check.sh", "task_prolog.sh", "gpucheck.sh")
DRAINED = "update|nodename=node-1|state=drain|reason=gpucheck gpu-lost: GPU 1 is lost.{}|"
RESUMED = "update|nodename=node-1|state=resume|"
OURS = "gpucheck gpu-lost: before"
EDITS = ("/etc/gpucheck/", "/var/lib/gpucheck", "/run/gpucheck", "/usr/bin/logger", "PATH=/opt/gpucheck/bin:")


def line(state="IDLE", reason="none", time="2026-11-24T00:00:00", name="node-1"):
    """A node as scontrol shows it."""
    return NODE.format(name=name, state=state, reason=reason, time=time)


def script(tmp_path, name, changes=None, *, body=None, shown=None, after=None, proof="exit 1", **switches):
    """The recipe as an administrator would adapt it, in a folder; what it tells scontrol and the journal is in files of that name.

    Args:
        tmp_path: the folder.
        name: of the recipe.
        changes: of the machine that gpucheck judges.
        body: what gpucheck does instead.
        shown: how scontrol shows the nodes, one per line.
        after: how it shows them once it has been told something.
        proof: what prove_node.sh does.
        **switches: of gpucheck.sh.
    """
    bin_folder = installed(tmp_path / "bin", changes, body=body)
    (tmp_path / "nodes").write_text(f"{shown or line()}\n")
    (tmp_path / "after").write_text(f"{after or line('IDLE+DRAIN', OURS)}\n")
    note = f"printf '%s|' \"$@\" >> '{tmp_path}/"
    told = f"{note}scontrol'; cp '{tmp_path}/after' '{tmp_path}/nodes'"
    program(bin_folder / "scontrol", f"#!/bin/sh\ncase $1 in --oneliner) cat '{tmp_path}/nodes' ;; show) ;; *) {told} ;; esac\n")
    program(bin_folder / "logger", f"#!/bin/sh\n{note}logger'\n")
    program(bin_folder / "setsid", '#!/bin/sh\nexec "$@"\n')
    program(tmp_path / "prove_node.sh", f"{proof}\n")
    if name == "task_prolog.sh":
        return program(tmp_path / name, adapted(f"slurm/{name}", {"gpucheck=/opt": f"gpucheck={bin_folder}/gpucheck #/opt"}))
    targets = (f"{tmp_path}/", tmp_path / "state", tmp_path / "run", bin_folder / "logger", f"PATH={bin_folder}:")
    for recipe, own in (("gpucheck.sh", "slurm.sh"), (name, name)):
        text = (EXAMPLES / "slurm" / recipe).read_text()
        for old, new in zip(EDITS, targets, strict=True):
            text = text.replace(old, str(new))
        for switch, value in switches.items() if recipe == "gpucheck.sh" else ():
            text, count = re.subn(rf"(?m)^{switch}=.*$", f"{switch}={value}", text)
            assert count == 1
        program(tmp_path / own, text)
    return tmp_path / name


def asked(path, **env):
    return run([path], {"SLURMD_NODENAME": "node-1", "SLURM_CONF": "/nowhere", **env})


def noted(tmp_path, name):
    return (tmp_path / name).read_text() if (tmp_path / name).exists() else ""


def decisions(tmp_path):
    """What the journal says, check by check."""
    return [json.loads(text)["decision"] for text in noted(tmp_path, "logger").split("|") if text.startswith("{")]


@pytest.mark.parametrize("path", [*(f"slurm/{name}" for name in SCRIPTS), "recovery/prove_node.sh", "systemd/gate.sh"])
def test_shellcheck_finds_nothing(path):
    accepts("shellcheck", "--severity=style", "--shell=sh", EXAMPLES / path)


@pytest.mark.parametrize(
    ("name", "body", "code", "scontrol", "logged"),
    [
        ("prolog.sh", FAULT, 1, DRAINED.format(""), "gpu-lost"),
        ("prolog.sh", "exit 0", 0, "", '"verdict": "sound"'),
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
def test_a_fault_drains_with_its_reason_and_nothing_else_does(tmp_path, name, body, code, scontrol, logged):
    done = asked(script(tmp_path, name, body=body), **JOB)
    assert (done.returncode, done.stdout) == (code, "")
    assert noted(tmp_path, "scontrol") == scontrol
    assert logged in noted(tmp_path, "logger")


@pytest.mark.parametrize("started", [True, False])
def test_only_a_job_that_started_on_a_sound_node_is_blamed(tmp_path, started):
    asked(script(tmp_path, "prolog.sh", body="exit 0" if started else UNKNOWN), **JOB)
    program(tmp_path / "bin/gpucheck", f"#!/bin/sh\n{FAULT}\n")
    text = (EXAMPLES / "slurm/epilog.sh").read_text().replace("/etc/gpucheck/", f"{tmp_path}/")
    for _ in range(2):  # the second time for a job that was requeued
        asked(program(tmp_path / "epilog.sh", text), **JOB)
        (tmp_path / "nodes").write_text(f"{line()}\n")
    blamed = DRAINED.format(" (after job 17 of user alice)" if started else "")
    assert noted(tmp_path, "scontrol") == blamed + DRAINED.format("")


@pytest.mark.parametrize(
    ("missing", "logged"), [("bin/gpucheck", "gpucheck"), ("slurm.sh", "missing or broken"), ("bin/scontrol", '"failed"')]
)
def test_what_is_missing_starts_the_job_and_is_told_to_the_journal(tmp_path, missing, logged):
    path = script(tmp_path, "prolog.sh", body=FAULT)
    (tmp_path / missing).unlink()
    if missing == "bin/scontrol":
        program(tmp_path / missing, "#!/bin/sh\nexit 1\n")
    assert asked(path, **JOB).returncode == 0
    assert logged in noted(tmp_path, "logger")


@pytest.mark.parametrize("count", range(1, 9))
def test_a_script_that_is_cut_short_starts_the_job(tmp_path, count):
    path = script(tmp_path, "prolog.sh", body="exit 0")
    text = (tmp_path / "slurm.sh").read_text()
    (tmp_path / "slurm.sh").write_text(text[: len(text) * count // 9])
    assert asked(path, **JOB).returncode == 0
    assert "is missing or broken" in noted(tmp_path, "logger")
    assert noted(tmp_path, "scontrol") == ""


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh"])
def test_a_job_without_gpus_is_not_looked_at(tmp_path, name):
    assert asked(script(tmp_path, name, body=FAULT)).returncode == 0
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
def test_a_drained_node_keeps_its_reason_unless_slurm_gave_it(tmp_path, name, state, reason, kept):
    done = asked(script(tmp_path, name, body=FAULT, shown=line(state, reason)), **JOB)
    assert done.returncode == (name == "prolog.sh")  # the job must not start there
    assert noted(tmp_path, "scontrol") == ("" if kept else DRAINED.format(""))
    assert decisions(tmp_path) == ["kept"]
    assert not (tmp_path / "state/drained").exists()


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh", "health_check.sh"])
@pytest.mark.parametrize("state", ["IDLE", "IDLE+DRAIN"])
def test_monitoring_drains_nothing(tmp_path, name, state):
    shown = line(state, "Prolog error" if "DRAIN" in state else "none")
    done = asked(script(tmp_path, name, body=FAULT, shown=shown, mode="monitor"), **JOB)
    assert noted(tmp_path, "scontrol") == ""
    assert decisions(tmp_path) == ["monitor" if state == "IDLE" else "kept"]
    assert done.returncode == (state != "IDLE" and name == "prolog.sh")


def others(drained, *, all=20, minutes=10, reason="gpucheck gpu-lost: x"):
    """As many nodes, of which some were drained so long ago."""
    time = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=minutes)).isoformat()[:19]
    bad = [line("IDLE+DRAIN", reason, time, f"other-{number}") for number in range(drained)]
    good = [line(name=f"good-{number}") for number in range(all - drained - 1)]
    return "\n".join([*bad, line(), *good])


@pytest.mark.parametrize(
    ("budget", "shown", "drains"),
    [
        ("10%", others(1), True),
        ("10%", others(2), False),
        ("10%", others(2, minutes=61), True),
        ("10%", others(2, reason="maintenance"), True),
        ("10%", others(0, all=3), True),  # at least one
        ("2", others(1), True),
        ("2", others(2), False),
        ("0", others(0), False),
        ("many", others(0), False),
    ],
)
def test_no_more_than_the_budget_is_drained(tmp_path, budget, shown, drains):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()[:19]
    after = shown.replace(line(), line("IDLE+DRAIN", "gpucheck gpu-lost: GPU 1 is lost.", now))
    path = script(tmp_path, "health_check.sh", body=FAULT, shown=shown, after=after, budget=budget)
    asked(path)
    assert noted(tmp_path, "scontrol") == (DRAINED.format("") if drains else "")
    assert decisions(tmp_path) == ["drained" if drains else "budget"]
    assert f'gpucheck_drain{{decision="{decisions(tmp_path)[0]}"}} 1\n' in (tmp_path / "state/slurm.prom").read_text()


def test_of_nodes_that_drain_at_the_same_time_those_above_the_budget_step_back(tmp_path):
    path = script(tmp_path, "health_check.sh", body=FAULT, shown=others(1), after=others(3), budget="2")
    asked(path)
    assert noted(tmp_path, "scontrol") == DRAINED.format("") + "update|nodename=node-1|state=undrain|"
    assert decisions(tmp_path) == ["budget"]
    assert not (tmp_path / "state/drained").exists()


def test_warnings_drain_only_if_they_are_enforced(tmp_path):
    strict = 'case "$*" in *--strict\\ --expect\\ /w.toml*) ' + FAULT + ";; esac"
    switch = "'--strict --expect /w.toml'"
    asked(script(tmp_path, "health_check.sh", body=strict, warnings=switch))
    assert noted(tmp_path, "scontrol") == DRAINED.format("")


def drained_by_us(tmp_path, reason=OURS, state="IDLE+DRAIN", time="2026-11-24T00:00:00", **options):
    """The health check of a node that is sound again, and was drained with that reason by the script."""
    options = {"recover": "yes", "proof": "echo all have trained", **options}
    shown = line(state, reason, time)
    path = script(tmp_path, "health_check.sh", body="exit 0", shown=shown, after=line(), **options)
    (tmp_path / "state").mkdir()
    (tmp_path / "state/drained").write_text(f"{OURS} [root@2026-11-24T00:00:00]\n")
    return path


@pytest.mark.parametrize(
    ("options", "resumed"),
    [
        ({}, True),
        ({"recover": "no"}, False),
        ({"proof": "echo GPU 3 failed; exit 1"}, False),
        ({"proof": "if"}, False),
        ({"state": "MIXED+DRAIN"}, False),  # a job still runs there
        ({"state": "IDLE+COMPLETING+DRAIN"}, False),
        ({"state": "IDLE"}, False),
        ({"reason": "maintenance"}, False),
        ({"reason": f"{OURS} RMA 4711"}, False),
        ({"time": "2026-11-24T01:00:00"}, False),  # drained again, by somebody else
    ],
)
def test_only_our_own_drain_ends_and_only_by_a_proof(tmp_path, options, resumed):
    path = drained_by_us(tmp_path, **options)
    asked(path)
    time_limit = time.monotonic() + 20
    tried = resumed or "proof" in options
    while tried and '"recover"' not in noted(tmp_path, "logger") and time.monotonic() < time_limit:
        time.sleep(0.05)
    assert noted(tmp_path, "scontrol") == (RESUMED if resumed else "")


def test_a_node_that_changes_hands_during_the_proof_stays_drained(tmp_path):
    path = drained_by_us(tmp_path, proof=f"echo '{line('IDLE+DRAIN', 'RMA')}' >'{tmp_path}/nodes'")
    run(["sh", tmp_path / "slurm.sh", "recover"], {"SLURMD_NODENAME": "node-1"})
    assert (noted(tmp_path, "scontrol"), decisions(tmp_path)) == ("", ["kept"])
    assert path.exists()


def test_a_failed_proof_says_why_and_is_not_repeated_at_once(tmp_path):
    path = drained_by_us(tmp_path, proof="echo GPU 3 failed; exit 1")
    run(["sh", tmp_path / "slurm.sh", "recover"], {"SLURMD_NODENAME": "node-1"})
    assert '"reason": "GPU 3 failed"' in noted(tmp_path, "logger")
    asked(path)
    assert decisions(tmp_path) == ["kept", "none"]


def test_the_journal_gets_a_line_only_when_something_changes(tmp_path):
    path = script(tmp_path, "health_check.sh", body=f"[ -e '{tmp_path}/fault' ] || exit 0; {FAULT}")
    for fault in (False, False, True, True, True, False, False):
        (tmp_path / "fault").touch() if fault else (tmp_path / "fault").unlink(missing_ok=True)
        asked(path)
    assert decisions(tmp_path) == ["none", "drained", "kept", "none"]


def test_a_reason_with_quotes_and_backslashes_is_whole_in_the_journal(tmp_path):
    reason = 'gpucheck gpu-lost: "GPU" 1 C:\\x $HOME `id`'
    (tmp_path / "reason").write_text(f"{reason}\n")
    asked(script(tmp_path, "health_check.sh", body=f"cat '{tmp_path}/reason'; exit 1"))
    (text,) = [text for text in noted(tmp_path, "logger").split("|") if text.startswith("{")]
    assert json.loads(text)["reason"] == reason
    assert f"reason={reason}|" in noted(tmp_path, "scontrol")


@pytest.mark.parametrize(
    ("body", "tensorflow", "code", "last"),
    [
        ("exit 0", True, 0, "every GPU has trained without an error"),
        ("exit 0", False, 3, "has no TensorFlow to train with"),
        ("[ $1 = node ] || { echo ERROR training; exit 1; }", True, 1, "ERROR training"),
        (f"[ $1 != node ] || {{ {FAULT}; }}", True, 1, "gpucheck gpu-lost: GPU 1 is lost."),
        (
            "[ $1 != node ] || [ ! -e trained ] || { echo gpucheck ecc-errors: x; exit 1; }; [ $1 = node ] || touch trained",
            True,
            1,
            "gpucheck ecc-errors: x",
        ),
        ("exit 3", True, 3, ""),
        ("exit 127", True, 127, ""),
    ],
)
def test_a_node_is_proved_only_if_it_is_sound_trains_and_is_still_sound(tmp_path, body, tensorflow, code, last):
    folder = installed(tmp_path / "bin", body=f"cd '{tmp_path}'; {body}")
    program(folder / "python3", f"#!/bin/sh\nexit {int(not tensorflow)}\n")
    edits = {"PATH=/opt/gpucheck/bin:": f"PATH={folder}:", "/opt/tensorflow/bin/python3": folder / "python3"}
    done = run([program(tmp_path / "prove_node.sh", adapted("recovery/prove_node.sh", edits)), "slurm"])
    assert done.returncode == code
    assert (done.stdout.splitlines() or [""])[-1].endswith(last)


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
