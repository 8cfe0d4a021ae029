"""Where the tests of a GPU machine run: on NVIDIA's driver, on the compiled fake one, which computes nothing, or on the CPU.

Standard library only: a GPU machine may have no pytest, no TensorFlow and no network. TensorFlow and NVIDIA's wheels are then in one
folder (``GPU_SITE``), as after ``pip install --target``.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

CHECKOUT = pathlib.Path(__file__).parents[2]
GPU, FAKE, CPU = "gpu", "fake", "cpu"
LIMIT_SECONDS = 400.0
# `nvidia-smi`'s output for the fake driver's H200, without units; see `smi.FIELDS`.
SMI = """#!/bin/sh
[ "$*" = "-q -x" ] && exec cat <<END
<?xml version="1.0" ?><nvidia_smi_log><driver_version>580.159.04</driver_version><cuda_version>13.0</cuda_version>
<gpu id="00000000:00:06.0"><product_name>NVIDIA H200</product_name><uuid>GPU-00000000-0000-0000-0000-000000000000</uuid>
<pci><pci_bus_id>00000000:00:06.0</pci_bus_id><pci_gpu_link_info><link_widths><current_link_width>16x</current_link_width>
</link_widths></pci_gpu_link_info></pci><fb_memory_usage><total>143771 MiB</total></fb_memory_usage>
<temperature><gpu_temp>39 C</gpu_temp></temperature><clocks><sm_clock>345 MHz</sm_clock></clocks>
<max_clocks><sm_clock>1980 MHz</sm_clock></max_clocks><persistence_mode>Enabled</persistence_mode>
<compute_mode>Default</compute_mode><ecc_mode><current_ecc>Enabled</current_ecc></ecc_mode>
<mig_mode><current_mig>Disabled</current_mig></mig_mode></gpu></nvidia_smi_log>
END
echo 'NVIDIA H200, GPU-00000000-0000-0000-0000-000000000000, 00000000:00:06.0, 9.0, 143771, 39, 80.41, 700.00, 345, 1980, 5, 16, Enabled, Default, Enabled, 0, Disabled'
"""


class Site(NamedTuple):
    """A folder of packages with TensorFlow, and the interpreter for it."""

    folder: pathlib.Path
    python: str


class Done(NamedTuple):
    """A command that ended, or was killed at its limit (exit code -9)."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def report(self) -> dict[str, Any]:
        """The JSON on its standard output, or an empty dict."""
        try:
            return dict(json.loads(self.out))
        except ValueError:
            return {}


def kind_here() -> str | None:
    """ "gpu" if this machine has an NVIDIA GPU, else None."""
    return GPU if os.path.exists("/dev/nvidiactl") and os.path.exists("/proc/driver/nvidia/version") else None


