"""Writing reports: links and modes are kept, pipes are not awaited, and no partial file remains."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import threading
import time

import pytest
from case_files import table

from gpucheck.core.system.write import OutputFile

ROOT = str(pathlib.Path(__file__).parents[2])
QUICK = [sys.executable, "-m", "gpucheck", "--quick", "--allow-cpu", "--format", "json"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes of POSIX")


def gpucheck(*args, cwd=None, **options):
    given = {"capture_output": True, "text": True, "timeout": 60, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([*QUICK, *args], cwd=cwd, env={**os.environ, "PYTHONPATH": ROOT}, **given)


def sh(line, cwd):
    """A line of bash in which gpucheck is ``"$@"``."""
    env = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.run(["bash", "-c", line, "bash", *QUICK], cwd=cwd, env=env, capture_output=True, text=True, timeout=60)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("option", [["--output", "link"], ["--report", "junit=link"]], ids=["output", "report"])
def test_output_through_links_replaces_the_target_and_keeps_the_links(tmp_path, option):
    (tmp_path / "there").mkdir()
    target = tmp_path / "there/target"
    target.write_text("stale")
    (tmp_path / "middle").symlink_to("there/target")
    (tmp_path / "link").symlink_to("middle")
    assert gpucheck(*option, cwd=tmp_path).returncode == 0
    assert os.readlink(tmp_path / "link") == "middle"
    assert target.read_text() != "stale"
    assert os.listdir(tmp_path / "there") == ["target"]


def test_no_file_exists_before_commit(tmp_path):
    file = OutputFile(str(tmp_path / "a"))
    assert os.listdir(tmp_path) == []
    file.commit("whole")
    assert os.listdir(tmp_path) == ["a"]
    file.discard()
    assert (tmp_path / "a").read_text() == "whole"


def test_killed_process_leaves_no_files(tmp_path):
    """After SIGKILL, neither a report file nor the children's temporary folder remains."""
    for name in ("here", "temporary"):
        (tmp_path / name).mkdir()
    env = {**os.environ, "PYTHONPATH": ROOT, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-m", "gpucheck", "--allow-cpu", "--output", "a.json", "--report", "junit=b.xml"]
    process = subprocess.Popen(command, cwd=tmp_path / "here", env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not os.listdir(tmp_path / "temporary") and time.monotonic() < until:
        time.sleep(0.01)
    (folder,) = (tmp_path / "temporary").iterdir()
    time.sleep(0.3)  # the child has to be running to be notified of the end
    (folder / "left").write_text("")
    process.kill()
    process.wait()
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not folder.exists()
    assert os.listdir(tmp_path / "here") == []


def test_target_of_a_dangling_link_is_created(tmp_path):
    (tmp_path / "link").symlink_to("target")
    assert gpucheck("--output", "link", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "target").read_text())["verdict"] == "pass"
    assert (tmp_path / "link").is_symlink()


def test_link_to_itself_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("link")
    done = gpucheck("--output", "link", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot write link: Too many levels of symbolic links" in done.stderr
    assert (tmp_path / "link").is_symlink()


def test_two_reports_to_one_file_through_a_link_are_refused(tmp_path):
    (tmp_path / "link").symlink_to("target")
    done = gpucheck("--output", "link", "--report", "junit=target", cwd=tmp_path)
    assert done.returncode == 2
    assert "two reports would be written to target" in done.stderr


@pytest.mark.parametrize("given", [0o640, 0o600, 0o664, 0o444])
def test_mode_of_an_existing_file_is_kept_and_a_new_file_follows_the_umask(tmp_path, given):
    old = tmp_path / "old"
    old.write_text("stale")
    old.chmod(given)
    before = os.umask(0o027)
    try:
        done = gpucheck("--output", str(old), "--report", f"junit={tmp_path / 'new'}")
    finally:
        os.umask(before)
    assert (done.returncode, old.read_text()[:1]) == (0, "{")
    assert mode(old) == given
    assert mode(tmp_path / "new") == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_owner_of_an_existing_file_is_kept(tmp_path):
    old = tmp_path / "old"
    old.write_text("stale")
    os.chown(old, 4711, 4712)
    assert gpucheck("--output", str(old)).returncode == 0
    assert (old.stat().st_uid, old.stat().st_gid) == (4711, 4712)


def test_leftover_partial_file_does_not_block_a_write(tmp_path):
    """Process IDs are reused, especially in containers."""
    code = f"import os; open(f'a.json.{{os.getpid()}}.part', 'w').close(); os.execv({QUICK[0]!r}, {[*QUICK, '--output', 'a.json']!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, timeout=60
    )
    assert done.returncode == 0
    assert json.loads((tmp_path / "a.json").read_text())["verdict"] == "pass"


@pytest.mark.parametrize("command", [["--output", ""], ["--report", "junit="], ["--output="]], ids=str)
def test_empty_file_name_is_refused_before_the_run(tmp_path, command):
    done = gpucheck(*command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "file name" in done.stderr


def test_deleted_current_folder_is_refused_before_the_run(tmp_path):
    done = sh('mkdir gone; cd gone; rmdir "$PWD"; exec "$@" --output x.json', tmp_path)
    assert done.returncode == 2
    assert "cannot write x.json: No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", [["--output", "fifo"], ["--report", "json=fifo"]], ids=["output", "report"])
def test_pipe_without_a_reader_is_refused_before_the_run(tmp_path, option):
    os.mkfifo(tmp_path / "fifo")
    done = gpucheck("--timeout", "2", *option, cwd=tmp_path, timeout=10)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot write fifo: no process reads this pipe" in done.stderr


def test_report_is_written_to_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    done = sh('cat fifo > copy & sleep 0.2; "$@" --output fifo; code=$?; wait; exit $code', tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "copy").read_text())["verdict"] == "pass"


