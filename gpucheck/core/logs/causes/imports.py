"""Causes of failed imports: a package in another version, a user's file, or a backend that Keras can't use."""

import re

from gpucheck.core.compat.modules import package_for
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events, in_order, values
from gpucheck.core.logs.causes.libraries import is_conflict
from gpucheck.core.logs.causes.packages import infer_bypassed_backend
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import short

_HIDDEN = r"is not a package|no attribute '__version__'|module 'keras' has no attribute"
_OURS = r"(?i)tensorflow|_pywrap|\bkeras\b|protobuf|numpy|native runtime|ml_dtypes|h5py|_h5|multiarray|libtensorflow"
_WITH_A_PAGE = r"(?:tensorflow|(?:tf_)?keras|jax|jaxlib|torch)\b"  # a missing package with another code
# a package that requires another one, or another TensorFlow
_OTHERS_NEED = r"(?i)TensorFlow Probability requires|please (?:install|upgrade)|reinstall horovod|\bpip install|requires (?:the )?[`'\"]?(?:tensorflow[ _-]\w+|\w+) (?:package|library|version)"
_LOADED = r"lib(?:cu|nv|nccl)[\w-]*\.so|partially initialized module '(?!tensorflow)"


def tensorflow_import_failed(events: Events) -> Cause | None:
    """Detect a failed import of TensorFlow, or of a package it needs, for a reason that has no page."""
    if own := events.infer(_hiding_file):
        return own
    elsewhere = {event.line for event in events.infer(infer_bypassed_backend)}
    failed = [event for event in events.unresolved("import-failed") if _is_ours(event) and event.line not in elsewhere]
    needed = rf"tensorflow\..*|(?!{_WITH_A_PAGE}).*" if events.has("importing") else r"tensorflow\..*"
    failed += events.unresolved("module-missing", module=needed)
    symbols = [event for event in events.unresolved("symbol-missing") if not is_conflict(event)]
    failed += [event for event in symbols if re.search(_OURS, event.text)]
    if not failed:
        return None
    lines = in_order(*failed)
    module = lines[0].fields.get("module", "")
    package = package_for(module)
    because = f" because of {package}" if package not in ("", "tensorflow") else ""
    # without the path of the file
    message = lines[0].fields.get("message") or lines[0].text
    reason = short(re.sub(r"\s+\(/[^)]*\)?$", "", message), 160)
    bare = "compiled against" in message and not events.has("importing")  # of whichever package
    return Cause(
        f"{'A package' if bare else 'TensorFlow'} can't be imported{because}: {reason}.",
        lines,
        repair_values={"message": message},
    )


def _hiding_file(events: Events) -> Cause | None:
    """Detect a user's file that shadows an installed module."""
    frames = events.unresolved("own-file")
    bare = [event for event in events.unresolved("import-failed") if "has no attribute" in event.text]
    for event in (*events.unresolved("module-hidden"), *bare):
        module = event.fields.get("module", "")
        of_module = [frame for frame in frames if frame.fields["module"] == module]
        file = next(iter(values([event, *of_module], "file")), None)
        certain = event.kind == "module-hidden" and (module == "tensorflow" or re.search(_HIDDEN, event.text))
        if file or certain:
            name = file or f"a file named {module}.py, most likely next to the program,"
            summary = f"The import fails: {name} shadows the installed module {module}."
            return Cause(summary, [*of_module[:1], event], repair_values={"hides": module, "file": file or ""})
    return None


def _is_ours(event: Event) -> bool:
    """Whether TensorFlow's import or one below it failed; missing CUDA libraries have their own page."""
    module = event.fields.get("module") or ""
    if re.search(_LOADED, event.text) or re.search(_OTHERS_NEED, event.text) or module.startswith("torch"):
        return False
    if re.search(_OURS, f"{module} {event.text}"):
        return True
    return "DLL load failed" in event.text and "while importing" not in event.text  # of an unnamed module


def keras_backend_mismatch(events: Events) -> Cause | None:
    """Detect that Keras reports another backend, or does not support the configured one."""
    unknown = events.unresolved("keras-backend-invalid")
    others = events.of("keras-backend", name="(?!tensorflow$).*")
    absent = events.unresolved("module-missing", module=re.escape(others[0].fields["name"])) if others else []
    lines = [*unknown, *absent, *others]
    if not lines:
        bypassed = events.infer(infer_bypassed_backend)
        name = bypassed[-1].fields["name"] if bypassed else ""
        summary = f"Keras uses TensorFlow, which is not installed, instead of {name}."
        return Cause(summary, bypassed, Severity.ERROR) if bypassed else None
    name = next(iter(values(lines, "name")), "another one")
    if absent:
        summary = f"Keras is configured for {name}, which is not installed."
    elif unknown:
        summary = f"Keras can't run on {name}: it is not a supported backend."
    else:
        summary = f"Keras runs on {name} here, not on TensorFlow."
    return Cause(summary, lines, Severity.ERROR if unknown or absent else None)


def keras_backend_import_failed(events: Events) -> Cause | None:
    """Detect incompatible versions of JAX, jaxlib and the CUDA plugin."""
    cited = events.unresolved("jax-versions") + _versions_of_plugin(events)
    if not cited:
        return None
    shown = {"reason": "version"} if events.has("jax-cuda-plugin") else {}
    return Cause(f"The versions of JAX and its parts are incompatible: {short(cited[0].text)}.", cited, repair_values=shown)


def tpu_version_mismatch(events: Events) -> Cause | None:
    """Detect a libtpu whose interface version differs from the one that the framework expects."""
    cited = [event for event in events.unresolved("tpu-failed", reason="version") if event not in _versions_of_plugin(events)]
    return Cause(f"The framework and libtpu are incompatible: {short(cited[0].text)}.", cited) if cited else None


def _versions_of_plugin(events: Events) -> list[Event]:
    """Return the lines about the plugin interface, if JAX loads a CUDA plugin in this log."""
    return events.unresolved("tpu-failed", reason="version", message=".*PJRT.*") if events.has("jax-cuda-plugin") else []
