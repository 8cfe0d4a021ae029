"""Commands that the files of tests/cases/commands can't test: shells, pipes, encodings."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from command import gpucheck

ROOT = str(pathlib.Path(__file__).parents[2])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_in_the_search_path_of_the_shell(tmp_path, shell):
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    env |= {"HOME": str(tmp_path), "SHELL": f"/usr/bin/{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "gpucheck", "completion", "--install"],
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.read_text() == gpucheck("completion", shell).stdout
    assert (done.stdout, f"wrote {file}; start a new shell" in done.stderr) == ("", True)


def test_node_check_ignores_variables_of_jobs():
    """Variables of two jobs: one sees a single GPU, the other uses its own MPS server."""
    env = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_MPS_PIPE_DIRECTORY": "/of/a/user", "NVIDIA_VISIBLE_DEVICES": "all"}
    report = json.loads(gpucheck("node", "--gres", "0", "--format", "json", env=env).stdout)
    assert env.keys() & report["facts"]["environment"]["variables"].keys() == {"NVIDIA_VISIBLE_DEVICES"}


@pytest.mark.parametrize("typed", ["version", "rules"])
@pytest.mark.parametrize("value", ["garbage", "bash_source", "bash_complete"])
def test_completion_variable_does_not_replace_a_command(typed, value):
    """A job may have set the variable; if it ended the check, the exit code would be read as a healthy node or a fault."""
    assert gpucheck(typed, env={"_GPUCHECK_COMPLETE": value}) == gpucheck(typed)


@pytest.mark.parametrize("env", [{"_GPUCHECK_COMPLETE": "garbage"}, {"_GPUCHECK_COMPLETE": "bash_complete"}])
def test_completions_are_only_printed_for_shell_scripts(env):
    """Without arguments, the command runs a check, which ends with an error here."""
    done = gpucheck(env={**env, "GPUCHECK_LEVEL": "none"})
    assert (done.returncode, "level: 'none' is not one of" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("typed", "same"), [("-V", "--version"), ("version", "--version"), ("help lint", "lint --help"), ("help", "--help")]
)
def test_command_spellings_of_other_tools_are_accepted(typed, same):
    assert gpucheck(*typed.split()).stdout == gpucheck(*same.split()).stdout


@pytest.mark.parametrize(
    ("typed", "error", "tip"),
    [
        ("lint --fromat json", "No such option '--fromat'", "did you mean --format?"),
        ("--fromat json", "No such option '--fromat'", "did you mean --format?"),
        ("chekc", "No such command 'chekc'", "did you mean check?"),
        ("fleet mrge", "No such command 'mrge'", "did you mean merge?"),
        (
            "explain driver-mising",
            "no file 'driver-mising', and no diagnosis with that code; `gpucheck rules` lists the codes",
            "did you mean driver-missing or ",
        ),
    ],
)
def test_order_of_error_tip_and_usage(typed, error, tip):
    lines = gpucheck(*typed.split()).stderr.splitlines()
    assert lines[0] == f"Error: {error}"
    assert lines[1].startswith(f"  tip: {tip}")
    assert lines[1].count("(") == lines[1].count(")")
    assert lines[3].startswith("Usage: ")


def test_unreadable_file_is_an_error_without_usage():
    assert "Usage:" not in gpucheck("explain", "/nonexistent/train.log.gz").stderr.splitlines()[0]


def test_help_has_no_empty_entries_and_no_doubled_parentheses():
    for command in ("explain", "lint", "node", "fleet merge", "run"):
        text = gpucheck(*command.split(), "--help", env={"COLUMNS": "200"}).stdout
        options = text.partition("\nOptions:\n")[2].splitlines()
        assert "default: (" not in text, command
        assert not re.search(r"default: \d+\.0\b", text), command
        assert options[0].startswith("  -"), command


def test_group_without_a_command_shows_its_help():
    done = gpucheck("fleet")
    assert done.stderr.startswith("Usage: gpucheck fleet ")
    assert done.stderr.count("Usage: ") == 1
    assert "..." not in done.stderr.partition("Commands:")[2]


def test_benchmark_with_a_too_short_timeout(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/__init__.py").write_text("import time; time.sleep(600)")
    done = gpucheck("bench", "--allow-cpu", "--timeout", "3", env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.returncode == 3
    assert "TensorFlow did not start: timed out (--timeout 3)" in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("args", [["--replay"], ["--quick", "--expect"], ["compare"]], ids=lambda args: args[-1])
@pytest.mark.parametrize(("file", "kind"), [("fifo", "a pipe"), ("/dev/zero", "a device"), (".", "a folder")])
def test_endless_files_are_not_read(tmp_path, args, file, kind):
    os.mkfifo(tmp_path / "fifo")
    done = gpucheck(*args, file, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"cannot read {file}: {kind}, not a regular file" in done.stderr


@pytest.mark.tensorflow
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_report_written_by_powershell_is_read(tmp_path, encoding):
    text = gpucheck("--quick", "--allow-cpu", "--format", "json").stdout
    (tmp_path / "report.json").write_bytes(text.encode(encoding))
    assert gpucheck("--replay", "report.json", cwd=tmp_path).returncode == 0
    assert gpucheck("compare", "report.json", "report.json", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("columns", ["60", "80"])
def test_help_examples_fit_the_terminal(columns):
    examples = gpucheck("run", "--help", env={"COLUMNS": columns}).stdout.partition("Examples:")[2].splitlines()
    assert len(examples) > 6
    assert [line for line in examples if len(line) > int(columns)] == []


@pytest.mark.tensorflow
def test_page_is_opened_in_the_browser(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    done = gpucheck("--quick", "--allow-cpu", "--open", env={"BROWSER": str(browser), "TMPDIR": str(tmp_path)})
    page = pathlib.Path((tmp_path / "opened").read_text().strip().removeprefix("file://"))
    assert (done.returncode, done.stderr) == (0, f"gpucheck: opened {page}\n")
    assert "Redacted for sharing" not in page.read_text()