def test_pipe_whose_reader_stops_does_not_block_past_the_timeout(tmp_path):
    """Reports larger than a pipe's buffer, and a reader that takes none of them."""
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    began = time.monotonic()
    done = gpucheck("--timeout", "3", *[f"--report=json={tmp_path / 'fifo'}"] * 4, timeout=20)
    os.close(reader)
    assert time.monotonic() - began < 8
    assert done.returncode == 3
    assert "its reader did not read" in done.stderr
    assert "Traceback" not in done.stderr


@table
def test_open_descriptor_is_written_to(tmp_path, line):
    """Uses copies of links such as /dev/stdout, which a bug would replace if root runs the tests."""
    done = sh(line, tmp_path)
    assert done.returncode == 0
    assert json.loads((tmp_path / "copy").read_text())["verdict"] == "pass"
    assert all(path.is_symlink() for path in tmp_path.iterdir() if path.name != "copy")


def test_earlier_content_of_a_redirected_file_is_preserved(tmp_path):
    done = sh('ln -s /dev/fd/1 out; { echo before; "$@" --output out; echo after; } > copy', tmp_path)
    assert done.returncode == 0
    lines = (tmp_path / "copy").read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert json.loads("\n".join(lines[1:-1]))["verdict"] == "pass"


def test_devices_are_written_to(tmp_path):
    assert gpucheck("--output", "/dev/null").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_socket_is_refused(tmp_path, monkeypatch):
    import socket

    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        done = gpucheck("--output", "socket", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot write socket: " in done.stderr


def test_closed_standard_output_is_refused(tmp_path):
    done = sh('exec "$@" --output /dev/stdout >&-', tmp_path)
    assert done.returncode == 2
    assert "cannot write /dev/stdout: Bad file descriptor" in done.stderr


def test_slow_reader_of_a_pipe_gets_the_complete_report(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    got = []

    def read():
        with open(tmp_path / "fifo", "rb") as file:
            while part := file.read1(50_000):
                got.append(part)
                time.sleep(0.05)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    time.sleep(0.2)
    done = gpucheck("--output", str(tmp_path / "fifo"))
    thread.join(20)
    assert done.returncode == 0
    assert json.loads(b"".join(got))["verdict"] == "pass"
