"""Returning a node to service: only from gpucheck's own drain, and only after a passed test."""

import pathlib
import sys
import time

import pytest
from lab.fake_driver import COMPILER
from recipe_helpers import RECIPES, adapted, impatient, installed, program, run
from slurm_scripts import FAULT, HEALTHY, OURS, RESUMED, decisions, line, noted, run_script, script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Slurm nodes run Linux")


def drained_by_us(tmp_path, reason=OURS, state="IDLE+DRAIN", time="2026-11-24T00:00:00", **options):
    """The health check of a recovered node that the script drained with that reason."""
    options = {"recover": "yes", "proof": "echo all have trained", **options}
    shown = line(state, reason, time)
    path = script(tmp_path, "health_check.sh", body=HEALTHY, shown=shown, after=line(), **options)
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
        ({"proof": "exit 0"}, False),  # the first lines of a truncated script
        ({"state": "MIXED+DRAIN"}, False),  # a job still runs there
        ({"state": "IDLE+COMPLETING+DRAIN"}, False),
        ({"state": "IDLE"}, False),
        ({"reason": "maintenance"}, False),
        ({"reason": f"{OURS} RMA 4711"}, False),
        ({"time": "2026-11-24T01:00:00"}, False),  # drained again, by another user
    ],
)
def test_node_is_resumed_only_from_our_own_drain_and_after_a_proof(tmp_path, options, resumed):
    path = drained_by_us(tmp_path, **options)
    run_script(path)
    time_limit = time.monotonic() + 20
    tried = resumed or "proof" in options
    while tried and '"recover"' not in noted(tmp_path, "logger") and time.monotonic() < time_limit:
        time.sleep(0.05)
    assert noted(tmp_path, "scontrol") == (RESUMED if resumed else "")


def test_node_drained_by_another_user_during_the_proof_stays_drained(tmp_path):
    path = drained_by_us(tmp_path, proof=f"echo '{line('IDLE+DRAIN', 'RMA')}' >'{tmp_path}/nodes'")
    run(["sh", tmp_path / "slurm.sh", "recover"], {"SLURMD_NODENAME": "node-1"})
    assert (noted(tmp_path, "scontrol"), decisions(tmp_path)) == ("", ["kept"])
    assert path.exists()


def test_failed_proof_is_logged_and_not_repeated_at_once(tmp_path):
    path = drained_by_us(tmp_path, proof="echo GPU 3 failed; exit 1")
    run(["sh", tmp_path / "slurm.sh", "recover"], {"SLURMD_NODENAME": "node-1"})
    assert '"reason": "GPU 3 failed"' in noted(tmp_path, "logger")
    run_script(path)
    assert decisions(tmp_path) == ["kept", "none"]


def test_failed_proof_is_logged_if_its_time_cannot_be_saved(tmp_path):
    drained_by_us(tmp_path, proof="echo GPU 3 failed; exit 1")
    (tmp_path / "state/proof-failed").mkdir()
    run(["sh", tmp_path / "slurm.sh", "recover"], {"SLURMD_NODENAME": "node-1"})
    assert decisions(tmp_path) == ["kept"]


@pytest.mark.parametrize(
    ("body", "tensorflow", "load", "code", "last"),
    [
        (HEALTHY, True, "exit 9", 0, "every GPU has trained without an error"),
        (HEALTHY, False, "echo 80 GB compared", 0, "80 GB compared"),
        (HEALTHY, False, "echo GPU 3 memory differs; exit 1", 1, "not verified (no TensorFlow): GPU 3 memory differs"),
        (HEALTHY, False, "exit 3", 1, "ended without an answer"),
        (f"[ $1 = node ] || {{ echo ERROR training; exit 1; }}; {HEALTHY}", True, "exit 9", 1, "ERROR training"),
        (f"[ $1 != node ] || {{ {FAULT}; }}; {HEALTHY}", True, "exit 9", 1, "gpucheck gpu-lost: GPU 1 is lost."),
        (
            f"[ $1 != node ] || [ ! -e trained ] || {{ echo gpucheck ecc-errors: x; exit 1; }}; [ $1 = node ] || touch trained; {HEALTHY}",
            True,
            "exit 9",
            1,
            "gpucheck ecc-errors: x",
        ),
        ("exit 3", True, "exit 0", 3, ""),
        ("exit 127", True, "exit 0", 127, ""),
        # A truncated program or file does nothing, and exits with 0.
        ("exit 0", True, "exit 0", 1, "gpucheck ended without a report"),
        (f"[ $1 != node ] || {HEALTHY}", True, "exit 0", 1, "gpucheck ended without a report"),
        (HEALTHY, False, "exit 0", 1, "ended without an answer"),
    ],
)
def test_node_passes_only_if_healthy_before_and_after_training(tmp_path, body, tensorflow, load, code, last):
    folder = installed(tmp_path / "bin", body=f"cd '{tmp_path}'; {body}")
    program(folder / "tensorflow", f"#!/bin/sh\nexit {int(not tensorflow)}\n")
    program(folder / "python3", f"#!/bin/sh\n{load}\n")
    edits = {"PATH=/opt/gpucheck/bin:": f"PATH={folder}:", "/opt/tensorflow/bin/python3": folder / "tensorflow"}
    done = run([program(tmp_path / "prove_node.sh", adapted("recovery/prove_node.sh", edits)), "slurm"])
    assert done.returncode == code
    assert (done.stdout.splitlines() or [""])[-1].endswith(last)


