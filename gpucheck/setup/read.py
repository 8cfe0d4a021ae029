"""This machine, as the answer needs it: what --quick reads of it, and its Pythons."""

from gpucheck.combiners.gpu_presence import combine as presence
from gpucheck.engine.facts import Facts
from gpucheck.engine.observation import Observation, Tick
from gpucheck.engine.plugin import load_probes
from gpucheck.files.bounded import NoAnswer, within
from gpucheck.host import Host
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.pci import Pci
from gpucheck.probes.system import System
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.wsl import Wsl
from gpucheck.setup.facts import machine
from gpucheck.setup.machine import Machine
from gpucheck.setup.pythons import PLACE_SECONDS, find

PROBES = ("system", "wsl", "container", "pci", "driver", "gpus", "cuda", "tpu")


def read(host: Host, tick: Tick | None = None) -> Machine:
    """Look at the machine, TensorFlow installed or not.

    Args:
        host: the machine.
        tick: see ``observe``.
    """
    observation = Observation(host, [probe for probe in load_probes() if probe.name in PROBES])
    found = find(host)
    facts = Facts(observation.wait(tick))
    parts = (facts.get(Container), facts.get(Pci), facts.get(Driver), facts.get(Cuda))
    here = None if None in parts else presence(host.request, *parts).here  # type: ignore[arg-type]
    return machine(
        facts.get(System),
        facts.get(Wsl),
        facts.get(Driver),
        facts.get(Gpus),
        facts.get(Cuda),
        facts.get(Tpu),
        here=here,
        pythons=found.pythons,
        silent=found.silent,
        uv=_has_uv(host),
    )


def _has_uv(host: Host) -> bool | None:
    try:
        return within(PLACE_SECONDS, host.which, "uv") is not None
    except NoAnswer:
        return None
