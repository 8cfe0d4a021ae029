"""TensorFlow is installed, but importing it fails or ends the process.

Symptom:
    ImportError: cannot import name 'runtime_version' from 'google.protobuf'
    TypeError: Descriptors cannot be created directly.
    A module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.2 as it may crash.
    ImportError: libtensorflow_framework.so.2: cannot open shared object file
    ImportError: DLL load failed while importing _pywrap_tensorflow_internal
    Illegal instruction (core dumped)
    AttributeError: partially initialized module 'tensorflow' has no attribute 'constant' (most likely due to a circular import)
    ModuleNotFoundError: No module named 'tensorflow.keras'; 'tensorflow' is not a package
Cause:
    A package that TensorFlow imports is missing or has an incompatible version (mostly protobuf or numpy); TensorFlow's own files
    are incomplete; or the processor lacks instructions that the build uses: the wheels for x86-64 need AVX.
    Or one of your own files causes it: a file named like a module (tensorflow.py, random.py, logging.py) hides the module,
    because Python searches the program's folder first; and Keras can't be imported with an invalid value in keras.json.
Verify:
    $ python -c 'import tensorflow as tf; print(tf.__version__)'
Unless:
    Never: nothing trains without the import.
Example:
    packages.others[1].version = "4.25.3"
    tensorflow = {"imported": false, "error_type": "ImportError", "error": "cannot import name 'runtime_version' from 'google.protobuf' (/home/user/.venv/lib/python3.12/site-packages/google/protobuf/__init__.py)"}
    keras = {"imported": false, "error_type": "ImportError", "error": "cannot import name 'runtime_version' from 'google.protobuf' (/home/user/.venv/lib/python3.12/site-packages/google/protobuf/__init__.py)"}
    training.runs = []
    log.events = [{"kind": "import-failed", "line": 9, "text": "ImportError: cannot import name 'runtime_version' from 'google.protobuf'", "fields": {"module": "google.protobuf", "type": "ImportError", "message": "cannot import name 'runtime_version' from 'google.protobuf'"}}]
    -> TensorFlow 2.21.0 can't be imported because of protobuf 4.25.3: cannot import name 'runtime_version' from 'google.protobuf'.
References:
    https://www.tensorflow.org/install/errors
"""

import re

from gpucheck.core.combiners.keras_backend import KerasBackend
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.compat.modules import package_for
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.commands import without
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import CHECK_DISK
from gpucheck.core.repairs.machine import apple_plugin
from gpucheck.core.rules.gpu_not_detected._failed_packages import conflicts, for_package, named_module, reinstall
from gpucheck.core.rules.gpu_not_detected._loader_errors import newer_runtime
from gpucheck.core.rules.gpu_not_detected._obstacles import (
    Obstacle,
    incomplete,
    predicted_failure,
    remove_from_pythonpath,
    renaming,
    unmet_requirement,
    user_file,
)

_READ_KERNEL = Fix.look("Read the kernel's messages about it, and give the process more memory", "sudo dmesg | tail -50")
_NEWER_MACOS = Fix(text="Update macOS: the plugin was built for a newer release, and uses a class that this one lacks")
_FOR_ARM = Fix(
    text="Mac with Apple silicon: install a Python for arm64 (from python.org, Homebrew or conda-forge) and TensorFlow with it; a Python"
    " for x86-64 runs under Rosetta, which lacks these instructions"
)
_REDISTRIBUTABLE = Fix(
    text="Install Microsoft's Visual C++ redistributable for x64 (https://aka.ms/vs/17/release/vc_redist.x64.exe), and use a 64-bit"
    " Python",
    needs=("network",),
)
# The most frequent cause of each signal while Python loads TensorFlow's libraries.
_SIGNALS = {
    "SIGILL": "the processor lacks instructions that this build uses (AVX, on x86-64)",
    "SIGBUS": "a file that it maps is truncated, or the disk is full",
    "SIGSEGV": "native code crashed, most often because of libraries of different builds in one process",
    "SIGABRT": "it aborted itself, and its log gives the reason",
    "SIGKILL": "something killed it, most often the kernel because memory ran out",
}


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("gpus-not-listed", "training-failed", "training-crashed"),
    tensorflow=True,
    first_check="the last exception of the import",
)
def check(
    tensorflow: TensorFlow | None,
    build: TensorFlowBuild,
    backend: KerasBackend,
    outcomes: TrainingOutcomes,
    packages: Packages,
    context: Context,
) -> Finding | Skip | None:
    """Report an exception or crash of the import; of Keras too, if a file or package is the known cause."""
    keras = backend.keras
    if tensorflow is None:
        return _not_tried(build, backend, packages, context)
    if tensorflow.imported and keras is not None and backend.other is None:
        cause = user_file(keras)
        if cause is None and keras.imported is False:
            cause = unmet_requirement(packages, context) or incomplete(keras, context)
        if cause is None and keras.imported is False and packages.keras is not None:
            cause = _unknown(keras, outcomes, context)
        return cause.finding("Keras") if cause else None
    if tensorflow.imported or build.absent or backend.refused(tensorflow.error or ""):
        return None  # TensorFlow imports Keras, whose own errors are keras-backend-mismatch
    ending = tensorflow.ending or (tensorflow.error or "" if tensorflow.imported is None else "")
    if tensorflow.imported is None and not re.search(r"killed by SIG|exited with status", ending):
        return Skip(f"the import of TensorFlow did not finish: {ending or 'no response'}")
    return _failed(backend, tensorflow, ending, outcomes, packages, context)


