"""Installation causes: pip has no package for this Python or platform, or the package is in another environment."""

import re
from typing import NamedTuple

from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.compat.tensorflow import LAST_ON_WINDOWS
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events, values
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Severity

_OURS = (
    r"^(?:tensorflow|tf-?nightly|tf-keras|keras|jax|torch|pytorch|nvidia-|tensorrt|intel-tensorflow|cupy|tfx|tflite-|ml-metadata)"
)
_CUDA_ONLY = r"^(?:nvidia-|tensorrt|cupy-cuda|jax-cuda|triton)"
_NOT_FOR_WINDOWS = r"^tensorflow-(?:text|decision-forests|compression)$"
_APPLE = r"^tensorflow-(?:macos|metal)$"
_PLACEHOLDER = "0.0.1"  # of tensorflow-intel, for other systems than Windows
_LAST_GPU_PACKAGE = "2.11"
_PLATFORM = ("windows", "macos", "architecture", "musl")


class RefusedPackage(NamedTuple):
    """A package that could not be installed."""

    code: str  # of the rule
    events: list[Event]
    package: str
    requested: str  # "==2.10.0"; empty: any version
    offered: str  # "2.16.1 to 2.20.0", "none"; empty: unknown
    python: str | None
    needed: str | None  # the Python versions that it supports


def infer_refused_package(events: Events) -> RefusedPackage | None:
    """Return the first refused package that a rule is about, and why; None if the index could not be reached."""
    refused = events.unresolved("pip-no-matching-distribution", "pip-python-mismatch", "pip-wheel-unsupported")
    ours = [event for event in refused if re.match(_OURS, _package(event)) or event.kind == "pip-wheel-unsupported"]
    ours = [event for event in ours if event.fields.get("available") != _PLACEHOLDER]
    if not ours or events.unresolved("pip-unreachable"):
        return None
    package = _package(ours[0])
    same = [event for event in ours if _package(event) == package]
    fields = {key: value for event in reversed(same) for key, value in event.fields.items()}
    platform = events.of(*_PLATFORM)
    code = _code(ours[0], package, fields, {event.kind for event in platform})
    return RefusedPackage(
        code,
        [*same[:2], *(platform[:1] if code != "python-unsupported" else ())],
        package or "such wheel",
        fields.get("version", ""),
        fields.get("available", ""),
        fields.get("python"),
        fields.get("needed"),
    )


def _package(event: Event) -> str:
    name = event.fields.get("package") or event.fields.get("file", "").rpartition("/")[2].partition("-")[0]
    return name.lower().replace("_", "-")


def _code(event: Event, package: str, fields: dict[str, str], platform: set[str]) -> str:
    if package == "tensorflow-gpu" and _discontinued(fields.get("version", ""), fields.get("available", "")):
        return "tensorflow-gpu-package-removed"
    if event.kind == "pip-wheel-unsupported" and not event.fields:  # for an unnamed wheel
        return "platform-unsupported"
    if event.kind == "pip-no-matching-distribution":
        if re.match(_APPLE, package) and "macos" not in platform:
            return "platform-unsupported"
        if re.match(_NOT_FOR_WINDOWS, package) and "windows" in platform:
            return "platform-unsupported"
        if re.match(_CUDA_ONLY, package) and "windows" in platform:
            return "windows-native-unsupported"
        if re.match(_CUDA_ONLY, package) and "macos" in platform:
            return "macos-no-cuda"
        if package.startswith("nvidia-") and re.search(r"0\.0\.1\.dev\d*$", fields.get("available", "")):
            return "platform-unsupported"  # the placeholder is all that the index has for other systems
        if fields.get("tag") == "platform" or platform & {"architecture", "musl"}:
            return "platform-unsupported"
    return "python-unsupported"


