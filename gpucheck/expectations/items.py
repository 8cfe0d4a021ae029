"""Each expectation against what was seen: met, not met, or could not be looked at. What the rules and ``compare`` share."""

import fnmatch
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gpucheck.compat import versions
from gpucheck.expectations import Expectations
from gpucheck.facts import Facts, FactType
from gpucheck.model import Evidence, Fact, Level, Request, TrainingRun, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.keras import Keras
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training

CUDA_ERROR_NO_DEVICE = 100
GIB = 1 << 30
ABSENT = "absent"  # looked for, and not there: what was expected is not met


class Item(NamedTuple):
    """One expectation. ``met`` is None where it could not be looked at; ``seen`` then says why."""

    what: str  # "Keras", "GPU 3"
    expected: str  # "==3.15.*", "at least 139 GiB"
    seen: str
    met: bool | None
    evidence: tuple[Evidence, ...] = ()
    affects: tuple[str, ...] = ()


class Seen:
    """The facts that expectations are held against, and why one of them is not there."""

    def __init__(self, request: Request, facts: dict[type[Fact], Fact | None]) -> None:
        self.request = request
        self._facts = facts

    @classmethod
    def of(cls, request: Request, *facts: Fact | None) -> "Seen":
        """Of the facts that a rule was handed."""
        return cls(request, {type(fact): fact for fact in facts if fact is not None})

    @classmethod
    def all(cls, request: Request, facts: Facts) -> "Seen":
        """Of a whole run."""
        kinds = (Cuda, Driver, Gpus, Interpreter, Keras, Libraries, Packages, TensorFlow, Training)
        return cls(request, {kind: facts.get(kind) for kind in kinds})

    def get(self, kind: type[FactType]) -> FactType | None:
        """The fact of that type, if there is one."""
        fact = self._facts.get(kind)
        return fact if isinstance(fact, kind) else None

    def why_not(self, kind: type[Fact]) -> str:
        """Why there is none of that type."""
        if kind in (TensorFlow, Keras, Training) and self.request.level < Level.DEFAULT:
            return "not looked at with --quick"
        if kind is Training and not self.request.smoke:
            return "not looked at with --no-smoke"
        return f"the probe {kind.__module__.rpartition('.')[2]} gave no answer"

    @property
    def expected(self) -> Expectations:
        """What the user expects; nothing where nothing was said."""
        return self.request.expectations or Expectations()


def gpu_count(seen: Seen) -> Iterator[Item]:
    """How many GPUs this process can use."""
    wanted = seen.expected.gpu.count
    if wanted is None:
        return
    count, evidence = usable_gpus(seen)
    words = seen.why_not(Cuda) if count is None else str(count)
    yield Item("number of GPUs", str(wanted), words, None if count is None else count == wanted, evidence)


def usable_gpus(seen: Seen) -> tuple[int | None, tuple[Evidence, ...]]:
    """How many GPUs this process can use (None: could not be seen), and what says so."""
    cuda, gpus = seen.get(Cuda), seen.get(Gpus)
    if cuda is not None and cuda.device_count is not None:
        return cuda.device_count, saw(cuda, "device_count")
    if cuda is not None and (cuda.status == "library-not-found" or cuda.result == CUDA_ERROR_NO_DEVICE):
        return 0, saw(cuda, "status")
    if gpus is not None and gpus.gpus:
        return sum(gpu.problem is None for gpu in gpus.gpus), saw(gpus, "gpus")
    return None, ()


def gpu_models(seen: Seen) -> Iterator[Item]:
    """Name, memory and compute capability of every GPU; nothing where there is none, which is the count's matter."""
    wanted, gpus, cuda = seen.expected.gpu, seen.get(Gpus), seen.get(Cuda)
    if not wanted.names and wanted.memory_gib is None and wanted.compute_capability is None:
        return
    source, items = (gpus, gpus.gpus) if gpus is not None and gpus.gpus else (cuda, cuda.devices if cuda is not None else ())
    field = "gpus" if source is gpus else "devices"
    if source is None or not items:
        if usable_gpus(seen)[0] != 0:
            yield Item("GPUs", "of a certain kind", seen.why_not(Gpus), None)
        return
    for place, gpu in enumerate(items):
        label = f"GPU {getattr(gpu, 'index', getattr(gpu, 'ordinal', place))}"
        for name, expected, is_met, words in _gpu_wishes(seen.expected):
            value = getattr(gpu, name)
            told = f"unknown: {getattr(gpu, 'problem', None) or 'the driver does not tell'}" if value is None else words(value)
            evidence = saw(source, f"{field}[{place}].{name}")
            yield Item(label, expected, told, None if value is None else is_met(value), evidence, (label,))