def _unknown(keras: Keras, outcomes: TrainingOutcomes, context: Context) -> Obstacle:
    """Return the error of Keras's import, which names at most a package."""
    error = keras.error or keras.error_type or "no reason was given"
    module = named_module(error, outcomes) or "keras"
    evidence = saw(keras, "imported", "error_type", "error")
    return Obstacle(_short(error), evidence, tuple(repairs(context, module=module, message=error)))


def _not_tried(build: TensorFlowBuild, backend: KerasBackend, packages: Packages, context: Context) -> Finding | Skip | None:
    """Report what is known without an import."""
    if build.absent or backend.other is not None:
        return None
    if obstacle := predicted_failure(packages, context):
        version = packages.tensorflow.version if packages.tensorflow else ""
        return obstacle.finding(f"TensorFlow {version}".rstrip())
    obstacle = unmet_requirement(packages, context)
    return obstacle.finding("Keras") if obstacle else Skip("TensorFlow was not imported")


def _failed(
    backend: KerasBackend, tensorflow: TensorFlow, ending: str, outcomes: TrainingOutcomes, packages: Packages, context: Context
) -> Finding:
    version = packages.tensorflow.version if packages.tensorflow else ""
    name = f"TensorFlow {version}".rstrip()
    opening = f"{name} can't be imported"
    logged = outcomes.saw_events("import-failed", "module-missing", "killed", "traceback")
    hidden = [module for module in packages.hidden if re.search(rf"\b{re.escape(module)}\b", tensorflow.error or "")]
    if cause := user_file(tensorflow) or (predicted_failure(packages, context) if hidden else None):
        return cause.finding(name, logged)
    evidence = (*saw(tensorflow, "imported", "error_type", "error", "ending"), *logged)
    signal = re.search(r"SIG[A-Z]+", f"{tensorflow.ending or ''} {tensorflow.error or ''}")
    if signal and not tensorflow.error_type:
        meaning = _SIGNALS.get(signal[0])
        return Finding(
            summary=f"{opening}: the process was killed by {signal[0]}{f' ({meaning})' if meaning else ''}.",
            evidence=evidence,
            fix=repairs(context, signal=signal[0]),
        )
    error = (tensorflow.error or tensorflow.error_type or ending).strip()
    absent = unmet_requirement(packages, context)
    module = named_module(error, outcomes) or ""
    package = package_for(module)
    installed = next((distribution for distribution in packages.others if distribution.name == package), None)
    because = f" because of {package}{f' {installed.version}' if installed else ''}" if package else ""
    return Finding(
        summary=f"{opening}{because}: {_short(error)}.",
        evidence=evidence,
        fix=absent.fix
        if absent
        else (
            *remove_from_pythonpath(packages, context, [package]),
            *_other_libraries(backend.environment, error),
            *repairs(context, needs=_unmet(packages, version, package), module=module, message=error),
        ),
    )


