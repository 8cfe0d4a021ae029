"""A machine from its description: words, key=value, a report of gpucheck, or the output of nvidia-smi.

An unknown word is an error. Properties that are not in the description stay open (``Machine.left_open``).
"""

import functools
import re
from collections.abc import Callable, Mapping

import msgspec

from gpucheck.commands.setup import systems, vocabulary
from gpucheck.core.compat import cuda, gpus, tpu, versions
from gpucheck.core.solver.machine import Gpu, Machine, OtherGpu, Python

LONGEST = 1000  # characters of a description
_CAPABILITIES = ", ".join(f"{major}.{minor}" for major, minor in gpus.CAPABILITIES)
EXAMPLE = '"RTX 4090, driver 535, WSL2, Python 3.12"'
KINDS = (
    "a GPU (RTX 4090, 2x A100, MI300X, no GPU), a compute capability (8.9), a driver (driver 535), Python 3.12,"
    " a system (Ubuntu 22.04, RHEL 8, Alpine, WSL2, Windows 11, macOS), glibc 2.28, x86_64, aarch64, a TPU (v5e)"
)


class Unknown(ValueError):
    """A description that can't be understood; the message is one line."""


class Draft(msgspec.Struct):
    """The properties read so far; None: not given."""

    system: str | None = None
    os_name: str | None = None
    architecture: str | None = None
    avx: bool | None = None
    glibc: str | None = None
    musl: bool = False
    wsl: bool = False
    driver: str | None = None
    gpus: list[Gpu] = []
    others: list[OtherGpu] = []
    no_gpu: bool = False
    no_driver: bool = False
    tpu: str | None = None
    pythons: list[str] = []
    jetpack: str | None = None
    implied: str | None = None  # the processor that a GPU's name implies

    def set_system(self, system: str, name: str | None = None) -> None:
        """Set the operating system; two different ones are an error."""
        if {self.system, system} == {"linux", "win32"} and self.wsl:
            system = "linux"  # Windows with WSL2
        elif self.system not in (None, system):
            raise Unknown(f"it describes two systems: {self.os_name or self.system} and {name or system}")
        self.system, self.os_name = system, name or self.os_name


def machine(text: str) -> Machine:
    """Return the machine of a description in words.

    Raises:
        Unknown: a word is unknown; the message contains it.
    """
    draft = Draft()
    rest = vocabulary.without_code_names(" ".join(text.split()))
    if not rest:
        raise Unknown(f"it is empty; expected for example {EXAMPLE}")
    if len(rest) > LONGEST:
        raise Unknown(f"it has more than {LONGEST} characters")
    rest = vocabulary.PAIR.sub(_in_words, rest)
    while rest := rest.lstrip(" ,;+()\"'"):
        rest = rest[_take(rest, draft) :]
    return finish(draft)


def finish(draft: Draft) -> Machine:
    """Return the machine, with implied properties, and those left open."""
    others = tuple(draft.others)
    if any(gpu.vendor == "apple" for gpu in others) and draft.system is None:
        draft.set_system("darwin")
    jetson = any(gpu.capability in gpus.JETSON for gpu in draft.gpus)
    system = draft.system or "linux"
    architecture = "aarch64" if jetson and draft.architecture is None else _architecture(draft, system)
    if draft.no_gpu and (draft.gpus or others):
        raise Unknown("it lists a GPU, and says that there is none")
    no_nvidia = draft.no_gpu or bool(others) or draft.tpu is not None or system == "darwin"
    usual = jetson or draft.tpu is not None  # machines with one kind of system
    left_open = [
        *(["system"] if draft.system is None and not usual else []),
        *(["architecture"] if draft.architecture is None and draft.implied is None and not usual else []),
        *(["glibc"] if system == "linux" and draft.glibc is None and not draft.musl and not usual else []),
        *(["gpu"] if not draft.gpus and not no_nvidia else []),
        *(["driver"] if draft.driver is None and not draft.no_driver else []),
        *(["python"] if not draft.pythons else []),
        *(["jetpack"] if jetson and draft.jetpack is None else []),
    ]
    return Machine(
        system=system,
        architecture=architecture,
        os_name=draft.os_name,
        avx=draft.avx,
        glibc=draft.glibc if system == "linux" else None,
        musl=draft.musl if system == "linux" else None,
        wsl=draft.wsl,
        driver=draft.driver,
        gpus=tuple(draft.gpus) or (() if no_nvidia else None),
        others=others,
        tpu=draft.tpu,
        pythons=tuple(Python(version=one, executable=f"python{versions.minor(one)}") for one in draft.pythons) or None,
        jetpack=draft.jetpack,
        left_open=tuple(left_open),
    )