@pytest.mark.parametrize("hangs", ["node", "--python"])
def test_check_that_never_ends_is_not_a_proof(tmp_path, hangs):
    folder = installed(tmp_path / "bin", body=f"[ $1 != {hangs} ] || {{ trap '' TERM; sleep 45; }}; {HEALTHY}")
    impatient(folder)
    edits = {"PATH=/opt/gpucheck/bin:": f"PATH={folder}:", "/opt/tensorflow/bin/python3": "/bin/true"}
    done = run([program(tmp_path / "prove_node.sh", adapted("recovery/prove_node.sh", edits)), "slurm"], timeout=20)
    assert done.returncode == (137 if hangs == "node" else 1)


@pytest.fixture(scope="module")
def libcuda(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libcuda")
    source = pathlib.Path(__file__).parent / "libcuda_memory.c"
    compiler = COMPILER or pytest.skip("no C compiler")
    run([compiler, "-O2", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source], check=True)
    return folder


@pytest.mark.parametrize(
    ("env", "code", "line"),
    [
        ({"FAKE_GPUS": "1"}, 0, "0.5369 GB of 1 GPUs compared, without an error"),
        ({"FAKE_GPUS": "2"}, 0, "1.611 GB of 2 GPUs compared, without an error"),
        ({"FAKE_GPUS": "2", "FAKE_FLIP": "1"}, 1, "GPU 1 memory differs from the pattern 0x00000000 that was written to it"),
        pytest.param(
            {"FAKE_GPUS": "2", "FAKE_PEER": "1"},
            1,
            "GPU 1 to GPU 0: memory differs from the pattern 0x5a5a0001 that was written to it",
            marks=pytest.mark.slow,
        ),
        ({"FAKE_GPUS": "1", "FAKE_FAIL": "cuMemcpyDtoD_v2"}, 1, "GPU 0 cuMemcpyDtoD_v2: CUDA_ERROR_LAUNCH_FAILED"),
        (
            {"FAKE_GPUS": "1", "FAKE_FAIL": "cuMemAlloc_v2"},
            3,
            "the driver can't be used: cuMemAlloc_v2: CUDA_ERROR_LAUNCH_FAILED",
        ),
        ({"FAKE_GPUS": "1", "FAKE_FAIL": "cuInit"}, 3, "the driver can't be used: cuInit: CUDA_ERROR_LAUNCH_FAILED"),
        ({"FAKE_GPUS": "0"}, 3, "no GPU"),
    ],
)
def test_load_compares_all_memory_and_copies_to_the_next_gpu(libcuda, env, code, line):
    done = run([sys.executable, RECIPES / "recovery/cuda_load.py", "0.001"], {"LD_LIBRARY_PATH": str(libcuda), **env})
    assert (done.returncode, done.stdout, done.stderr) == (code, f"{line}\n", "")


def test_gpu_that_was_not_compared_fails_the_proof(libcuda, tmp_path):
    """The host has too little memory for the buffers of a thread."""
    text = (RECIPES / "recovery/cuda_load.py").read_text()
    load = tmp_path / "cuda_load.py"
    for fails, words in (
        ("def no(*_): raise MemoryError\n", "was not compared: MemoryError"),
        ("no = None\n", "was not compared: TypeError"),
    ):
        load.write_text(text.replace("class Failed", f"{fails}\n\nclass Failed", 1).replace("ctypes.create_string_buffer", "no"))
        done = run([sys.executable, load, "0.001"], {"LD_LIBRARY_PATH": str(libcuda), "FAKE_GPUS": "2"})
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith(f"GPU 0 {words}")
    load.write_text(text.replace("self.compare(pattern, self.blocks)", "pass").replace("gpu.send(other)", "pass"))
    done = run([sys.executable, load, "0.001"], {"LD_LIBRARY_PATH": str(libcuda), "FAKE_GPUS": "2"})
    assert (done.returncode, done.stdout) == (1, "GPU 0 was not compared; GPU 1 was not compared\n")
