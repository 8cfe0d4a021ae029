"""The examined interpreter, its environment, and other interpreters on PATH that have TensorFlow installed."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from gpucheck.core.child.messages.machine import Installation
from gpucheck.core.child.messages.machine import Interpreter as Description
from gpucheck.core.compat import versions
from gpucheck.core.host import Host, interpreters
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _distributions


class OtherInterpreter(Fact, frozen=True, kw_only=True):
    """Another interpreter of this machine with TensorFlow in its site-packages. Found on disk; never started."""

    executable: str
    tensorflow: str  # distribution and version: "tensorflow 2.21.0"


class Interpreter(Installation, Fact, frozen=True, kw_only=True):
    """The examined interpreter, as it describes itself."""

    implementation: str = "cpython"
    environment: str | None = None  # "venv", "conda" or None: the system's own Python
    externally_managed: bool | None = None  # PEP 668: pip does not install here
    pip_version: str | None = None  # None: no pip
    bits: int | None = None  # 64
    path: tuple[str, ...] = ()  # sys.path, in order
    active_environment: str | None = None  # VIRTUAL_ENV or CONDA_PREFIX of the shell
    others: tuple[OtherInterpreter, ...] = ()  # searched only if the examined one has no TensorFlow


HOMES_MAX = 30  # interpreters to check, so that a PATH with a thousand environments takes no time


@probe(level=Level.QUICK)
def read(host: Host) -> Interpreter:
    """Query the interpreter (in a child, if it is not gpucheck's own) and search PATH for others."""
    answer = _distributions.interpreter(host)
    distributions = _distributions.installed(host, answer.path)
    pip = distributions.get("pip")
    virtual = answer.prefix != answer.base_prefix
    return replace(
        msgspec.convert(answer, Interpreter, from_attributes=True),
        environment="venv" if virtual else "conda" if host.names(f"{answer.prefix}/conda-meta") else None,
        externally_managed=not virtual and "EXTERNALLY-MANAGED" in host.names(_library(answer)),
        pip_version=pip.version if pip else None,
        active_environment=host.env.get("VIRTUAL_ENV") or host.env.get("CONDA_PREFIX"),
        others=() if _distributions.flavours(distributions) else tuple(_others(host, answer.path)),
    )


def _library(answer: Description) -> str:
    """Return the folder of the standard library, which may contain PEP 668's marker."""
    return answer.stdlib or f"{answer.base_prefix}/lib/python{versions.minor(answer.version)}"


def _others(host: Host, path: tuple[str, ...]) -> Iterator[OtherInterpreter]:
    """Yield the interpreters with a TensorFlow in their site-packages that is not on the examined one's path."""
    checked = {host.real(folder) for folder in path}
    homes: set[tuple[str, str | None]] = set()
    places = (*interpreters.environments(host), *interpreters.on_path(host))
    for python in (python for place in places for python in interpreters.find(host, place)):
        home, version = _home(host, python)
        if (home, version) in homes:
            continue
        if len(homes) == HOMES_MAX:
            return
        homes.add((home, version))
        for folder in _site_packages(host, home, version):
            if (real := host.real(folder)) in checked:
                continue
            checked.add(real)
            flavours = _distributions.flavours(_distributions.installed(host, [folder]))
            if flavours:
                yield OtherInterpreter(executable=python, tensorflow=f"{flavours[0].name} {flavours[0].version}")
                break


def _home(host: Host, python: str) -> tuple[str, str | None]:
    """Return the interpreter's prefix, and its minor version if the file name has it.

    A virtual environment's ``python`` is a link out of it, so the folder of the link determines the prefix.
    """
    folder = python.rpartition("/")[0]
    home = folder.rpartition("/")[0]
    if host.read(f"{home}/pyvenv.cfg", limit_bytes=1) is not None:
        return host.real(home), None
    real = host.real(python).replace("\\", "/")
    folder, _, name = real.rpartition("/")
    home = folder.rpartition("/")[0] if folder.endswith(("/bin", "/Scripts")) else folder
    return home, interpreters.minor(name) or None


def _site_packages(host: Host, home: str, version: str | None) -> Iterator[str]:
    """Yield folders that may contain distributions of that interpreter, whether they exist or not."""
    for library in ("lib", "lib64"):
        for name in host.names(f"{home}/{library}"):
            if interpreters.minor(name) and version in (None, name[6:]):
                yield f"{home}/{library}/{name}/site-packages"
    yield f"{home}/Lib/site-packages"
    if home == "/usr":  # Debian's own folders; a version's file name is always known there
        yield f"/usr/local/lib/python{version}/dist-packages"
        yield "/usr/lib/python3/dist-packages"
    user = host.env.get("HOME")
    if user and version and host.read(f"{home}/pyvenv.cfg", limit_bytes=1) is None:
        yield f"{user}/.local/lib/python{version}/site-packages"
