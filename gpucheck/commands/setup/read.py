"""Read this machine for the solver: facts of the quick probes, and its Pythons."""

import glob
import re
import sys
from collections.abc import Iterator

from msgspec.structs import replace

from gpucheck.core.combiners.gpu_presence import combine as presence
from gpucheck.core.engine.discovery import load_probes
from gpucheck.core.engine.observation import Observation, Tick
from gpucheck.core.host import Host, interpreters
from gpucheck.core.model import Request
from gpucheck.core.model.fact import Facts
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.solver.machine import Machine, Python, machine
from gpucheck.core.system.bounded import NoResponse, with_timeout

CPUINFO_BYTES = 1 << 14  # includes the first processor
PROBES = ("system", "wsl", "container", "pci", "driver", "gpus", "cuda", "tpu", "packages")

INSPECTED_MAX = 24  # interpreters to start
ANSWER_SECONDS = 5.0
PLACE_SECONDS = 2.0  # timeout for a folder; an automounter may take longer, but several folders may hang
DESCRIBE = (
    "import sys, sysconfig, importlib.util as u; "
    "print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], sys.maxsize > 2**32,"
    " not sysconfig.get_config_var('Py_GIL_DISABLED'), u.find_spec('ensurepip') is not None)"
)


def read(host: Host, tick: Tick | None = None) -> tuple[Machine, Packages | None]:
    """Return the machine, whether or not TensorFlow is installed, and the packages of the environment that gpucheck examines.

    Args:
        host: the machine.
        tick: see ``Observation.wait``.
    """
    observation = Observation(host, [probe for probe in load_probes() if probe.name in PROBES])
    pythons, unresponsive = find_pythons(host, getattr(sys, "_base_executable", None) or sys.executable)
    facts = Facts(observation.wait(tick))
    seen = replace(of_facts(facts, host.request, pythons), silent=unresponsive, uv=_has_uv(host), avx=_has_avx(host))
    return seen, facts.get(Packages)


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


def find_pythons(host: Host, own: str | None = None) -> tuple[tuple[Python, ...], tuple[str, ...]]:
    """Search all folders in which Pythons may be installed, within the host's time limit.

    Return those that TensorFlow may have packages for, without duplicates: 64-bit CPython with the GIL; and the folders on file
    systems that did not respond.

    Args:
        host: the machine.
        own: the path of gpucheck's own Python, which is included even if no folder has it.
    """
    unresponsive = list[str]()
    kept: dict[str, Python] = {}
    for number, path in enumerate(_distinct(host, unresponsive, own)):
        if number == INSPECTED_MAX:
            break
        python = inspect_python(host, path)
        if python is not None:
            kept.setdefault(python.version, python)
    return tuple(kept.values()), tuple(unresponsive)


def inspect_python(host: Host, path: str) -> Python | None:
    """Run an interpreter to describe it; None if it fails, or if TensorFlow has no packages for it.

    It runs without ``site``, which would execute .pth files of its packages that another user may have written.
    """
    answer = host.run([path, "-I", "-S", "-c", DESCRIBE], timeout=ANSWER_SECONDS)
    words = answer.stdout.split()
    if len(words) != 5 or words[0] != "cpython" or words[2:4] != ["True", "True"]:
        return None
    return Python(version=words[1], executable=path, has_venv=words[4] == "True")


def _distinct(host: Host, unresponsive: list[str], own: str | None) -> Iterator[str]:
    """Yield the paths of interpreters, each file only once, even if it has several links."""
    visited = set()
    of_gpucheck = (interpreters.Place(own, (glob.escape(own),)),) if own else ()
    for place in (*interpreters.on_path(host), *of_gpucheck, *interpreters.of_installers(host)):
        try:
            candidates = with_timeout(min(PLACE_SECONDS, max(0.0, host.remaining() / 2)), _existing, host, place)
        except NoResponse:
            unresponsive.append(place.folder)
            continue
        for real, path in candidates:
            if real not in visited:
                visited.add(real)
                yield path


def _existing(host: Host, place: interpreters.Place) -> list[tuple[str, str]]:
    """Return the real path and the path of each interpreter that is not a broken link."""
    return [(host.real(path), path) for path in interpreters.find(host, place) if host.stat(path) is not None]
