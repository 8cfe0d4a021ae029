"""Printed assignments, executed by the shells themselves if installed."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from fakes import assignment

from gpucheck.core.system.shells import SHELLS, applied

NASTY = '/opt/a b/it\'s "$HOME" `id` \\n $(id) ;#&|<>*?!{x}~%'
PRINT = "import json, os; print(json.dumps(dict(os.environ)))"
ALL = (
    assignment("LD_LIBRARY_PATH", NASTY, True, "libcusolver.so.11 lies where TensorFlow's loader does not look; it's `here`"),
    assignment("XLA_FLAGS", '--xla_gpu_cuda_data_dir="/usr/local/cuda 12"', True, "ptxas"),
    assignment("CUDA_CACHE_PATH", "/var/tmp/cuda-cache-1000", False, "no home"),
    assignment("CUDA_VISIBLE_DEVICES", None, False, "it hides every GPU (-1)"),
    assignment("CUDA_DEVICE_ORDER", None, False, "only a suggestion", apply=False),
)
ENVS = (
    {"CUDA_VISIBLE_DEVICES": "-1", "CUDA_DEVICE_ORDER": "FOO"},
    {"LD_LIBRARY_PATH": "/usr/lib/x y", "XLA_FLAGS": "--xla_dump_to=/tmp/d", "CUDA_CACHE_PATH": "/x"},
    {"LD_LIBRARY_PATH": "", "XLA_FLAGS": ""},
)
NAMES = {one.variable for one in ALL}


def printed(shell, env, assignments=ALL):
    return SHELLS[shell](assignments, env)


def seen(argv, env, text):
    done = subprocess.run(
        [*argv], input=text, env={**env, "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {name: value for name, value in json.loads(done.stdout).items() if name in NAMES}


def expected(env):
    return {name: value for name, value in applied(ALL, env).items() if name in NAMES}


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh", "ksh"])
def test_posix_shells_set_the_assigned_values(shell, env, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "printed"
    file.write_text(printed("sh", env))
    text = f"""set -u\neval "$(cat '{file}')"\n'{sys.executable}' -c '{PRINT}'\n"""
    assert seen([shell], env, text) == expected(env)


@pytest.mark.parametrize("env", ENVS)
def test_fish_sets_the_assigned_values(env, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    assert seen(["fish", "--no-config"], env, f"{printed('fish', env)}'{sys.executable}' -c '{PRINT}'\n") == expected(env)


@pytest.mark.parametrize("env", ENVS)
def test_powershell_sets_the_assigned_values(env):
    if shutil.which("pwsh") is None:
        pytest.skip("PowerShell is not installed")
    text = f"{printed('powershell', env)}& '{sys.executable}' -c '{PRINT}'\n"
    assert seen(["pwsh", "-NoProfile", "-Command", "-"], env, text) == expected(env)


def test_one_assignment_survives_an_eval_without_quotes():
    text = f"eval $(printf %s '{printed('sh', {}, ALL[2:3])}')\n'{sys.executable}' -c '{PRINT}'\n"
    assert seen(["sh"], {}, text) == {"CUDA_CACHE_PATH": "/var/tmp/cuda-cache-1000"}


def test_printed_text_for_fish_and_powershell():
    plain = (assignment("LD_LIBRARY_PATH", "/it's", True, "why"), *ALL[3:])
    assert printed("fish", {}, plain).splitlines() == [
        "# why",
        r"""if test -n "$LD_LIBRARY_PATH"; set -gx LD_LIBRARY_PATH '/it\'s' $LD_LIBRARY_PATH; else; set -gx LD_LIBRARY_PATH '/it\'s'; end""",
        "# it hides every GPU (-1)",
        "set -e CUDA_VISIBLE_DEVICES",
        "# only a suggestion: set -e CUDA_DEVICE_ORDER",
    ]
    assert printed("powershell", {}, plain).splitlines()[:2] == [
        "# why",
        "$env:LD_LIBRARY_PATH = '/it''s' + $(if ($env:LD_LIBRARY_PATH) { ':' + $env:LD_LIBRARY_PATH })",
    ]


@pytest.mark.parametrize("env", ENVS)
def test_dotenv_has_complete_and_non_empty_values(env, tmp_path):
    """An empty CUDA_VISIBLE_DEVICES would hide every GPU."""
    lines = printed("dotenv", env).splitlines()
    values = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert values.keys() == {"LD_LIBRARY_PATH", "XLA_FLAGS", "CUDA_CACHE_PATH"}
    assert values["CUDA_CACHE_PATH"] == "/var/tmp/cuda-cache-1000"
    assert "# (not possible in a .env file) unset CUDA_VISIBLE_DEVICES" in lines
    file = tmp_path / "env"
    file.write_text("".join(f"{line}\n" for line in lines))
    read = seen(["sh"], {}, f"set -a\n. '{file}'\n'{sys.executable}' -c '{PRINT}'\n")  # quotes as in a shell
    assert read == {name: value for name, value in expected(env).items() if name in values}


def test_docker_instructions():
    lines = printed("docker", {}).splitlines()
    assert lines[1] == (
        'ENV LD_LIBRARY_PATH="/opt/a b/it\'s \\"\\$HOME\\" `id` \\\\n \\$(id) ;#&|<>*?!{x}~%'
        '${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'
    )
    assert lines[3] == r'ENV XLA_FLAGS="--xla_gpu_cuda_data_dir=\"/usr/local/cuda 12\"${XLA_FLAGS:+ $XLA_FLAGS}"'
    assert all(line.startswith(("# ", "ENV ")) for line in lines)  # comments are on separate lines
    assert "# (not possible in a Dockerfile) unset CUDA_VISIBLE_DEVICES" in lines


@pytest.mark.parametrize("shell", SHELLS)
def test_no_assignments_print_nothing(shell):
    assert printed(shell, {}, ()) == ""