def _other_libraries(environment: Environment, error: str) -> Fixes:
    """Remove what makes the loader choose libraries other than TensorFlow's own, if one is damaged or lacks a symbol."""
    damaged = re.match(r"(/[^:\n]{1,400})/[^/:\n]{1,80}: (?:file too short|invalid ELF header)", error)
    searched = environment.variables.get("LD_LIBRARY_PATH", "").split(":")
    if damaged and any(folder.rstrip("/") == damaged[1] for folder in searched):
        text = f"Remove {damaged[1]} from LD_LIBRARY_PATH: its damaged library comes before the others"
        yield Fix(text=text, command=without("LD_LIBRARY_PATH", damaged[1]))
    of_system = re.match(r"/(?:usr/)?lib", error) is not None or "GLIBC_" in error
    lacking_symbol = re.search(r"undefined symbol|not found \(required by", error) is not None and not of_system
    for variable in ("LD_PRELOAD", "LD_LIBRARY_PATH") if lacking_symbol else ():
        if environment.variables.get(variable):
            text = f"Start without {variable}, whose libraries the loader chooses before TensorFlow's own"
            yield Fix(text=text, command=f"unset {variable}")


def _short(error: str) -> str:
    """Shorten an error to one line without the paths of files."""
    line = re.sub(
        r"\s+\(/[^)]*\)?$|^dlopen.*(?=mach-o file, but)", "", error.splitlines()[0] if error else "no reason was given"
    ).rstrip(". ")
    return line if len(line) <= 160 else line[:157] + "..."


def _unmet(packages: Packages, version: str, package: str) -> str:
    """Return the requirement of TensorFlow's release that the package does not meet; "" if there is none."""
    release = releases.release(version)
    specifier = {"numpy": release.numpy, "protobuf": release.protobuf}.get(package) if release else None
    installed = next((one.version for one in packages.others if one.name == package), None)
    return f"{package}{specifier}" if specifier and (installed is None or not versions.satisfies(installed, specifier)) else ""


def repairs(
    context: Context,
    *,
    hides: str = "",
    file: str = "",
    needs: str = "",
    module: str = "",
    message: str = "",
    signal: str = "",
    instructions: str = "",
    version: str = "",
    text: str = "",
) -> Fixes:
    """Repair the component that the error names.

    Args:
        context: what is known about the machine.
        hides: the module that a user's file shadows.
        file: that file.
        needs: the requirement that is not met: "numpy<2".
        module: the module that the error names.
        message: the error.
        signal: the signal that ended the import: "SIGILL".
        instructions: the instructions that the processor lacks: "AVX2".
        version: the symbol version that a library lacks: "GLIBCXX_3.4.29".
        text: the line of a log.
    """
    if hides:
        yield from renaming(hides, file or f"{hides}.py")
    elif needs:
        yield Fix(text="Install the required version", command=context.pip(needs))
        yield conflicts(context)
    elif signal == "SIGILL" or instructions or re.search(r"need ['(]x86_64", message):
        yield from _with_instructions(context, instructions)
    elif re.search(r"GLIBCXX_|CXXABI_", f"{version} {message}"):
        yield from newer_runtime(context, text)
    elif signal == "SIGKILL":
        yield _READ_KERNEL
    elif "libmetal_plugin" in message:
        yield from (_NEWER_MACOS,) if "_OBJC_CLASS_" in message else ()
        yield apple_plugin(context)
        yield Fix(text="Or train on the CPU, without it", command=context.uninstall("tensorflow-metal"))
    elif "DLL" in message or (context.windows and "native runtime" in message):
        yield _REDISTRIBUTABLE
        yield from reinstall(context, "")
    else:
        yield from for_package(context, module, message)
        if signal == "SIGBUS":
            yield CHECK_DISK
        if not (module or message or signal):
            yield from _for_others(context)


def _with_instructions(context: Context, named: str) -> Fixes:
    """Run on a processor with these instructions."""
    if context.kinds["system"] == "darwin":
        yield _FOR_ARM
        return
    name = named or "AVX"
    yield Fix(
        text=f"Use a machine whose processor has {name} (in a virtual machine, pass through the host's processor), or build TensorFlow"
        " from source for this one"
    )
    flag = re.sub(r"[^a-z0-9]+", "_", name.lower())
    yield Fix.look(f"Check whether the processor has {name}", f"grep -o -m1 -w {flag} /proc/cpuinfo")


def _for_others(context: Context) -> Fixes:
    """Yield other fixes that an unknown error may need."""
    for fix in renaming("tensorflow", "tensorflow.py")[:1]:
        yield fix.after("If your own file has the name of a module:")
    yield _REDISTRIBUTABLE.after("Windows:")
    yield Fix(text="If Keras rejects its settings: correct ~/.keras/keras.json, or remove it")
    for fix in _with_instructions(context, ""):
        yield fix.after("If the processor lacks instructions:")
