"""The functions of the lines ``do NAME ARGUMENT ...`` of a fault, which change its trial.

A path that begins with ``site/`` is in the examined environment's site-packages, which are copied for the trial on the first
change; any other path is in the trial's folder (``home/``, ``env/``, ``driver/`` and files that a fault creates).
"""

import pathlib
import shutil

from lab import environments, fake_driver
from lab.bench import Trial, Unavailable

LIBRARY = "int nothing;\n"
AFTER_IMPORT = '''
import importlib.util, sys

class AfterImport:
    """Changes a module once it has been executed."""

    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.change(module)

        spec.loader.exec_module = exec_module
        return spec
'''
# The batches of each worker come from this class; a worker gets one before each step.
IN_STEP_5 = """
import itertools, json, os, signal, time
task = json.loads(os.environ.get("TF_CONFIG", "{{}}")).get("task", {{}})
fetch, calls = module.DistributedIterator.__next__, itertools.count(1)
def fetch_or_fail(self):
    if task.get("index") == {who} and next(calls) == 5:
        {act}
    return fetch(self)
module.DistributedIterator.__next__ = fetch_or_fail
"""
# The class that finds the cluster, before anything is connected.
BEFORE_CONNECTING = """
import os, signal, time
first = module.TFConfigClusterResolver.cluster_spec
def resolve_or_fail(self):
    if self.task_id == 1:
        {act}
    return first(self)
module.TFConfigClusterResolver.cluster_spec = resolve_or_fail
"""


def place(trial: Trial, path: str) -> pathlib.Path:
    """The writable location of a fault's path; its name may be a pattern that matches one file."""
    if not path.startswith("site/"):
        return trial.folder / path
    environment = trial.own_environment()
    environment.own(path.split("/")[1])
    site = environment.site
    return next(site.glob(path.removeprefix("site/")), site / path.removeprefix("site/"))


def write(trial: Trial, path: str, text: str = "") -> None:
    """Write a file, replacing one of the same name."""
    environments.replace(place(trial, path), text)


def log(trial: Trial, lines: str) -> None:
    """Messages in the kernel log, printed by the trial's own dmesg."""
    text = "".join(f"[  100.000000] {line}\n" for line in lines.splitlines())
    dmesg = place(trial, "bin/dmesg")
    dmesg.parent.mkdir(exist_ok=True)
    dmesg.write_text(f"#!/bin/sh\ncat <<'END'\n[    0.000000] Linux version 6.8.0\n{text}END\n")
    dmesg.chmod(0o755)
    trial.env["PATH"] = f"{dmesg.parent}:{trial.env['PATH']}"


def copy(trial: Trial, source: str, target: str) -> None:
    """Copy a file of site-packages to another path."""
    environments.replace(place(trial, target), (trial.environment.site / source.removeprefix("site/")).read_bytes())


def truncate(trial: Trial, path: str) -> None:
    """Truncate a library to half, as after a copy to a full disk."""
    file = place(trial, path)
    if not file.exists():
        raise Unavailable(f"this TensorFlow has no {path}")
    environments.replace(file, environments.truncated(file))


def make_foreign(trial: Trial, path: str) -> None:
    """Change a library to one for another machine architecture."""
    file = place(trial, path)
    environments.replace(file, environments.foreign(file))


