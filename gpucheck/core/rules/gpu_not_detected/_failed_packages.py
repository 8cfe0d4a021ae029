"""The package that the error of a failed import is about, and its repairs."""

import re

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.compat.modules import is_known, package_for
from gpucheck.core.model import Fix, Fixes
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import word

# Packages that the wheels are built for: the name, a pattern of its errors, a version that works if the release
# is unknown, and a label if there is no error.
_REQUIRED = (
    ("numpy", r"numpy' has no attribute 'exceptions'|against (?:NumPy C-)?API version|numpy\._core", ">=1.26,<2.1", ""),
    ("numpy", r"(?i)numpy|_ARRAY_API", "<2", "If the error mentions NumPy"),
    ("protobuf", "Descriptors cannot", "<3.21", '"Descriptors cannot be created directly"'),
    ("protobuf", r"'MessageFactory' object", "<6", ""),
    ("protobuf", r"(?i)protobuf|runtime_version", ">=5.28,<7", "If another error mentions google.protobuf"),
)
# A module that was compiled for another NumPy; for NumPy 1 under NumPy 2, see _REQUIRED.
_BUILT_FOR_ANOTHER_NUMPY = r"numpy\.dtype size changed.*?Expected (?:96 from C header, got 8|8\d from C header, got (?!96))"
# A package with custom operations is built for one release of TensorFlow.
_OF_TENSORFLOW = r"[/\\]\S+\.so: undefined symbol: _Z\w{0,8}(?:tensorflow|tsl|absl)"
_EXTENSION = rf"-packages[/\\](tensorflow_\w+|(?!tensorflow[/\\])\w+(?={_OF_TENSORFLOW}))[/\\]\S+\.so: undefined symbol: "
# A pattern of the error -> the repair, with the groups quoted for a shell. A path may contain spaces.
_BY_MESSAGE = (
    (
        r"(?:^|: )(/[^:\n]{1,400}): cannot allocate memory in static TLS block",
        "Load this library first, while there is room for it",
        "export LD_PRELOAD={0}",
    ),
    (
        r"marshal data",
        "Delete the compiled files, one of which is damaged; Python creates them again",
        """find "$({python} -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" -name '*.pyc' -delete""",
    ),
    (r"parsing environment variable: '([A-Z]\w+)", "Unset {0}, whose value NumPy rejects", "unset {0}"),
    (r"'typing\.TypeVar' is not an acceptable base type", "Install a typing_extensions that supports this Python", "{newer}"),
    (
        r"'_message' from 'google\.protobuf\.pyext'",
        "Unset the variable that selects protobuf's old C++ implementation, which current releases do not include",
        "unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
    ),
    (
        r"\[Errno 21\][^'\n]{0,40}'(/[^'\n]{1,400}/keras\.json)'",
        "Rename {0}, which is a folder; Keras creates a new file",
        "mv {0} {0}.old",
    ),
    (
        r"\[Errno (?:13|30)\][^'\n]{0,40}'(/[^'\n]{1,400})/keras\.json'",
        "Set another folder for Keras's settings: this user can't use {0}",
        'export KERAS_HOME="$(mktemp -d)"',
    ),
    (
        r"(?:^|: )(/[^:\n]{1,400}/tensorflow-plugins/[^/:\n]{1,80}\.so): undefined symbol",
        "Disable this plugin, which was built for another TensorFlow",
        "mv {0} {0}.off",
    ),
    (
        r"(?:^|: )(/[^:\n]{1,400}-packages/\w{1,80})[^:\n]{0,200}: cannot open shared object file: Permission denied",
        "Allow every user to read the installed files",
        "sudo chmod -R a+rX {0}",
    ),
    (
        r"(?:^|: )(/[^:\n]{1,400})/[^/:\n]{1,80}: failed to map segment from shared object(?!: Cannot allocate)",
        "Remount the environment's file system without noexec, or install on another file system",
        'sudo mount -o remount,exec "$(findmnt -n -o TARGET -T {0})"',
    ),
)
_OF_NCCL = r"(?i)undefined symbol: \w*nccl"
_ABSENT = r"No module named '?(?!tensorflow\.)([\w.-]+)"
# An internal module of another release of TensorFlow; every release has those that its own import needs.
_OF_ANOTHER_RELEASE = r"No module named 'tensorflow\.python\.(?!tools\b|platform\b|\w*pywrap)\w+"
_NAMES = (
    r"module '([\w.]+)' has no attribute",
    r"need to have `(\w+)` installed",
    r"cannot import name '[^']+' from (?:partially initialized module )?'([\w.]+)'",
    r"No module named '([\w.]+)'",
    r"\b(lib[\w.+-]+\.so[\d.]*)",
    r"importing (_\w+)",
)