def _discontinued(requested: str, available: str) -> bool:
    """Whether the release was never built: tensorflow-gpu ended with 2.11; for older ones this Python is too new."""
    version = re.sub(r"^[^\d]+", "", requested) or available.partition(" to ")[0]
    return not re.search(r"\d", version) or versions.at_least(version, f"{_LAST_GPU_PACKAGE}.99")


class Form(NamedTuple):
    """The machine as an issue's form or text describes it; None: unknown, or several answers."""

    os: str | None  # "linux", "macos", "windows", "wsl"
    tensorflow: str | None  # version
    python: str | None  # version
    events: list[Event]  # the lines with the answers, at most one for each

    @property
    def after_windows(self) -> bool | None:
        """Whether TensorFlow is newer than the last release with GPU support on native Windows; None: unknown version."""
        return None if self.tensorflow is None else versions.parse(self.tensorflow)[:2] > versions.parse(LAST_ON_WINDOWS)


def infer_form(events: Events) -> Form:
    """Read the description: answers in a form take precedence over other text, which is used only if it is consistent."""
    answers = {name: event for name in ("os", "tensorflow", "python") if (event := _answer(events, name)) is not None}
    os, tensorflow, python = (answers[name].fields[name] if name in answers else None for name in ("os", "tensorflow", "python"))
    return Form(os, tensorflow, python, list(answers.values()))


def _answer(events: Events, name: str) -> Event | None:
    mentions = events.of(f"{name}-named")
    answers = [event for event in mentions if event.fields["labelled"] == "yes"] or mentions
    return answers[0] if len(values(answers, name)) == 1 else None


def _no_gpu_found(events: Events) -> list[Event]:
    """Return the lines that report that no GPU was found."""
    return [event for event in events.log.events if event.kind == "gpu-unseen" or event.fields.get("cause") == "no-nvidia-gpu"]


def python_unsupported(events: Events) -> Cause | None:
    """Detect that pip has no package for this Python: it reports that, offers none, or offers only other versions."""
    refused = events.inferred(infer_refused_package, "python-unsupported")
    if refused is None:
        return _python_of_form(events) if events.infer(infer_refused_package) is None else None
    what = f"{refused.package}{refused.requested}"
    if refused.python and refused.needed:
        summary = f"{what} needs Python {refused.needed}, but this is Python {refused.python}."
    else:
        offers = f": it offers {refused.offered}" if refused.offered not in ("", "none") else ""
        summary = f"pip finds no {what} for this Python{offers}."
    return Cause(summary, refused.events)


def _python_of_form(events: Events) -> Cause | None:
    """Detect a form whose versions of Python and TensorFlow do not match, if TensorFlow can't be imported."""
    form = events.infer(infer_form)
    missing = events.unresolved("module-missing", module=r"tensorflow(\..*)?")
    if not missing or form.python is None:
        return None
    release = releases.release(form.tensorflow) if form.tensorflow else releases.RELEASES[releases.LATEST]
    python = versions.parse(form.python)[:2]
    if release is None or versions.parse(release.python_min) <= python <= versions.parse(release.python_max):
        return None
    if form.tensorflow is None and python < versions.parse(release.python_min):
        return None  # an old question about an old TensorFlow
    summary = f"TensorFlow {release.minor} supports Python {release.python_min} to {release.python_max}, but this is Python {form.python}."
    return Cause(summary, [missing[0], *form.events])


def platform_unsupported(events: Events) -> Cause | None:
    """Detect a C library that is too old or of another kind, or a machine for which pip has no package."""
    refused = events.inferred(infer_refused_package, "platform-unsupported")
    if refused is None:
        return None
    cited = {event.line for event in refused.events}
    others = [event for event in events.log.events if event.line not in cited]  # a refusal lists the platforms that it has
    machine = next((f" ({name})" for name in values(others, "machine")), "")
    return Cause(f"pip has no {refused.package} for this platform{machine}.", refused.events)


