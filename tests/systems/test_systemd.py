"""The units in systemd itself: started as process 1 of a container (systemd-nspawn) with its own files, never those of this machine.

It has read-only access to the checkout, this Python and a fake driver, and writes only to memory or the test's folder. Its mounts,
processes and /run are in namespaces that end with it.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig

import psutil
import pytest
from lab import fake_driver
from recipe_helpers import RECIPES, run
from systems.slurm import wait

import gpucheck

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
ROOT = pathlib.Path("/var/cache/gpucheck-systems/root")
NEEDED = ("systemd-nspawn", "unshare", "nsenter")
CGROUPS = [pathlib.Path("/sys/fs/cgroup", name) for name in ("", "systemd", "unified")]
CGROUP = f"gpucheck-systems-{os.getpid()}"
START = 'mount -t tmpfs none /run; exec "$@"'
PROGRAM = """#!/bin/sh
FAKE_DRIVER=/srv/fake/scenario LD_LIBRARY_PATH=/srv/fake/driver:/srv/python/lib PYTHONPATH=/srv/checkout:/srv/site \
exec /srv/python/bin/python3 -m gpucheck "$@"
"""
# A job's unit with the line that gate.sh documents.
JOB = """[Service]
Type=oneshot
{guard}
ExecStart=/bin/touch /run/trained
"""
AFTER_THE_REPORT = """[Unit]
Requires=gpucheck.service
After=gpucheck.service
[Service]
Type=oneshot
ExecStart=/bin/touch /run/trained
"""


def why_not():
    """Why systemd can't be started here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux: a container of a folder"
    missing = [name for name in NEEDED if shutil.which(name) is None] + [str(ROOT)] * (not ROOT.is_dir())
    if missing or fake_driver.COMPILER is None:
        return f"not installed: {', '.join(missing) or 'a C compiler'} (tests/systems/install.sh)"
    return None


class Booted:
    """A container in which systemd is process 1; stopped on exit."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Prepare the container's files in a folder."""
        self.folder, self.fake = folder, folder / "fake"
        fake_driver.build(self.fake / "driver")
        for name in ("bin", "tmp"):
            (folder / name).mkdir()
        (folder / "bin/gpucheck").write_text(PROGRAM)
        (folder / "bin/gpucheck").chmod(0o755)
        self.breaks()

    def breaks(self, **scenario) -> None:
        """Set the driver's scenario; without one it is healthy."""
        lines = {"gpus": 2, **{key.replace("__", "."): value for key, value in scenario.items()}}
        fake_driver.write_scenario(self.fake / "new", lines).replace(self.fake / "scenario")

    def __enter__(self) -> "Booted":
        seen = {
            self.fake: "/srv/fake",
            self.folder / "bin": "/opt/gpucheck/bin",
            pathlib.Path(gpucheck.__file__).parents[1]: "/srv/checkout",
            sysconfig.get_path("platlib"): "/srv/site",
            sys.base_prefix: "/srv/python",
            RECIPES / "systemd/gate.sh": "/etc/gpucheck-gate.sh",
            **{RECIPES / "systemd" / name: f"/etc/systemd/system/{name}" for name in ("gpucheck.service", "gpucheck.timer")},
        }
        argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", START, "sh"]
        argv += ["systemd-nspawn", f"--directory={ROOT}", "--volatile=overlay", "--private-network", "--console=pipe", "--boot"]
        argv += ["--register=no", "--keep-unit", "--machine=gpucheck", *(f"--bind-ro={a}:{b}" for a, b in seen.items())]
        for folder in self._cgroups():
            folder.mkdir()
        with open(self.folder / "log", "wb") as log:
            env = {"PATH": os.environ["PATH"], "TMPDIR": str(self.folder / "tmp")}
            self.process = subprocess.Popen(
                argv, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=self._join
            )
        try:
            wait(self._is_up, 60, "systemd", self.log)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for top in self._cgroups():
            for folder, _folders, _files in os.walk(top, topdown=False):
                os.rmdir(folder)

    def _cgroups(self) -> list[pathlib.Path]:
        """A control group in each hierarchy that systemd uses."""
        return [path / CGROUP for path in CGROUPS if (path / "cgroup.procs").exists()]

    def _join(self) -> None:
        for folder in self._cgroups():
            (folder / "cgroup.procs").write_text("0")

    def _is_up(self) -> bool:
        """Whether systemd has started all units."""
        if self.process.poll() is not None:
            pytest.skip(f"systemd can't be started here: {self.log().strip()[-300:]}")
        return self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def run(self, *argv, text=None):
        """A command in the container."""
        below = psutil.Process(self.process.pid).children(recursive=True)
        first = next((one.pid for one in below if one.name() == "systemd"), self.process.pid)
        return run(["nsenter", "--all", f"--target={first}", *argv], stdin=None, input=text or "")

    def unit(self, name, text) -> None:
        """Write a unit, or a part of one."""
        done = self.run("sh", "-c", f"mkdir -p $(dirname {name}) && cat >{name} && systemctl daemon-reload", text=text)
        assert done.returncode == 0, done.stderr

    def start(self, name):
        """Start a unit; return whether it started, and its journal."""
        self.run("sh", "-c", f"rm -f /run/trained; systemctl reset-failed {name}")
        started = self.run("systemctl", "start", name).returncode == 0
        return started, self.run("journalctl", "--no-pager", "-o", "cat", "-u", name).stdout

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")


