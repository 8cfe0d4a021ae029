"""A machine with NVIDIA GPUs around a real process: its own /dev, PCI bus, kernel module and root, in a mount namespace.

Needs root, or unprivileged user namespaces. Device files are /dev/null under NVIDIA's names, because it is enough that they can be
opened. CUDA toolkits of the machine that runs the tests are hidden.
"""

import os
import pathlib
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

UNSHARE = ("--mount",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ("--user", "--map-root-user", "--mount")
# Another user's device file, which even root can't open after it has dropped the capability.
CLOSED = "rm dev/{name} 2>/dev/null || {{ umount dev/{name}; rm dev/{name}; }}; mknod dev/{name} c 1 3; chown 1:1 dev/{name}; chmod 600 dev/{name}"

SCRIPT = (pathlib.Path(__file__).parent / "machine.sh").read_text()


def around(scenario: Mapping[str, object]) -> "Machine":
    """The machine for a fake driver's scenario."""
    version = str(scenario.get("driver_version", ""))
    return Machine(gpus=int(str(scenario.get("gpus", 1))), module=version if version[:1].isdigit() else "580.159.04")


class Machine(NamedTuple):
    """The machine below the driver's libraries. Defaults: one H200 with a loaded kernel module."""

    gpus: int = 1
    bound: str | None = "nvidia"  # the kernel driver that holds the GPUs
    module: str | None = "580.159.04"  # version of the loaded kernel module; None: it is not loaded
    uvm: bool = True  # nvidia_uvm is loaded
    nodes: tuple[str, ...] | None = None  # device files; None: those of its GPUs, if the kernel module is loaded
    closed: tuple[str, ...] = ()  # device files that may not be opened
    container: bool = False  # the root has /.dockerenv
    nvswitches: int = 0
    others: tuple[tuple[str, str, str, str | None], ...] = ()  # more functions: vendor, device, class, kernel driver
    # Shell lines run in the new root's folder before it is entered. Only dev/ may be written to; the rest is the real file system.
    more: str = ""

    @property
    def needs_root(self) -> bool:
        """Whether it needs device files created with mknod or with other owners."""
        return "mknod" in self.more or bool(self.closed)

    @property
    def device_files(self) -> tuple[str, ...]:
        """The names of its device files."""
        if self.nodes is not None:
            return self.nodes
        gpus = tuple(f"nvidia{number}" for number in range(self.gpus if self.module else 0))
        return ("nvidiactl", "nvidia-uvm", *gpus) if gpus else ()

    def enter(self, folder: pathlib.Path) -> list[str]:
        """Prepare the machine in a folder; returns the start of a command line that runs the rest on it."""
        parts = folder / "machine"
        for name in ("pci", "driver", "module", "root"):
            (parts / name).mkdir(parents=True)
        self._function(parts / "pci", "0000:00:00.0", "0x1237", "0x060000", None, vendor="0x8086")
        for number in range(self.gpus):
            self._function(parts / "pci", f"0000:00:{6 + number:02x}.0", "0x2335", "0x030200", self.bound)
            if self.module is not None:
                information = parts / f"driver/nvidia/gpus/0000:00:{6 + number:02x}.0/information"
                information.parent.mkdir(parents=True)
                information.write_text(f"Model: \t\t NVIDIA H200\nDevice Minor: \t {number}\n")
        for number, (vendor, device, kind, driver) in enumerate(self.others):
            self._function(parts / "pci", f"0000:40:{number:02x}.0", device, kind, driver, vendor=vendor)
        for number in range(self.nvswitches):
            self._function(parts / "pci", f"0000:80:{number:02x}.0", "0x22a3", "0x068000", "nvidia")
        if self.module is not None:
            (parts / "driver/nvidia").mkdir(exist_ok=True)
            (parts / "driver/nvidia/version").write_text(
                f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {self.module}  Release Build\n"
            )
        loaded = ["ext4", *(["nvidia"] if self.module else []), *(["nvidia_uvm"] if self.module and self.uvm else [])]
        if self.bound == "nouveau":
            loaded.append("nouveau")
        for name in loaded:
            (parts / "module" / name).mkdir()
        (parts / "modules").write_text("".join(f"{name} 16384 0 - Live 0x0000000000000000\n" for name in loaded))
        lines = [f": > dev/{name}; mount --bind /dev/null dev/{name}" for name in self.device_files]
        lines += [": > .dockerenv"] if self.container else []
        lines += [CLOSED.format(name=name) for name in self.closed]
        (parts / "more.sh").write_text("\n".join([*lines, self.more, ""]))
        drop = ["/usr/bin/setpriv", "--bounding-set", "-dac_override"] if self.closed else []
        own = ("--uts",) if self.container else ()  # a virtual machine may have /.dockerenv too, but no namespaces
        return ["/usr/bin/unshare", *UNSHARE, *own, "/bin/sh", "-c", SCRIPT, "machine", str(parts / "root"), str(parts), *drop]

    @staticmethod
    def _function(bus: pathlib.Path, address: str, device: str, kind: str, driver: str | None, vendor: str = "0x10de") -> None:
        function = bus / address
        function.mkdir()
        for name, value in (("vendor", vendor), ("device", device), ("class", kind)):
            (function / name).write_text(f"{value}\n")
        if driver:
            (function / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")


def refusal(folder: pathlib.Path) -> str | None:
    """Why no such machine can be created here, or None."""
    if not os.path.exists("/usr/bin/unshare"):
        return "no unshare: no mount namespace can be created"
    try:
        tried = subprocess.run([*Machine().enter(folder), "true"], capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return "a mount namespace could not be created in time"
    lines = tried.stderr.strip().splitlines()
    return None if tried.returncode == 0 else f"no mount namespace can be made here: {lines[-1] if lines else tried.returncode}"