Wish = tuple[str, str, Callable[[Any], bool], Callable[[Any], str]]  # field, expected, met, in words


def _gpu_wishes(expectations: Expectations) -> Iterator[Wish]:
    wanted = expectations.gpu
    if wanted.names:
        names = wanted.names
        yield "name", " or ".join(names), lambda name: any(_named(name, one) for one in names), str
    if wanted.memory_gib is not None:
        least = wanted.memory_gib
        yield (
            "memory_total_bytes",
            f"at least {least:g} GiB of memory",
            lambda size: bool(size >= least * GIB),
            lambda size: f"{size / GIB:.1f} GiB of memory",
        )
    if wanted.compute_capability is not None:
        lowest = versions.parse(wanted.compute_capability)
        yield (
            "compute_capability",
            f"compute capability {wanted.compute_capability} or higher",
            lambda pair: tuple(pair) >= lowest,
            lambda pair: "compute capability " + ".".join(map(str, pair)),
        )


def _named(name: str, pattern: str) -> bool:
    return name == pattern or fnmatch.fnmatchcase(name, pattern)


def version(seen: Seen) -> Iterator[Item]:
    """Versions of what is installed."""
    wanted = seen.expected.versions
    for name, (what, look) in _VERSIONS.items():
        specifier = getattr(wanted, name)
        if specifier is None:
            continue
        found, evidence = look(seen)
        if found is None or found == ABSENT:
            met = None if found is None else False
            yield Item(what, specifier, found or "its version could not be seen", met, evidence)
            continue
        met = versions.satisfies(found, specifier)
        told = found if met is not None else f"{found}, which is no version that can be compared"
        yield Item(what, specifier, told, met, evidence)


Version = tuple[str | None, tuple[Evidence, ...]]  # None: could not be seen


def _driver(seen: Seen) -> Version:
    driver = seen.get(Driver)
    if driver is None:
        return None, ()
    if driver.status == "library-not-found":
        return ABSENT, saw(driver, "status")
    return driver.version, saw(driver, "version")


def _cuda(seen: Seen) -> Version:
    cuda, driver = seen.get(Cuda), seen.get(Driver)
    if cuda is not None and cuda.driver_version:
        return cuda.driver_version, saw(cuda, "driver_version")
    if driver is not None and driver.cuda_version:
        return driver.cuda_version, saw(driver, "cuda_version")
    if cuda is not None and cuda.status == "library-not-found":
        return ABSENT, saw(cuda, "status")
    return None, ()


def _cudnn(seen: Seen) -> Version:
    libraries, packages = seen.get(Libraries), seen.get(Packages)
    place, library = (
        next(((index, one) for index, one in enumerate(libraries.libraries) if one.soname.startswith("libcudnn.so")), (0, None))
        if libraries is not None
        else (0, None)
    )
    if libraries is not None and library is not None and library.path:
        return library.version, saw(libraries, f"libraries[{place}].path", f"libraries[{place}].version")
    for number, wheel in enumerate(packages.nvidia if packages is not None else ()):
        if wheel.name.startswith("nvidia-cudnn") and packages is not None:
            return wheel.version, saw(packages, f"nvidia[{number}].name", f"nvidia[{number}].version")
    if libraries is not None and library is not None:
        return ABSENT, saw(libraries, f"libraries[{place}].soname", f"libraries[{place}].path")
    if packages is not None and packages.tensorflow is None:
        return ABSENT, saw(packages, "nvidia")
    return None, ()


def _tensorflow(seen: Seen) -> Version:
    tensorflow, packages = seen.get(TensorFlow), seen.get(Packages)
    if tensorflow is not None and tensorflow.version:
        return tensorflow.version, saw(tensorflow, "version")
    if packages is None:
        return None, ()
    if packages.tensorflow is None:
        return (None if packages.tensorflow_folder else ABSENT), saw(packages, "tensorflow")
    return packages.tensorflow.version, saw(packages, "tensorflow.version")


def _keras(seen: Seen) -> Version:
    keras, packages = seen.get(Keras), seen.get(Packages)
    if keras is not None and keras.version:
        return keras.version, saw(keras, "version")
    if packages is None:
        return None, ()
    return (packages.keras.version if packages.keras else ABSENT), saw(packages, "keras.version" if packages.keras else "keras")