def named_module(error: str, outcomes: TrainingOutcomes) -> str | None:
    """Return the module or library that the error is about; errors of NumPy and protobuf are recognized by their words."""
    imports = [event for event in outcomes.events if event.kind in ("import-failed", "module-missing")]
    named = [module for event in imports if (module := event.fields.get("module"))]
    if "numpy.dtype size changed" in error and named:
        return named[0]  # the module that was built for another NumPy
    for pattern in _NAMES:
        if match := re.search(pattern, error):
            return match[1]
    if re.search(r"numpy|_ARRAY_API", error, re.I):
        return "numpy"
    if re.search(r"protobuf|Descriptors cannot", error, re.I):
        return "google.protobuf"
    return next(iter(named), None)


def conflicts(context: Context) -> Fix:
    """Show which requirements conflict."""
    return Fix.look("List the packages with conflicting requirements", f"{context.python} -m pip check")


def for_package(context: Context, module: str, message: str) -> Fixes:
    """Repair a package that is missing, has an incompatible version, or lacks files."""
    release = releases.release(context.framework_version or "")
    error = f"{module} {message}".strip()
    if (named := _by_message(context, message)) is not None:
        yield named
        return
    if re.search(_BUILT_FOR_ANOTHER_NUMPY, message):
        yield from reinstall(context, "" if module == "numpy" else package_for(module))
        yield conflicts(context)
        return
    if re.search(_OF_NCCL, message):
        text = "Install a newer NCCL: another framework in this environment, or LD_LIBRARY_PATH, provides an older one"
        yield Fix(text=text, command=context.pip("--upgrade", "nvidia-nccl-cu12"))
        yield Fix(text="Or install JAX, PyTorch and TensorFlow in separate environments")
        return
    if re.search(_OF_ANOTHER_RELEASE, message):
        text = (
            "Install matching releases of TensorFlow and Keras: the package in the log was built for another TensorFlow release"
        )
        yield Fix(text=text, command=context.pip("--upgrade", "tensorflow", "keras"))
        yield conflicts(context)
        return
    if extension := re.search(_EXTENSION, message):
        yield _extension(context, extension[1].replace("_", "-"))
        yield conflicts(context)
        return
    for name, pattern, general, label in _REQUIRED:
        if context.packages is None and (re.search(pattern, error) if error else label):
            specifier = {"numpy": release.numpy, "protobuf": release.protobuf}[name] if release else general
            text = f"install a {name} version that works with TensorFlow"
            yield Fix(text=text[0].upper() + text[1:] if error else f"{label}: {text}", command=context.pip(f"{name}{specifier}"))
            if error:
                break
    absent = re.search(_ABSENT, message)
    missing = absent is not None and (name := package_for(absent[1])) not in context.installed
    if missing:
        yield Fix(text=f"Install the missing package {name}", command=context.pip(name))
    yield from reinstall(context, "" if missing else package_for(module))
    yield conflicts(context)


def _by_message(context: Context, message: str) -> Fix | None:
    """Return the specific repair for a message, from any package; None on Windows, which lacks the commands."""
    for pattern, text, command in () if context.windows else _BY_MESSAGE:
        if match := re.search(pattern, message):
            quoted = [word(group) for group in match.groups()]
            newer = context.pip("--upgrade", "typing_extensions")
            return Fix(
                text=text.format(*match.groups()),
                command=command.format(*quoted, newer=newer, python=context.python),
            )
    return None


def _extension(context: Context, package: str) -> Fix:
    """Install a package that adds custom operations to TensorFlow."""
    minor = versions.minor(context.framework_version or "")
    if not package.startswith("tensorflow-"):
        text, packages = f"Install a newer {package}: this one was built for another TensorFlow", [package]
    elif minor:
        text, packages = f"Install the {package} release that was built for this TensorFlow", [f"{package}=={minor}.*"]
    else:
        text, packages = f"Install matching releases of TensorFlow and {package}", ["tensorflow", package]
    return Fix(text=text, command=context.pip("--upgrade", *packages))


def reinstall(context: Context, package: str) -> Fixes:
    """Reinstall the package, or TensorFlow if it is unknown; or start from a new environment."""
    own = context.packages.tensorflow if context.packages is not None else None
    again = context.reinstall([package.replace("_", "-")])
    if again is None and (is_known(package) if own else package not in ("", "tensorflow", "numpy", "protobuf")):
        again = Fix(text=f"Reinstall {package}", command=context.pip("--force-reinstall", "--no-deps", "--no-cache-dir", package))
    again = again or context.reinstall([own.name if own else None])
    yield again or Fix(text="Reinstall TensorFlow", command=context.pip("--force-reinstall", "tensorflow"))
    if own is None:
        yield Fix(text="Or start from a new environment", command=context.new_environment("tensorflow"))