def _architecture(draft: Draft, system: str) -> str | None:
    """Return the processor: as described, as implied by the GPU, or the default of the system."""
    if draft.architecture is not None:
        if draft.implied == "aarch64" and draft.architecture != "aarch64":
            raise Unknown(f"machines with {draft.gpus[-1].name} have aarch64 processors, not {draft.architecture}")
        return "arm64" if (system, draft.architecture) == ("darwin", "aarch64") else draft.architecture
    if draft.implied is not None:
        return draft.implied
    return "arm64" if system == "darwin" else "x86_64"


def _take(text: str, draft: Draft) -> int:
    """Read the first words of the text into the draft, and return their length."""
    lower = "".join(letter.lower() if letter.isascii() else letter for letter in text)  # of the same length
    count = vocabulary.COUNT.match(lower)
    offset = count.end() if count else 0
    words = [(match, take) for pattern, take in _words() if (match := pattern.match(lower)) is not None]
    gpu = gpus.at_start(lower[offset:])
    longest = max(words, key=lambda found: found[0].end(), default=None)
    if gpu is not None and (longest is None or offset + gpu[0] >= longest[0].end()):
        end = offset + gpu[0]
        after = vocabulary.COUNT_AFTER.match(lower[end:])
        _add_gpu(text[offset:end], gpu[1], int(_first_number(count) or _first_number(after) or 1), draft)
        return end + (after.end() if after else 0)
    if longest is None:
        raise Unknown(f"unknown word {re.split(r'[,;() ]', text, maxsplit=1)[0]!r}; expected {KINDS}")
    match, take = longest
    take(match, text[match.start() : match.end()], draft)
    return match.end()


def _first_number(match: re.Match[str] | None) -> str | None:
    return next((group for group in match.groups() if group), None) if match else None


def _in_words(pair: re.Match[str]) -> str:
    """Return words for the beginning of key=value: ", driver " for "driver=", and ", no gpu" for "gpu=none"."""
    key = pair[1].lower()
    if key not in vocabulary.KEYS:
        raise Unknown(f"unknown key {key!r}; expected one of {', '.join(dict.fromkeys(vocabulary.KEYS))}")
    if pair[2]:
        if key not in vocabulary.MAY_BE_ABSENT:
            raise Unknown(f"{key} can't be {pair[2]!r}")
        return f", no {key}"
    if pair.string[pair.end() :][:1] in ("", ",", ";", "(", ")"):
        raise Unknown(f"{key}= has no value")
    return f", {vocabulary.KEYS[key]} "


def _add_gpu(name: str, named: gpus.KnownGpu, number: int, draft: Draft) -> None:
    name = re.sub(r"\s+", " ", name).strip()
    if named.vendor == "nvidia":
        capability = named.chip if isinstance(named.chip, tuple) else None
        draft.gpus += [Gpu(name=name, capability=capability)] * number
    else:
        chip = named.chip if isinstance(named.chip, str) else None
        draft.others += [OtherGpu(vendor=named.vendor, name=name, chip=chip)] * number
        if named.vendor == "apple":
            draft.set_system("darwin")
    draft.implied = named.architecture or draft.implied


def _driver(match: re.Match[str], text: str, draft: Draft) -> None:
    version = match["driver"] or match["bare"]
    first, last = cuda.branches()
    if not first <= int(version[:3]) <= last:
        raise Unknown(f"unknown driver {version}: expected a branch from {first} to {last}")
    draft.driver = version


def _number(match: re.Match[str], text: str, draft: Draft) -> None:
    """Read a number: '8.9' is a compute capability; '3.12' is a Python, and so is '3.7' after a GPU."""
    number = match["number"]
    parts = tuple(map(int, number.split(".")))
    if len(parts) == 2 and parts in gpus.CAPABILITIES and not (parts[0] == 3 and draft.gpus):
        draft.gpus.append(Gpu(capability=(parts[0], parts[1])))
    elif parts[0] == 3 and not (len(parts) == 2 and parts[1] < 5):
        draft.pythons.append(number)
    else:
        raise Unknown(f"{number!r} is neither a known compute capability ({_CAPABILITIES}) nor a Python 3 version")