class Place:
    """A place to run commands: a GPU machine, the fake driver, or the CPU."""

    def __init__(self, kind: str, folder: pathlib.Path, site: pathlib.Path | None = None) -> None:
        """Prepare; ``folder`` is for copies, ``site`` has TensorFlow (None: the running interpreter's)."""
        self.kind, self.folder = kind, folder
        self.site = Site(site, sys.executable) if site is not None else None
        self._bench: Any = None
        folder.mkdir(parents=True, exist_ok=True)
        if kind == FAKE:
            from lab.bench import Bench

            self._bench = Bench(folder / "bench")
            self.site = Site(self._bench.environment.site, str(self._bench.environment.python))
            (folder / "bin").mkdir(exist_ok=True)
            (folder / "bin/nvidia-smi").write_text(SMI)
            (folder / "bin/nvidia-smi").chmod(0o755)

    @property
    def computes(self) -> bool:
        """Whether programs can run on its GPUs; the fake driver computes nothing."""
        return self.kind != FAKE

    def env(self, more: Mapping[str, str] | None = None, site: Site | None = None) -> dict[str, str]:
        """The environment of a command; ``site`` replaces the place's own."""
        site = site or self.site
        env = dict(os.environ)
        folders = [str(site.folder)] if site is not None and site.python == sys.executable else []
        env["PYTHONPATH"] = ":".join(filter(None, [str(CHECKOUT), *folders, env.get("PYTHONPATH", "")]))
        if site is not None:  # TensorFlow 2.21.0 does not search this folder
            cusolver = str(site.folder / "nvidia/cusolver/lib")
            env["LD_LIBRARY_PATH"] = ":".join(filter(None, [cusolver, env.get("LD_LIBRARY_PATH", "")]))
        if self.kind == CPU:
            env["CUDA_VISIBLE_DEVICES"] = "-1"
        if self._bench is not None:
            (self.folder / "scenario.txt").touch()
            env["FAKE_DRIVER"] = str(self.folder / "scenario.txt")
            env["LD_LIBRARY_PATH"] = f"{self._bench.driver}:{env['LD_LIBRARY_PATH']}"
            env["PATH"] = f"{self.folder}/bin:{env['PATH']}"
        return {**env, **(more or {})}

    def run(
        self, command: Sequence[str], env: Mapping[str, str], limit: float = LIMIT_SECONDS, shell: str = "", text: str = ""
    ) -> Done:
        """Run a command to its end, after a line of shell; it ends if this process does. ``text`` is its standard input."""
        command = ["/bin/sh", "-c", f'{shell}; exec "$@"', "sh", *command] if shell else list(command)
        began = time.monotonic()
        with self._machine() as enter:
            process = subprocess.Popen(
                [*enter, *command],
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=ends_with_parent,
            )
            try:
                out, err = process.communicate(text, timeout=limit)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
        return Done(process.returncode, out, err, time.monotonic() - began)

    def python(self, site: Site | None = None) -> str:
        """The interpreter for a site, or for the place's own."""
        site = site or self.site
        return sys.executable if site is None else site.python

    def gpucheck(self, args: Sequence[str], env: Mapping[str, str] | None = None, site: Site | None = None, **how: Any) -> Done:
        """Run gpucheck, with a JSON report unless ``args`` choose another format."""
        allow = ["--allow-cpu"] if self.kind == CPU and (not args or args[0].startswith("--")) else []
        json_report = [] if "--format" in args or "--" in args else ["--format", "json"]
        return self.run([self.python(site), "-m", "gpucheck", *args, *allow, *json_report], env or self.env(site=site), **how)

    def program(self, text: str, env: Mapping[str, str] | None = None, limit: float = LIMIT_SECONDS) -> Done:
        """Run a Python program."""
        return self.run([self.python(), "-c", text], env or self.env(), limit)

    @contextlib.contextmanager
    def running(self, text: str) -> Iterator[subprocess.Popen[str]]:
        """A Python program that runs in the background, from its first line of output on."""
        process = subprocess.Popen(
            [self.python(), "-c", text],
            env=self.env(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=ends_with_parent,
        )
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.kill()
            process.communicate()

    @contextlib.contextmanager
    def copy(self) -> Iterator[Site]:
        """A copy of the site to break: hard links, so a file must be replaced, not changed."""
        target = self.folder / "site-with-fault"
        shutil.rmtree(target, ignore_errors=True)
        try:
            if self._bench is not None:
                environment = self._bench.environment.copy(target)
                yield Site(environment.site, str(environment.python))
            else:
                assert self.site is not None
                subprocess.run(["cp", "-al", str(self.site.folder), str(target)], check=True, timeout=120)
                yield Site(target, self.site.python)
        finally:
            shutil.rmtree(target, ignore_errors=True)

    @contextlib.contextmanager
    def _machine(self) -> Iterator[list[str]]:
        """The start of a command line that runs the rest on the fake driver's machine."""
        if self._bench is None or self._bench.no_machines:
            yield []
            return
        from lab import machines

        folder = self.folder / "machine"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield machines.around({}).enter(folder)


def ends_with_parent() -> None:
    """In a new process: end when the process that started it ends, however it ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
