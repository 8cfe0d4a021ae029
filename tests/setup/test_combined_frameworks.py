"""TensorFlow with JAX or PyTorch in one environment: which packages, in which order, or why not."""

import json

import check_symbols
import pytest
from command import gpucheck

from gpucheck.commands.setup import describe, files
from gpucheck.commands.setup.combined_frameworks import solve_together
from gpucheck.core.solver import commands
from gpucheck.core.solver.machine import Requirements

TORCH = "https://download.pytorch.org/whl/"


@pytest.mark.parametrize(
    ("words", "others", "steps"),
    [
        (
            "RTX 4090, driver 550, Python 3.12",  # PyTorch first: its index has no TensorFlow
            ("torch",),
            [(("torch",), f"{TORCH}cu126"), (("tensorflow[and-cuda]==2.20.0",), None)],
        ),
        (
            "A100, driver 580, Python 3.12",  # JAX for CUDA 13 would bring a second cuDNN with the same files
            ("jax",),
            [(("tensorflow[and-cuda]==2.20.0", "jax[cuda12]"), None)],
        ),
        (
            "L4, driver 535, Python 3.11",
            ("jax", "torch"),
            [(("torch",), f"{TORCH}cu126"), (("tensorflow[and-cuda]==2.20.0", "jax[cuda12]"), None)],
        ),
        (
            "GTX 1080 Ti, driver 535, Python 3.12",
            ("jax",),
            [(("tensorflow[and-cuda]==2.20.0", "nvidia-cudnn-cu12<9.11", "jax[cuda12]"), None)],
        ),
        (
            "A100, driver 535, glibc 2.27, Python 3.12",  # PyTorch 2.6.0 pins CUDA 12.4; TensorFlow 2.20 needs 12.5
            ("torch",),
            [
                (("--only-binary=:all:", "torch==2.6.0"), f"{TORCH}cpu"),
                (("--only-binary=:all:", "tensorflow[and-cuda]==2.20.0"), None),
            ],
        ),
        (
            "A100, driver 470.57, glibc 2.27, Python 3.12",
            ("torch",),
            [
                (("--only-binary=:all:", "torch==2.6.0"), f"{TORCH}cpu"),
                (("--only-binary=:all:", "tensorflow==2.21.0"), None),
            ],
        ),
        (
            "GTX 980, driver 535, glibc 2.27, Python 3.12",  # the only one on the GPU has the packages that it pins
            ("torch",),
            [(("--only-binary=:all:", "tensorflow==2.21.0", "torch==2.6.0"), None)],
        ),
        ("RTX 5090, driver 580, Python 3.12", ("jax",), [(("tensorflow==2.21.0", "jax[cuda13]"), None)]),
        ("no GPU, Ubuntu 24.04, Python 3.12", ("torch",), [(("torch",), f"{TORCH}cpu"), (("tensorflow==2.21.0",), None)]),
        ("no GPU, Ubuntu 24.04, Python 3.14", ("jax",), [(("tensorflow==2.21.0", "jax"), None)]),  # uv fetches a Python
        ("MacBook M3, Python 3.12", ("torch",), [(("tensorflow==2.21.0", "torch"), None)]),
        (
            "Windows 11, RTX 4070, driver 560, Python 3.12",
            ("torch",),
            [(("torch",), f"{TORCH}cu126"), (("tensorflow==2.21.0",), None)],
        ),
    ],
)
def test_packages_share_one_cuda(words, others, steps):
    answer = solve_together(describe.machine(words), Requirements(), others)
    assert list(commands.installs(answer.best)) == steps


@pytest.mark.slow
def test_symbols_of_each_combination_were_checked():
    checked = {}
    for entry in json.loads(check_symbols.TARGET.read_text(encoding="utf-8")):
        checked.setdefault(entry["pair"], []).extend(entry["missing"])
    offered = check_symbols.pairs()
    assert set(offered) - set(checked) <= {"torch (cu130), tensorflow==2.21.0, jax[cuda13]"}
    assert set(checked) <= set(offered)
    assert {pair: names for pair, names in checked.items() if names} == {}


def test_frameworks_on_the_cpu_are_named():
    best = solve_together(describe.machine("RTX 5090, driver 580, Python 3.12"), Requirements(), ("jax",)).best
    assert files.title(best).startswith("TensorFlow 2.21.0 (CPU) with JAX (CUDA 13.0), Python 3.12")
    assert "TensorFlow uses the CPU in this environment" in best.remarks


@pytest.mark.parametrize(
    ("driver", "said"), [("570.86", True), ("580.65", False)]
)  # JAX for CUDA 12, which TensorFlow finds, or 13
def test_tensorflow_is_hidden_from_an_unsupported_gpu(driver, said):
    best = solve_together(describe.machine(f"RTX 5090, driver {driver}, Python 3.12"), Requirements(), ("jax",)).best
    assert any("set_visible_devices" in remark for remark in best.remarks) is said


@pytest.mark.parametrize("words", ["TPU v5e", "Alpine, no GPU", "ppc64le, no GPU"])
def test_incompatible_frameworks_get_separate_environments(words):
    answer = solve_together(describe.machine(words), Requirements(), ("jax",))
    assert answer.best is None
    assert "gpucheck setup --backend jax" in answer.advice[0]


def test_with_option_on_the_command_line():
    machine = ("--for", "RTX 4090, driver 550, Python 3.12", "--with", "torch")
    done = gpucheck("setup", *machine)
    assert (done.returncode, "with PyTorch (CUDA 12.6)" in done.stdout) == (0, True)
    assert "RUN pip install" in gpucheck("setup", *machine, "--format", "dockerfile").stdout
    one_index = gpucheck("setup", *machine, "--format", "requirements")
    assert (one_index.returncode, "two indexes" in one_index.stderr) == (1, True)
    assert gpucheck("setup", "--backend", "jax", "--with", "torch").returncode == 2