def compile(trial: Trial, path: str, text: str = LIBRARY) -> None:
    """Compile a library from C text."""
    file = place(trial, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    fake_driver.compile_library(file, text)


def drop(trial: Trial, *patterns: str) -> None:
    """Remove files or packages from site-packages."""
    trial.own_environment().drop(*patterns)


def install(trial: Trial, name: str, version: str, text: str | None = None) -> None:
    """Install a distribution without files, or with one module of this text."""
    trial.own_environment().package(name, version, text)


def empty_environment(trial: Trial) -> None:
    """An environment without packages."""
    trial.own_environment().drop("*")
    trial.search_first(trial.bench.environment.cusolver)  # as the RUNPATH of a real cuSOLVER does


def own_interpreter(trial: Trial) -> None:
    """The command as it is typed, without --python."""
    trial.python = ""


def driver_without(trial: Trial, *names: str) -> None:
    """Remove some libraries from the driver's folder."""
    libraries = list(trial.driver.glob("*.so.1"))
    trial.driver = trial.folder / "driver"
    trial.driver.mkdir()
    for library in libraries:
        if library.name not in names:
            (trial.driver / library.name).symlink_to(library)


def before_the_driver(trial: Trial, folder: str) -> None:
    """Put a folder before the driver's on LD_LIBRARY_PATH."""
    trial.search_first(trial.driver)
    trial.driver = trial.folder / folder


def cudnn_first(trial: Trial, full: str) -> None:
    """A cuDNN of another version first on LD_LIBRARY_PATH, with all its parts in the same folder, as an administrator installs it."""
    folder = trial.folder / "decoys"
    folder.mkdir()
    for library in (trial.environment.nvidia / "cudnn/lib").glob("*.so.9"):
        versioned = folder / f"{library.name.removesuffix('9')}{full}"
        shutil.copyfile(library, versioned)
        (folder / library.name).symlink_to(versioned.name)
    trial.search_first(folder)


def cusolver_needs_what_is_nowhere(trial: Trial) -> None:
    """cuSOLVER needs a missing library, as after removal of nvJitLink's wheel; its RUNPATH is that of the wheel."""
    drop(trial, "nvidia/cusolver/lib/libcusolver.so.11", "nvidia/nvjitlink", "nvidia_nvjitlink_*.dist-info")
    needed = trial.folder / "libnvJitLink.so.12"
    fake_driver.compile_library(needed, "int nothing_at_all;\n")
    cusolver = trial.environment.nvidia / "cusolver/lib/libcusolver.so.11"
    runpath = "-Wl,-rpath,$ORIGIN/../../nvjitlink/lib"
    fake_driver.compile_library(cusolver, LIBRARY, "-Wl,--no-as-needed", runpath, needed)
    needed.unlink()


def needs_newer(trial: Trial, user: str, library: str) -> None:
    """An older release of a library is found first, without a symbol that `user` needs and the wheel's own has."""
    trial.own_environment().own("nvidia")
    file = place(trial, library)
    newer = trial.folder / "newer" / file.name
    for target in (newer, *trial.environment.site.glob(f"nvidia/*/lib/{file.name}")):
        fake_driver.compile_versioned(environments.replace(target, ""), "int symbol_of_the_new_release;\n")
    older(trial, library)
    text = "extern int symbol_of_the_new_release;\nint *needed = &symbol_of_the_new_release;\n"
    needs = ("-Wl,--no-as-needed", f"-Wl,-rpath,{file.parent}", newer)  # NVIDIA's wheels find each other by RUNPATH
    fake_driver.compile_library(environments.replace(place(trial, user), ""), text, *needs)


def older(trial: Trial, library: str) -> None:
    """A release of a library without the symbols that others need."""
    fake_driver.compile_versioned(environments.replace(place(trial, library), ""), "int symbol_of_the_old_release;\n")


def cpu_flavour_over_it(trial: Trial) -> None:
    """tensorflow-cpu, installed after tensorflow into the same environment: the files are those of the last installation."""
    environment = trial.own_environment()
    size = (environment.site / "tensorflow/libtensorflow_framework.so.2").stat().st_size
    (record,) = environment.site.glob("tensorflow-*.dist-info/RECORD")
    environment.replace(f"{record.parent.name}/RECORD", f"tensorflow/libtensorflow_framework.so.2,sha256=x,{size + 1}\n")
    environment.package("tensorflow_cpu", "2.21.0")
    environment.replace("tensorflow_cpu-2.21.0.dist-info/RECORD", f"tensorflow/libtensorflow_framework.so.2,sha256=y,{size}\n")


def change(trial: Trial, module: str, body: str) -> None:
    """Change a module on import: a sitecustomize runs ``body`` as a function with the argument ``module``."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    text = f"{AFTER_IMPORT}\ndef change(module):\n{lines}\n\nsys.meta_path.insert(0, AfterImport({module!r}, change))\n"
    trial.own_environment().replace("sitecustomize.py", text)


def in_step_5(trial: Trial, who: str, act: str) -> None:
    """One worker of a job, identified by its TF_CONFIG, runs ``act`` in its step 5."""
    change(trial, "tensorflow.python.distribute.input_lib", IN_STEP_5.format(who=who, act=act))


def before_connecting(trial: Trial, act: str) -> None:
    """Worker 1 of a job runs ``act`` before it is connected."""
    module = "tensorflow.python.distribute.cluster_resolver.tfconfig_cluster_resolver"
    change(trial, module, BEFORE_CONNECTING.format(act=act))
