"""`gpucheck fleet run` with fakes of Slurm's programs: Ctrl-C, and checks that do not start."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from leftovers import VARIABLE, leftovers_after

from gpucheck.commands.fleet import engines

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
PROGRAMS = {
    "sinfo": "for n in 1 2 3; do echo \"${4%%|*}|n$n|127.0.0.1|idle|none\"; done",
    # the node's name follows -w; n1 answers, n2 never does, and n3 has no gpucheck
    "srun": """case " $* " in
      *" -w n1 "*) exec python3 -m gpucheck node --gres 0 --format json ;;
      *" -w n2 "*) sleep 600 & wait ;;
      *) echo "slurmstepd: error: execve(): gpucheck: No such file or directory" >&2; exit 2 ;;
    esac""",
    "scancel": ":",
}  # fmt: skip


def started(folder, *arguments, **programs):
    """The command, in its own process group, as a shell starts it."""
    (folder / "bin").mkdir()
    for name, body in {**PROGRAMS, **programs}.items():
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{body.replace('python3', sys.executable)}\n")
        path.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", VARIABLE: str(folder)}
    argv = [sys.executable, "-m", "gpucheck", "fleet", "run", "--engine", "slurm", "--format", "json", *arguments]
    return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def until(done):
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_ctrl_c_keeps_received_reports_and_leaves_no_process(tmp_path):
    reports = tmp_path / "reports"
    command = started(tmp_path, "--reports", str(reports), "--node-limit", "300")
    until(lambda: (reports / "n1.json").exists() or command.poll() is not None)
    os.killpg(command.pid, signal.SIGINT)
    out, err = command.communicate(timeout=60)
    fleet = json.loads(out)
    assert (command.returncode, fleet["exit_code"], [node["name"] for node in fleet["nodes"]]) == (3, 3, ["n1"]), err
    unreached = {part["nodes"]: why for why, part in fleet["unreached"].items()}
    (why,) = (why for nodes, why in unreached.items() if "2" in nodes)  # n3 is in the same part if it had not answered yet
    assert why == "interrupted by Ctrl-C"
    assert set(unreached.values()) <= {"gpucheck is not installed there", "interrupted by Ctrl-C"}
    assert "merging the reports so far" in err
    assert leftovers_after(str(tmp_path), 5.0) == []


REASONS = r"""printf '%s\n' "${4%%|*}|n1|127.0.0.1|drained|bob's \"RMA\"
n7|127.0.0.1|idle|none
| x" "${4%%|*}|n2|127.0.0.1|idle|none" """


def test_drain_reason_of_several_lines_is_not_read_as_nodes(tmp_path):
    command = started(tmp_path, sinfo=REASONS, srun=PROGRAMS["srun"].replace("-w n1", "-w n2", 1))
    out, err = command.communicate(timeout=60)
    fleet = json.loads(out)
    assert [node["name"] for node in fleet["nodes"]] == ["n2"], err
    assert fleet["unreached"] == {'drained: bob\'s "RMA" n7|127.0.0.1|idle|none | x': {"count": 1, "nodes": "n1"}}


@pytest.mark.parametrize("nodes", ["n[0-100000000]", "n[0-18446744073709551616]", "n[0-99999]m[0-99999]"])
@pytest.mark.parametrize("command", [("merge", "."), ("run", "--engine", "slurm"), ("train", "--engine", "slurm")])
def test_list_of_too_many_nodes_is_rejected_in_one_line(nodes, command):
    argv = [sys.executable, "-m", "gpucheck", "fleet", *command, "--nodes", nodes]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"more than 65,536 nodes: '{nodes}'" in done.stderr


def test_unresponsive_slurm_controller_gives_no_verdict(tmp_path):
    command = started(tmp_path, sinfo="echo 'sinfo: error: Unable to contact slurm controller' >&2; exit 1")
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out, err) == (3, "", "gpucheck: sinfo: sinfo: error: Unable to contact slurm controller\n")


@pytest.mark.slow  # the engine's 15 seconds to start and end a check
def test_slow_silent_and_drained_nodes_are_named_without_delaying_others(tmp_path):
    states = "for n in 1:idle:none 2:idle:none 3:idle:none 4:drained:RMA; do echo \"${4%%|*}|n${n%%:*}|127.0.0.1|$(echo ${n#*:} | tr : '|')\"; done"
    slow = PROGRAMS["srun"].replace("exec python3", "sleep 2; exec python3")
    began = time.monotonic()
    command = started(tmp_path, "--node-limit", "5", sinfo=states, srun=slow)
    out, err = command.communicate(timeout=60)
    fleet = json.loads(out)
    assert (command.returncode, [node["name"] for node in fleet["nodes"]]) == (3, ["n1"]), err
    assert {part["nodes"]: why for why, part in fleet["unreached"].items()} == {
        "n2": "no response within 20 s",
        "n3": "gpucheck is not installed there",
        "n4": "drained: RMA",
    }
    assert time.monotonic() - began < 40
    assert leftovers_after(str(tmp_path), 5.0) == []


def test_lines_of_a_task_prolog_before_the_report_are_dropped(tmp_path):
    assert engines.keep(str(tmp_path), "n1", 'print a hint\n{"verdict":\n "pass"}\n') is None
    assert (tmp_path / "n1.json").read_text() == '{"verdict":\n "pass"}\n'