def tensorflow_gpu_package_removed(events: Events) -> Cause | None:
    """Detect a release of tensorflow-gpu that does not exist, as pip reports."""
    refused = events.inferred(infer_refused_package, "tensorflow-gpu-package-removed")
    if refused is None:
        return None
    summary = f"There is no tensorflow-gpu{refused.requested}: the package was discontinued in 2022."
    return Cause(summary, refused.events, Severity.ERROR)


def macos_no_cuda(events: Events) -> Cause | None:
    """Detect a program that requests CUDA on a Mac."""
    form, refused = events.infer(infer_form), events.inferred(infer_refused_package, "macos-no-cuda")
    mac = events.without_later_gpu_use("macos") or (form.events[:1] if form.os == "macos" else [])
    requests = events.without_later_gpu_use(
        "cpu-build", "cuinit-failed", "driver-absent", "gpus-listed", "cuda-drivers-not-found"
    )
    if refused is not None:
        requests = refused.events
    requests = requests or (_no_gpu_found(events) if form.os == "macos" else [])
    if not mac or not requests or any("metal" in event.text.lower() for event in mac):
        return None
    summary = "This is macOS, which has no CUDA, so no NVIDIA GPU can be used on it."
    return Cause(summary, [mac[0], *requests], Severity.WARNING if events.has("training-progress") else None)


def windows_native_unsupported(events: Events) -> Cause | None:
    """Detect native Windows: TensorFlow reports it, finds no GPU though no library is missing, or pip has no package for it."""
    refused = events.inferred(infer_refused_package, "windows-native-unsupported")
    lines = events.without_later_gpu_use("windows-native") or (refused.events if refused else _on_windows(events))
    if not lines:
        return None
    summary = (
        f"This is native Windows, where TensorFlow can't use GPUs since release 2.11; {LAST_ON_WINDOWS} was the last that could."
    )
    return Cause(summary, lines, Severity.WARNING if events.has("training-progress") else None)


def _on_windows(events: Events) -> list[Event]:
    """Return the lines in which TensorFlow or a user reports no GPU, if the log or a form names Windows."""
    # up to 2.10 it opened the libraries on Windows, and reported missing ones
    if events.has("library-missing", "library-opened", "gpu-ignored"):
        return []
    form, windows = events.infer(infer_form), events.without_later_gpu_use("windows")
    counted = events.without_later_gpu_use("gpus-listed", "cpu-build", count="0?", torch="")
    inside = form.os == "wsl" or events.has("wsl-inside")
    if windows and counted and not inside and form.after_windows is not False:
        return [counted[0], windows[0]]
    missing = [*counted, *_no_gpu_found(events)]
    return [missing[0], *form.events[:2]] if missing and form.os == "windows" and form.after_windows else []


def tensorflow_not_installed(events: Events) -> Cause | None:
    """Detect a missing TensorFlow: Python reports it for the package, not a part of it, or pip for another environment."""
    missing = events.unresolved("module-missing", module="tensorflow")
    if not missing or events.infer(infer_bypassed_backend):
        return None
    return Cause("TensorFlow is not installed for the Python that ran this.", missing)


def wrong_environment(events: Events) -> Cause | None:
    """Detect that pip reports TensorFlow as installed but Python does not find it: their environments differ."""
    missing = events.unresolved("module-missing", module="tensorflow")
    installed = events.of("package-installed")
    if not missing or not installed:
        return None
    version, where = installed[0].fields.get("version"), installed[0].fields.get("path")
    name = f"TensorFlow{f' {version}' if version else ''} is installed{f' in {where}' if where else ''}"
    return Cause(f"{name}, but not for the Python that ran this.", [installed[0], *missing])


def infer_bypassed_backend(events: Events) -> list[Event]:
    """Return the lines in which Keras uses TensorFlow, which is not installed, if the log shows another backend."""
    taken = events.of("keras-backend", name="tensorflow")
    missing = events.of("module-missing", module="tensorflow")
    others = events.of("keras-backend-other")
    return [taken[0], missing[0], others[0]] if taken and missing and others and taken[0].line < missing[0].line else []
