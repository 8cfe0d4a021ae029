"""The command as a user runs it: exit codes, bad input, broken pipes, output files, signals, completion, and real breakages."""

import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import zipfile

import jsonschema
import pytest
from case_files import table
from command import gpucheck, in_a_process
from leftovers import VARIABLE, leftovers, leftovers_after

REPORT_FIELDS = {
    "schema_version", "tool", "started_at", "seconds", "verdict", "exit_code", "unknown_because", "findings", "training",
    "experiments", "probes", "outcomes", "facts",
}  # fmt: skip


@pytest.fixture(scope="module")
def schema():
    return json.loads(gpucheck("schema").stdout)


def report(*args, env=None):
    done = in_a_process(*args, "--format", "json", env=env)
    parsed = json.loads(done.stdout)
    assert parsed["exit_code"] == done.returncode
    return parsed


@pytest.mark.tensorflow
def test_quick_without_a_gpu(schema):
    got = report("--quick", "--allow-cpu")
    jsonschema.Draft202012Validator(schema).validate(got)
    assert got.keys() == REPORT_FIELDS
    assert (got["verdict"], got["exit_code"]) == ("pass", 0)
    assert got["training"] == []
    skipped = {probe["name"]: probe["problem"] for probe in got["probes"] if probe["status"] == "skipped"}
    assert skipped.keys() == {"tensorflow", "backend", "keras", "training", "log", "tpu_resolver", "activity"}
    assert set(skipped.values()) == {"not checked with --quick"}


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("jax") is not None, reason="JAX is installed")
def test_missing_backend_is_named():
    got = report("--quick", "--allow-cpu", "--backend", "jax", "--python", sys.executable)
    assert ([finding["code"] for finding in got["findings"]], got["exit_code"]) == (["keras-backend-not-installed"], 1)
    assert report("--quick", "--allow-cpu", "--backend", "tensorflow", env={"KERAS_BACKEND": "theano"})["exit_code"] == 0


def test_gate_does_not_pass_on_a_cpu():
    got = report("--quick")
    assert (got["verdict"], got["exit_code"]) == ("fail", 1)
    assert got["findings"][0]["code"] == "no-nvidia-gpu"


def test_version():
    assert re.fullmatch(r"gpucheck \d+\.\d+\.\d+\n", gpucheck("--version").stdout)


@pytest.mark.tensorflow
def test_output_file_is_written_atomically(tmp_path):
    target = tmp_path / "report.json"
    target.write_text("old")
    done = gpucheck("--quick", "--allow-cpu", "--output", str(target))  # the suffix selects the format
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads(target.read_text())["verdict"] == "pass"
    assert os.listdir(tmp_path) == ["report.json"]


def test_full_disk_keeps_the_old_file(tmp_path):
    done = in_a_process("--quick", "--allow-cpu", "--output", "/dev/full")
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "line", ["exec 2>&-", 'mkdir gone; cd gone; rmdir "$PWD"'], ids=["no standard error", "no working directory"]
)
def test_closed_streams_and_deleted_folders(tmp_path, line):
    """Service managers close standard error; a working directory may have been deleted since."""
    args = ["sh", "-c", f'{line}; exec "$@"', "sh", sys.executable, "-m", "gpucheck", "--quick", "--allow-cpu"]
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parents[2])}
    done = subprocess.run([*args, "--python", sys.executable], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No fault" in done.stdout


@pytest.mark.tensorflow
@pytest.mark.parametrize("code", [0, 1])
def test_broken_pipe_keeps_the_exit_code(code):
    read, write = os.pipe()
    os.close(read)
    args = [sys.executable, "-m", "gpucheck", "--quick", *(["--allow-cpu"] if code == 0 else [])]
    done = subprocess.run(args, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert done.returncode == code
    assert done.stderr == "gpucheck: standard output was closed before everything was written\n"


def test_ascii_and_colour():
    done = in_a_process("rules", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout.isascii()) == (0, True)
    assert "\x1b" not in gpucheck("rules").stdout
    assert "\x1b[" in gpucheck("rules", "--color", "always").stdout
    assert "\x1b[" not in gpucheck("rules", "--color", "never").stdout


def complete(words):
    """Return the completions that the installed command offers in bash for these words."""
    env = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_GPUCHECK_COMPLETE": "bash_complete"}
    command = pathlib.Path(sys.executable).parent / "gpucheck"
    return subprocess.run([command], env=env, capture_output=True, text=True, timeout=60).stdout.split()


def test_shell_completion():
    assert "plain,--quick" in complete("gpucheck --qu")
    assert "plain,explain" in complete("gpucheck ex")
    assert "plain,no-nvidia-gpu" in complete("gpucheck explain no-nv")
    assert complete("gpucheck check --strategy mir") == ["plain,mirrored"]
    script = gpucheck("completion", "bash").stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_parent_does_not_import_heavy_packages():
    code = (
        "import sys, os; os._exit = lambda code: None\n"
        "sys.argv = ['gpucheck', '--quick', '--allow-cpu']\n"
        "from gpucheck.cli import main; main()\n"
        "heavy = {'tensorflow', 'keras', 'numpy', 'pynvml', 'torch', 'jax'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "heavy: []" in done.stderr


def fake_tensorflow(folder, text):
    package = folder / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


@table
def test_broken_child_is_reported_and_removed(tmp_path, schema, name, text, codes):
    env = {**fake_tensorflow(tmp_path, text), VARIABLE: str(tmp_path)}
    got = report("--allow-cpu", "--timeout", "5", env=env)
    jsonschema.Draft202012Validator(schema).validate(got)
    assert got["exit_code"] in codes
    assert got["verdict"] in ("fail", "unknown")
    assert got["findings"] or got["unknown_because"]
    assert leftovers(str(tmp_path)) == []


def test_nothing_remains_if_gpucheck_is_killed(tmp_path):
    env = {**os.environ, **fake_tensorflow(tmp_path, "import time; time.sleep(600)"), VARIABLE: str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-m", "gpucheck", "--allow-cpu"], env=env, stdout=-1, stderr=-1, text=True)
    deadline = time.monotonic() + 20
    while len(leftovers(str(tmp_path))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    process.kill()
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (-signal.SIGKILL, "")
    assert leftovers_after(str(tmp_path), 5) == []


def test_python_option_selects_the_interpreter():
    system = pathlib.Path("/usr/bin/python3")
    if not system.exists():
        pytest.skip("no second interpreter on this machine")
    got = report("--quick", "--allow-cpu", "--python", str(system))
    assert got["facts"]["interpreter"]["executable"] == str(system)
    assert "tensorflow-not-installed" in [finding["code"] for finding in got["findings"]]


def test_suggested_command_repeats_the_typed_options(tmp_path):
    app = tmp_path / "gpucheck.pyz"
    with zipfile.ZipFile(app, "w") as file:
        file.writestr("__main__.py", "from gpucheck.cli import main\nmain()\n")
    argv = [sys.executable, str(app), "--quick", "--backend", "torch", "--python", sys.executable]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env={**os.environ, "COLUMNS": "1000"})
    assert f"Then: {' '.join(argv)}" in done.stdout, done.stderr