def _capability(match: re.Match[str], text: str, draft: Draft) -> None:
    capability = (int(match["major"]), int(match["minor"]))
    if capability not in gpus.CAPABILITIES:
        raise Unknown(f"{match['major']}.{match['minor']} is not a known compute capability: {_CAPABILITIES}")
    draft.gpus.append(Gpu(capability=capability))


def _python(match: re.Match[str], text: str, draft: Draft) -> None:
    if not match["python"].startswith("3."):
        raise Unknown(f"{match['python']!r} is not a Python 3 version (expected e.g. 3.12)")
    draft.pythons.append(match["python"])


def _distribution(match: re.Match[str], text: str, draft: Draft) -> None:
    name = next(known for known, pattern in vocabulary.DISTRIBUTIONS.items() if re.fullmatch(pattern, match["name"]))
    version = match["version"]
    draft.set_system("linux", " ".join(text.split()))
    if name in systems.MUSL:
        draft.musl = True
    elif version is not None:
        glibc = systems.glibc(name, version)
        if glibc is None and name in systems.GLIBC:
            raise Unknown(f"unknown release {text!r}: expected {', '.join(systems.GLIBC[name])}; or specify glibc 2.28")
        if glibc and draft.glibc not in (None, glibc):
            raise Unknown(f"it describes two systems: one with glibc {draft.glibc}, and {text} with glibc {glibc}")
        draft.glibc = glibc or draft.glibc


def _tpu(match: re.Match[str], text: str, draft: Draft) -> None:
    word = match["tpu"]
    names = {"ironwood": "tpu7x", "v7x": "tpu7x", "trillium": "v6e", "7x": "tpu7x", "8i": "tpu8i", "8t": "tpu8t"}
    kind = names.get(word or "", word)
    generation = tpu.generation_of(kind) if kind else "unknown"
    if generation is None:
        raise Unknown(f"unknown TPU {text!r}: expected {', '.join(known.name for known in tpu.GENERATIONS)}")
    draft.tpu = generation


def _set(values: Mapping[str, object], text: str, draft: Draft) -> None:
    """Set the values of a word: a system, a processor, no GPU."""
    if values.get("wsl"):
        draft.wsl, draft.os_name = True, None if draft.system == "win32" else draft.os_name
    for name, value in values.items():
        if name == "system":
            plain = draft.wsl or text.lower() in ("linux", "windows", "macos", "musl")
            draft.set_system(str(value), None if plain else " ".join(text.split()))
        elif getattr(draft, name) not in (None, False, value):
            raise Unknown(f"{text!r} contradicts {getattr(draft, name)!r}")
        else:
            setattr(draft, name, value)


def _value(match: re.Match[str], text: str, draft: Draft) -> None:
    setattr(draft, *next(iter({name: value for name, value in match.groupdict().items() if value}.items())))


def _refused(match: re.Match[str], text: str, draft: Draft) -> None:
    reasons = (reason for part, reason in vocabulary.REFUSED.items() if part in text.lower())
    raise Unknown(f"{text!r} {next(reasons, vocabulary.NOT_OF_A_MACHINE)}")


def _ignore(match: re.Match[str], text: str, draft: Draft) -> None:
    """Ignore a filler word."""


_READERS = {
    "driver": _driver,
    "number": _number,
    "capability": _capability,
    "python": _python,
    "distribution": _distribution,
    "value": _value,
    "tpu": _tpu,
    "refused": _refused,
    "nothing": _ignore,
}
Parser = Callable[[re.Match[str], str, Draft], None]


@functools.cache
def _words() -> tuple[tuple[re.Pattern[str], Parser], ...]:
    """Return the pattern of each word, with the function that reads it."""

    def setter(values: Mapping[str, object]) -> Parser:
        return lambda match, text, draft: _set(values, text, draft)

    return (
        *((vocabulary.compiled(pattern), _READERS[kind]) for kind, pattern in vocabulary.READ),
        *((vocabulary.compiled(pattern), setter(values)) for values, pattern in vocabulary.SET),
    )
