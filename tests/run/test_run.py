"""``gpucheck run``: the environment of the command, and whether it is started."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import venv

import pytest
from leftovers import VARIABLE, leftovers_after

GPUCHECK = [sys.executable, "-m", "gpucheck"]
PASSING = [*GPUCHECK, "run", "--quick", "--allow-cpu"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no exec")


def run(*args, **options):
    given = {"capture_output": True, "text": True, "timeout": 60, **({} if "input" in options else {"stdin": subprocess.DEVNULL})}
    return subprocess.run([*PASSING, *args], **{**given, **options})


def python(text):
    return ["--", sys.executable, "-c", text]


@posix
def test_command_keeps_the_process_id(tmp_path):
    command = python("import os; print(os.getpid(), os.getcwd())")
    process = subprocess.Popen([*PASSING, *command], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    out, _ = process.communicate(timeout=60)
    assert out.split() == [str(process.pid), str(tmp_path)]


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs Linux' /proc")
@pytest.mark.parametrize("set_by_user", [{}, {"LC_CTYPE": "C.UTF-8"}])
def test_command_gets_no_variable_that_python_adds(set_by_user):
    env = {"PATH": os.environ["PATH"], **set_by_user}
    names = {line.partition("=")[0] for line in run("--", "env", env=env).stdout.splitlines()}
    assert names - {"PWD", "SHLVL", "_"} == env.keys()


def test_standard_input_goes_to_the_command():
    assert run("--", "cat", input="one\ntwo\n").stdout == "one\ntwo\n"


@posix
def test_signal_reaches_the_command(tmp_path):
    text = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(42)); print('ready', flush=True); time.sleep(60)"
    process = subprocess.Popen([*PASSING, *python(text)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 42
    process.stdout.close()


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])])
def test_unhandled_signal_kills_the_command(number):
    process = subprocess.Popen([*PASSING, "--", "sh", "-c", "echo ready; exec sleep 60"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.wait(timeout=20) == -number
    process.stdout.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_signals_and_descriptors_are_unchanged(tmp_path):
    """Checked with programs that change none of them, such as cat."""
    commands = (["cat", "/proc/self/status"], ["ls", "/proc/self/fd"])
    for command in commands:
        alone = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
        after = run("--", *command).stdout
        if command[0] == "cat":
            alone, after = ([line for line in text.splitlines() if re.match("Sig(?!Q)", line)] for text in (alone, after))
        assert after == alone
    assert [int(number) for number in after.split()] == [0, 1, 2, 3]  # 3 is the folder opened by ls


@posix
def test_inherited_descriptors_reach_the_command():
    read, write = os.pipe()
    done = run(*python(f"import os; os.write({write}, b'hello')"), pass_fds=(write,))
    os.close(write)
    with os.fdopen(read) as file:
        assert (done.returncode, file.read()) == (0, "hello")


@posix
def test_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        done = run("--", "sh", "-c", "kill -TERM $$; echo alive")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (done.returncode, done.stdout) == (0, "alive\n")


@posix
def test_no_child_of_the_check_remains(tmp_path):
    text = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parents[1])!r}); import leftovers; print(leftovers.leftovers({str(tmp_path)!r}))"
    process = subprocess.Popen(
        [*PASSING, *python(text)], stdout=subprocess.PIPE, text=True, env={**os.environ, VARIABLE: str(tmp_path)}
    )
    out, _ = process.communicate(timeout=60)
    assert json.loads(out) == [process.pid]


def test_verbose_prints_the_report_on_standard_error():
    done = subprocess.run([*GPUCHECK, "run", "-v", "--", "true"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "\x1b" not in done.stderr
    assert "no-nvidia-gpu" in done.stderr
    assert done.stderr.count("\n") > 8
    assert done.stderr.splitlines()[-2].startswith("gpucheck: not started: no-nvidia-gpu: ")


def test_no_verdict_stops_with_3(tmp_path):
    command = [*GPUCHECK, "run", "--default", "--allow-cpu", "--timeout", "3", "--", "echo", "started"]
    done = subprocess.run(command, env=hanging(tmp_path), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("gpucheck: not started: No verdict: ")


def hanging(folder):
    (folder / "tensorflow").mkdir()
    (folder / "tensorflow/__init__.py").write_text("import time; time.sleep(600)")
    return {**os.environ, "PYTHONPATH": str(folder), VARIABLE: str(folder)}


@posix
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), *([(signal.SIGHUP, 129)] if hasattr(signal, "SIGHUP") else [])],
)
def test_signal_during_the_check_leaves_no_process(tmp_path, number, code):
    process = subprocess.Popen(
        [*GPUCHECK, "run", "--default", "--allow-cpu", "--", "echo", "started"],
        env=hanging(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    expected = "gpucheck: interrupted\n" if number == signal.SIGINT else ""
    assert (process.returncode, out, err) == (code, "", expected)
    assert leftovers_after(str(tmp_path), 5) == []


UNSHARE = [
    "unshare",
    "--pid",
    "--fork",
    "--mount-proc",
    *([] if os.name == "posix" and os.geteuid() == 0 else ["--user", "--map-root-user"]),
]
namespaces = pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0,
    reason="process namespaces are not available",
)


# The examined interpreter may leave orphans: one runs in its process group, another has left the group and ended.
ORPHANS = """
import os, subprocess, sys, time
subprocess.run([sys.executable, "-c", "import os, time\\nif os.fork(): os._exit(0)\\ntime.sleep(600)"])
subprocess.run([sys.executable, "-c", "import os\\nif os.fork(): os._exit(0)\\nos.setsid()"])
time.sleep(0.5)
raise ImportError
"""


@namespaces
def test_process_1_reaps_zombies(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/__init__.py").write_text(ORPHANS)
    text = "import os; print(os.getpid(), [name for name in os.listdir('/proc') if name.isdigit()])"
    command = [*UNSHARE, *GPUCHECK, "run", "--default", "--allow-cpu", "--on-fail", "warn", *python(text)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.stdout == "1 ['1']\n", done.stderr


@namespaces
def test_process_1_passes_signals_and_exit_codes():
    done = subprocess.run([*UNSHARE, *PASSING, "--", "sh", "-c", "exit 7"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (7, "")


@posix
def test_another_backend_is_suggested_without_tensorflow(tmp_path):
    venv.create(tmp_path / "env", symlinks=True)
    (packages,) = (tmp_path / "env/lib").glob("python*/site-packages")
    for name, version in (("keras", "3.15.1"), ("torch", "2.11.0")):
        (packages / f"{name}-{version}.dist-info").mkdir()
        (packages / f"{name}-{version}.dist-info/METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
    for name in ("click", "msgspec", "psutil", "packaging", "rich", "pygments", "markdown_it", "mdurl"):  # gpucheck's own
        (packages / name).symlink_to(pathlib.Path(importlib.util.find_spec(name).origin).parent)
    (packages / "pynvml.py").symlink_to(importlib.util.find_spec("pynvml").origin)
    env = {**os.environ, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(pathlib.Path(__file__).parents[2])}
    env.pop("VIRTUAL_ENV", None)  # an active environment may have TensorFlow
    command = [*PASSING, "--", "touch", str(tmp_path / "started")]
    command[0] = str(tmp_path / "env/bin/python")
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, (tmp_path / "started").exists()) == (1, False), done.stderr
    assert done.stderr.endswith("gpucheck: if it trains with Keras on another backend: gpucheck run --backend torch -- COMMAND\n")
