"""A Slurm cluster on this machine: slurmctld, and a slurmd for each node, each on a simulated machine with a fake driver.

The recipes run unchanged except for their folders of programs.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import psutil
from lab import fake_driver
from lab.machines import Machine, refusal
from recipe_helpers import RECIPES

import gpucheck

NEEDED = ("slurmctld", "slurmd", "munged", "srun")
GPUS = 2
CONFIGURATION = """\
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
GresTypes=gpu
MailProg=/bin/true
ReturnToService=1
PrologFlags=Alloc
Prolog={folder}/prolog.sh
Epilog={folder}/epilog.sh
TaskProlog={folder}/task_prolog.sh
HealthCheckProgram={folder}/health_check.sh
HealthCheckInterval={interval}
{nodes}
PartitionName=trial Nodes=ALL Default=YES State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=100 Gres=gpu:{gpus}"
# In the node's namespace: the host names that workers use to find each other.
KNOWN = 'mount --bind "$0" /etc/hosts; exec "$@"'


def why_not():
    """Why no cluster can be created here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux: slurmd starts jobs, and each node has its own devices"
    missing = [name for name in NEEDED if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if missing:
        return f"not installed: {', '.join(missing)} (tests/systems/install.sh)"
    return None if fake_driver.COMPILER else "no C compiler: the fake driver can't be built"


class Cluster:
    """A cluster of nodes n1, n2, ...; started on entry, stopped on exit."""

    def __init__(self, folder: pathlib.Path, nodes: int, interval: int = 8) -> None:
        """Create the configuration, the recipes and a fake driver in a folder; ``interval``: seconds between health checks."""
        self.folder, self.nodes = folder, [f"n{number}" for number in range(1, nodes + 1)]
        self._processes: list[subprocess.Popen] = []
        for name in ("state", "bin", "home"):
            (folder / name).mkdir()
        self.driver = fake_driver.build(folder / "driver")
        ports = free_ports(nodes + 1)
        lines = [
            NODE.format(name=name, host=socket.gethostname(), port=port, gpus=GPUS)
            for name, port in zip(self.nodes, ports[1:], strict=True)
        ]
        values = {"host": socket.gethostname(), "controller": ports[0], "folder": folder, "interval": interval}
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(**values, nodes="\n".join(lines)))
        (folder / "gres.conf").write_text(f"NodeName={','.join(self.nodes)} Name=gpu File=/dev/nvidia[0-{GPUS - 1}]\n")
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        self.env = {**os.environ, "SLURM_CONF": str(self.configuration), "PATH": f"/usr/sbin:/usr/bin:/bin:{os.environ['PATH']}"}
        (folder / "training").write_text("0")
        self._programs()
        self._recipes()

    def _programs(self) -> None:
        """Programs of the recipes: gpucheck with the node's driver, and a logger that writes to a file."""
        checkout = pathlib.Path(gpucheck.__file__).parents[1]
        for name, line in {
            # The fake GPUs can't train: the exit code of a training is in a file, and its report is one line.
            "gpucheck": f"[ \"$1\" != --python ] || {{ echo PASS: trained; exit $(cat '{self.folder}/training'); }}\nFAKE_DRIVER='{self.folder}/'$SLURMD_NODENAME.txt LD_LIBRARY_PATH='{self.driver}' PYTHONPATH='{checkout}'"
            f" exec '{sys.executable}' -m gpucheck \"$@\"",
            "logger": f"echo \"$SLURMD_NODENAME $*\" >>'{self.folder}/journal'",
        }.items():
            self.program(name, line)

    def program(self, name, line):
        (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (self.folder / "bin" / name).chmod(0o755)

    def _recipes(self) -> None:
        edits = {
            "PATH=/opt/gpucheck/bin:": f"PATH={self.folder}/bin:",
            "gpucheck=/opt/gpucheck/bin/": f"gpucheck={self.folder}/bin/",
            "/usr/bin/logger": f"{self.folder}/bin/logger",
            "/etc/gpucheck/": f"{self.folder}/",
            "/var/lib/gpucheck": f"{self.folder}/$SLURMD_NODENAME.state",
            "/run/gpucheck": f"{self.folder}/$SLURMD_NODENAME.run",
            "recover=no": "recover=yes",
            "/opt/tensorflow/bin/python3": sys.executable,
            "-mmin -60": "-mmin -0.1",
        }
        for recipe in (*(RECIPES / "slurm").iterdir(), RECIPES / "recovery/prove_node.sh"):
            text = recipe.read_text()
            for old, new in edits.items():
                text = text.replace(old, new)
            if recipe.name == "health_check.sh":
                text = text.replace("\n", f"\n[ ! -e '{self.folder}/'$SLURMD_NODENAME.unchecked ] || exit 0\n", 1)
            name = "slurm.sh" if recipe.name == "gpucheck.sh" else recipe.name
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def switch(self, **values) -> None:
        """Set switches of the script from now on: ``mode="monitor"``."""
        path = self.folder / "slurm.sh"
        text = path.read_text()
        for name, value in values.items():
            text = re.sub(f"^{name}=.*$", f"{name}={value}", text, count=1, flags=re.MULTILINE)
        new = self.folder / "slurm.new"
        new.write_text(text)
        new.replace(path)

    def __enter__(self) -> "Cluster":
        try:
            key = self.folder / "munge.key"
            key.write_bytes(os.urandom(1024))
            key.chmod(0o400)
            paths = {
                "socket": "munge.socket",
                "key-file": key.name,
                "pid-file": "m.pid",
                "log-file": "m.log",
                "seed-file": "m.seed",
            }
            self._start("munged", "--foreground", "--force", *(f"--{name}={self.folder / path}" for name, path in paths.items()))
            wait(lambda: (self.folder / "munge.socket").exists(), 20, "munged")
            hosts = self.folder / "hosts"
            hosts.write_text(f"{pathlib.Path('/etc/hosts').read_text()}\n127.0.0.1 {' '.join(self.nodes)}\n")
            self._start("slurmctld", "-D", "-c", "-f", str(self.configuration))
            for name in self.nodes:
                self.breaks(name)
                (self.folder / name).mkdir()
                machine = Machine(gpus=GPUS).enter(self.folder / name)
                self._start(
                    *machine,
                    "env",
                    "-u",
                    "SLURM_CONF",
                    "sh",
                    "-c",
                    KNOWN,
                    str(hosts),
                    "slurmd",
                    "-D",
                    "-c",
                    "-N",
                    name,
                    "-f",
                    str(self.configuration),
                )
            for name in self.nodes:
                wait(lambda name=name: self.state(name) == "IDLE", 60, f"node {name}", self.logs)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in reversed(self._processes):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start(self, *argv: str) -> None:
        log = open(self.folder / f"output.{len(self._processes)}", "wb")  # noqa: SIM115 - the process uses it
        self._processes.append(
            subprocess.Popen(
                argv, env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        )
        log.close()

    def breaks(self, node, **scenario) -> None:
        """Set the node's driver scenario; without one it is healthy."""
        new = fake_driver.write_scenario(
            self.folder / "scenario", {"gpus": GPUS, **{k.replace("__", "."): v for k, v in scenario.items()}}
        )
        new.replace(self.folder / f"{node}.txt")

    def check_only_in_the_prolog(self, node) -> None:
        """Keep the health check from a node: else it may drain the node before a job reaches the Prolog."""
        (self.folder / f"{node}.unchecked").touch()
        wait(lambda: not self._is_checked(node), 30, f"the end of the health check of {node}")

    def _is_checked(self, node) -> bool:
        """Whether a health check of the node runs."""
        script = str(self.folder / "health_check.sh")
        running = [process.info for process in psutil.process_iter(["cmdline", "environ"])]
        return any(
            script in (info["cmdline"] or ()) and (info["environ"] or {}).get("SLURMD_NODENAME") == node for info in running
        )

    def run(self, *argv, timeout=60, **env):
        """Run a command of Slurm; return the completed process."""
        return subprocess.run(
            argv,
            env={**self.env, **env},
            cwd=self.folder / "home",
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )

    def shown(self, node) -> str:
        return self.run("scontrol", "--oneliner", "show", "node", node).stdout

    def state(self, node) -> str | None:
        return next((word.partition("=")[2] for word in self.shown(node).split() if word.startswith("State=")), None)

    def reason(self, node) -> str:
        """The reason in `sinfo -R`."""
        return self.run("sinfo", "-R", "-h", "-n", node, "-o", "%E").stdout.strip()

    def repaired(self, node) -> None:
        """Remove the node's fault, resume it, and wait until it is in service."""
        self.breaks(node)
        (self.folder / f"{node}.unchecked").unlink(missing_ok=True)
        if "DRAIN" in (self.state(node) or ""):
            self.run("scontrol", "update", f"nodename={node}", "state=resume")
        wait(lambda: self.state(node) == "IDLE", 40, f"node {node} in service", lambda: self.shown(node))

    def job(self, number) -> str:
        return self.run("scontrol", "--oneliner", "show", "job", number).stdout

    def cancel(self) -> None:
        """End every job."""

        def gone():
            self.run("scancel", "-u", "root")
            return not self.run("squeue", "-h").stdout.strip()

        wait(gone, 30, "an empty queue", lambda: self.run("squeue").stdout)

    def logs(self) -> str:
        """The ends of all logs."""
        logs = [*self.folder.glob("*.log"), *self.folder.glob("output.*"), *self.folder.glob("journal")]
        return "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in sorted(logs))


def wait(done, seconds, what, details=lambda: ""):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, f"{what}: not within {seconds} s\n{details()}"
        time.sleep(0.2)


def free_ports(count):
    """Unused ports of the loopback interface."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


__all__ = ("Cluster", "refusal", "wait", "why_not")