@pytest.fixture(scope="module")
def booted(tmp_path_factory):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with Booted(tmp_path_factory.mktemp("systemd")) as made:
        yield made


@pytest.fixture(autouse=True)
def clean(booted):
    yield
    booted.breaks()


def verdict(booted):
    """The verdict in the report for Prometheus."""
    lines = booted.run("cat", "/var/lib/gpucheck/gpucheck.prom").stdout.splitlines()
    return [line.split('"')[1] for line in lines if line.startswith("gpucheck_verdict{") and line.endswith(" 1.0")]


def test_fault_is_reported_and_logged_and_the_unit_succeeds(booted):
    started, journal = booted.start("gpucheck.service")
    assert (started, verdict(booted)) == (True, ["pass"]), journal
    assert "PASS: No fault found on this node: 2 × NVIDIA H200." in journal
    booted.breaks(gpu__1__lost=1)
    started, journal = booted.start("gpucheck.service")
    assert (started, verdict(booted)) == (True, ["fail"]), journal
    assert "FAIL gpu-lost: GPU 1 no longer responds to its driver" in journal


def test_unit_fails_without_a_report_and_dependent_job_does_not_start(booted):
    booted.unit("/run/systemd/system/training.service", AFTER_THE_REPORT)
    assert booted.start("training.service")[0]
    assert booted.run("test", "-e", "/run/trained").returncode == 0
    (booted.folder / "bin/gpucheck").rename(booted.folder / "bin/away")
    try:
        started, journal = booted.start("training.service")
    finally:
        (booted.folder / "bin/away").rename(booted.folder / "bin/gpucheck")
    assert not started
    assert "Dependency failed" in journal
    assert "Result=exit-code" in booted.run("systemctl", "show", "gpucheck.service").stdout
    assert booted.run("test", "-e", "/run/trained").returncode == 1


def test_gated_job_does_not_start_on_a_faulty_node_and_logs_the_reason(booted):
    (guard,) = [line for line in (RECIPES / "systemd/gate.sh").read_text().splitlines() if "ExecStartPre=" in line]
    booted.unit("/run/systemd/system/training.service", JOB.format(guard=guard.lstrip("# ")))
    assert booted.start("training.service")[0]
    assert booted.run("test", "-e", "/run/trained").returncode == 0
    booted.breaks(gpu__1__lost=1)
    started, journal = booted.start("training.service")
    assert not started
    assert "gpucheck gpu-lost: GPU 1 no longer responds to its driver" in journal
    assert booted.run("test", "-e", "/run/trained").returncode == 1


def test_timer_starts_the_check(booted):
    booted.run("rm", "-rf", "/var/lib/gpucheck/gpucheck.prom")
    booted.unit("/run/systemd/system/gpucheck.timer.d/now.conf", "[Timer]\nOnBootSec=1s\nRandomizedDelaySec=0\n")
    enabled = booted.run("systemctl", "enable", "--now", "gpucheck.timer")
    assert enabled.returncode == 0, enabled.stderr
    wait(lambda: verdict(booted) == ["pass"], 30, "the report", booted.log)
    assert "gpucheck.timer" in booted.run("systemctl", "list-timers", "--no-pager").stdout
