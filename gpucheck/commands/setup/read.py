"""Read this machine for the solver: facts of the quick probes, and its Pythons."""

import re
import sys
from typing import NamedTuple

from msgspec.structs import replace

from gpucheck.commands.setup.pythons import PLACE_SECONDS, find
from gpucheck.core.combiners.gpu_presence import combine as presence
from gpucheck.core.engine.discovery import load_probes
from gpucheck.core.engine.facts import Facts
from gpucheck.core.engine.observation import Observation, Tick
from gpucheck.core.host import Host
from gpucheck.core.model import Request
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.solver.facts import machine
from gpucheck.core.solver.machine import Machine, Python
from gpucheck.core.system.bounded import NoResponse, with_timeout

CPUINFO_BYTES = 1 << 14  # includes the first processor
PROBES = ("system", "wsl", "container", "pci", "driver", "gpus", "cuda", "tpu", "packages")


class Examined(NamedTuple):
    """The machine, and the packages of the examined environment."""

    machine: Machine
    packages: Packages | None  # of the environment that gpucheck examines


def read(host: Host, tick: Tick | None = None) -> Examined:
    """Examine the machine, whether or not TensorFlow is installed.

    Args:
        host: the machine.
        tick: see ``Observation.wait``.
    """
    observation = Observation(host, [probe for probe in load_probes() if probe.name in PROBES])
    found = find(host, getattr(sys, "_base_executable", None) or sys.executable)
    facts = Facts(observation.wait(tick))
    seen = replace(of_facts(facts, host.request, found.pythons), silent=found.silent, uv=_has_uv(host), avx=_has_avx(host))
    return Examined(seen, facts.get(Packages))


def of_facts(facts: Facts, request: Request, pythons: tuple[Python, ...] | None) -> Machine:
    """Return the machine that facts describe, with these interpreters; None: not searched."""
    parts = (facts.get(Container), facts.get(Pci), facts.get(Driver), facts.get(Cuda))
    has_gpu = None if None in parts else presence(request, *parts).present  # type: ignore[arg-type]
    return machine(
        facts.get(System),
        facts.get(Wsl),
        facts.get(Driver),
        facts.get(Gpus),
        facts.get(Cuda),
        facts.get(Tpu),
        facts.get(Pci),
        has_gpu=has_gpu,
        pythons=pythons,
    )


def _has_avx(host: Host) -> bool | None:
    """Whether Linux lists AVX; None for other systems and processors."""
    flags = re.search(r"^flags\s*:(.*)", host.read("/proc/cpuinfo", CPUINFO_BYTES) or "", re.MULTILINE)
    return None if flags is None else "avx" in flags[1].split()


def _has_uv(host: Host) -> bool | None:
    try:
        return with_timeout(PLACE_SECONDS, host.which, "uv") is not None
    except NoResponse:
        return None