def _python(seen: Seen) -> Version:
    interpreter = seen.get(Interpreter)
    return (None, ()) if interpreter is None else (interpreter.version, saw(interpreter, "version"))


_VERSIONS: dict[str, tuple[str, Callable[[Seen], Version]]] = {
    "driver": ("the NVIDIA driver", _driver),
    "cuda": ("the driver's CUDA", _cuda),
    "cudnn": ("cuDNN", _cudnn),
    "tensorflow": ("TensorFlow", _tensorflow),
    "keras": ("Keras", _keras),
    "python": ("Python", _python),
}


def versions_seen(seen: Seen) -> dict[str, str | None]:
    """Every version by its name in the file: None where it could not be seen, ``ABSENT`` where it is not there."""
    return {name: look(seen)[0] for name, (_, look) in _VERSIONS.items()}


def training(seen: Seen) -> Iterator[Item]:
    """Strategies that must pass, speeds and first steps."""
    wanted, fact = seen.expected.training, seen.get(Training)
    absent = seen.why_not(Training)
    for strategy in wanted.strategies:
        yield _passes(strategy, fact, absent)
    for strategy, speeds in wanted.min_samples_per_second.items():
        for precision, least in speeds.items():
            yield from _fast(strategy, precision, least, fact, absent)
    if wanted.max_first_step_seconds is not None:
        yield from _starts(wanted.max_first_step_seconds, fact, absent)


def _passes(strategy: str, fact: Training | None, absent: str) -> Item:
    what, expected = f"strategy {strategy}", "a pass"
    runs = [(place, run) for place, run in _planned(fact) if run.strategy == strategy]
    for status in ("failed", "timed_out", "skipped"):
        for place, run in runs:
            if run.status == status and fact is not None:
                words = run.reason or status.replace("_", " ")
                evidence = saw(fact, f"runs[{place}].status", f"runs[{place}].reason")
                told = f"failed ({words})" if status == "failed" else words
                return Item(what, expected, told, False if status == "failed" else None, evidence, run.devices)
    return Item(what, expected, "passed" if runs else _no_run(fact, absent), True if runs else None)


def _fast(strategy: str, precision: str, least: float, fact: Training | None, absent: str) -> Iterator[Item]:
    what, expected = f"strategy {strategy} in {precision}", f"at least {least:,g} samples/s"
    found = False
    for place, run in _measured(fact):
        if (run.strategy, run.precision) == (strategy, precision) and as_usual(run) and fact is not None:
            found = True
            speed = run.samples_per_second
            told = f"no speed: {run.reason or run.status}" if speed is None else f"{speed:,.4g} samples/s"
            evidence = saw(fact, f"runs[{place}].samples_per_second")
            yield Item(what, expected, told, None if speed is None else speed >= least, evidence, run.devices)
    if not found:
        yield Item(what, expected, _no_run(fact, absent), None)


def _starts(most: float, fact: Training | None, absent: str) -> Iterator[Item]:
    found = False
    for place, run in _measured(fact):
        if as_usual(run) and run.first_step_seconds is not None and fact is not None:
            found = True
            seconds = run.first_step_seconds
            evidence = saw(fact, f"runs[{place}].first_step_seconds")
            what = f"the first step of {run.strategy} in {run.precision}"
            yield Item(what, f"at most {most:g} s", f"{seconds:.3g} s", seconds <= most, evidence, run.devices)
    if not found:
        yield Item("the first step of training", f"at most {most:g} s", _no_run(fact, absent), None)


def as_usual(run: TrainingRun) -> bool:
    """Whether it was compiled no more and no less than its backend does unless told otherwise."""
    return run.compiled == (run.backend == "jax")


def _measured(fact: Training | None) -> list[tuple[int, TrainingRun]]:
    return [(place, run) for place, run in _planned(fact) if run.status != "skipped"]


def _planned(fact: Training | None) -> list[tuple[int, TrainingRun]]:
    """All runs but those that were only tried to find out why another failed."""
    return [(place, run) for place, run in enumerate(fact.runs if fact is not None else ()) if run.cross_device is None]


def _no_run(fact: Training | None, absent: str) -> str:
    return absent if fact is None else f"no such training job{f': {fact.ending}' if fact.ending else ''}"
