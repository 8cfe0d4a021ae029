"""The Slurm scripts, run with a scontrol that notes what it was told."""

import sys

import pytest
from recipes import ECC, EXAMPLES, HELD, PENDING, accepts, adapted, example, installed, program, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Slurm nodes run Linux")
GPUS = {"SLURM_JOB_GPUS": "0"}
NODE = "NodeName=node-1 CPUAlloc=0 Gres={gres} NodeAddr=node-1 State={state} CfgTRES=cpu=8,gres/gpu=1"
UNREACHABLE = example("cuda-libraries-unreachable")  # environment
NO_GPU = example("no-nvidia-gpu")  # hardware
HUNG = example("driver-unresponsive")  # host


def script(tmp_path, name, changes=None, *, scontrol=None, scopes="hardware", **program_options):
    """The recipe as an administrator would adapt it, and what scontrol is told afterwards."""
    bin_folder = installed(tmp_path / "bin", changes, **program_options)
    edits = {"gpucheck=/opt": f"gpucheck={bin_folder}/gpucheck #/opt"} if name == "task_prolog.sh" else {}
    if not edits:
        edits = {"bin=/opt/gpucheck/bin": f"bin={bin_folder}", 'scopes="hardware" ': f'scopes="{scopes}" '}
    if scontrol is not None:
        calls = tmp_path / "calls"
        calls.touch()
        program(
            bin_folder / "scontrol",
            f"#!/bin/sh\ncase $1 in --oneliner) {scontrol} ;; *) printf '%s|' \"$@\" >> '{calls}' ;; esac\n",
        )
        edits |= {
            "PATH=/usr/sbin:": f"PATH={bin_folder}:/usr/sbin:",
            "expected=/etc/gpucheck": f"expected={tmp_path}",
        }
    return program(tmp_path / name, adapted(f"slurm/{name}", edits))


def asked(path, **env):
    done = run([path], {"SLURMD_NODENAME": "node-1", **env})
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("name", ["prolog.sh", "task_prolog.sh", "health_check.sh"])
def test_shellcheck_finds_nothing(name):
    accepts("shellcheck", "--severity=style", EXAMPLES / "slurm" / name)


@pytest.mark.parametrize(
    ("changes", "code"), [(None, 0), (ECC, 1), (PENDING, 0), (UNREACHABLE, 0), (HELD, 0), (HUNG, 0), (NO_GPU, 1)]
)
def test_the_prolog_fails_for_hardware_only(tmp_path, changes, code):
    done = asked(script(tmp_path, "prolog.sh", changes), **GPUS)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("gpucheck: ") == bool(code)
    if changes is ECC:
        assert done.stderr.startswith("gpucheck: ecc-errors: GPU 0")


def test_the_prolog_also_fails_for_the_host_where_that_is_said(tmp_path):
    assert asked(script(tmp_path, "prolog.sh", HUNG, scopes="hardware host"), **GPUS).returncode == 1


def test_the_prolog_looks_at_this_machine_where_the_job_has_gpus(tmp_path):
    path = script(tmp_path, "prolog.sh", real=True)
    assert asked(path).returncode == 0
    done = asked(path, **GPUS, GPUCHECK_ALLOW_CPU="", CUDA_VISIBLE_DEVICES="-1")
    if done.returncode:  # a machine without a GPU, such as those that run most tests
        assert done.stderr.startswith("gpucheck: no-nvidia-gpu: ")


@pytest.mark.parametrize("body", ["exit 127", "echo '{'; exit 1", "kill -9 $$"])
def test_a_check_that_can_not_look_drains_nothing(tmp_path, body):
    done = asked(script(tmp_path / "one", "prolog.sh", body=body), **GPUS)
    assert done.returncode == 0
    assert "the job starts unchecked" in done.stderr
    path = script(tmp_path / "two", "health_check.sh", scontrol=f"echo '{NODE.format(gres='gpu:8', state='IDLE')}'", body=body)
    assert "left as it is" in asked(path).stderr
    assert (tmp_path / "two/calls").read_text() == ""


def health_check(tmp_path, changes=None, gres="gpu:8", state="IDLE", **options):
    path = script(tmp_path, "health_check.sh", changes, scontrol=f"echo '{NODE.format(gres=gres, state=state)}'", **options)
    done = asked(path)
    assert done.stdout == ""
    return (tmp_path / "calls").read_text()


@pytest.mark.parametrize("changes", [None, PENDING, UNREACHABLE, HELD, HUNG])
def test_nothing_but_hardware_drains(tmp_path, changes):
    assert health_check(tmp_path, changes) == ""


def test_a_fault_of_the_hardware_drains_with_its_reason(tmp_path):
    update, node, state, reason, rest = health_check(tmp_path, ECC).split("|")
    assert (update, node, state, rest) == ("update", "nodename=node-1", "state=drain", "")
    assert reason.startswith("reason=gpucheck: ecc-errors: GPU 0 ")


@pytest.mark.parametrize("gres", ["gpu:8", "gpu:h200:8(S:0-1)", "craynetwork:1,gpu:8"])
def test_no_gpu_drains_a_node_that_shall_have_one(tmp_path, gres):
    assert "reason=gpucheck: no-nvidia-gpu: " in health_check(tmp_path, NO_GPU, gres)


@pytest.mark.parametrize("gres", ["(null)", "craynetwork:1"])
def test_no_gpu_does_not_drain_a_node_that_has_none(tmp_path, gres):
    assert health_check(tmp_path, NO_GPU, gres) == ""


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "MIXED+DRAIN+DYNAMIC_NORM"])
def test_a_drained_node_keeps_its_reason(tmp_path, state):
    assert health_check(tmp_path, ECC, state=state) == ""


def test_nobody_knows_where_slurm_does_not_answer(tmp_path):
    asked(script(tmp_path, "health_check.sh", ECC, scontrol="exit 1"))
    assert (tmp_path / "calls").read_text() == ""


def test_a_gpu_too_few_drains_where_their_number_is_written_down(tmp_path):
    (tmp_path / "expected.toml").write_text("[gpu]\ncount = 8\n")
    assert "reason=gpucheck: gpu-count-unexpected: " in health_check(tmp_path)


def test_the_task_prolog_prints_for_slurm_and_never_fails(tmp_path):
    done = asked(script(tmp_path, "task_prolog.sh", UNREACHABLE), SLURM_LOCALID="0", **GPUS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("print gpucheck: ERROR cuda-libraries-unreachable (environment): ")
    assert len(done.stdout.splitlines()) > 2
    assert all(line.startswith("print gpucheck: ") for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("changes", "env", "body"),
    [
        (None, GPUS, None),
        (UNREACHABLE, {}, None),
        (UNREACHABLE, {**GPUS, "SLURM_LOCALID": "1"}, None),
        (None, GPUS, "exit 127"),
        (None, GPUS, "echo >&2 usage; exit 2"),
    ],
)
def test_the_task_prolog_is_silent_otherwise(tmp_path, changes, env, body):
    done = asked(script(tmp_path, "task_prolog.sh", changes, body=body), **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
