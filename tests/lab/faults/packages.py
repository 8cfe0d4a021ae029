"""Python packages: no TensorFlow, the wrong one, one whose import fails, and interpreters it does not support."""

from lab.bench import NO_SMOKE, NOTHING, Fault, Trial, Unavailable
from lab.environments import truncated
from lab.machines import Machine

FAILED = "tensorflow-import-failed"
# A kernel that counts the processes it kills for want of memory, in a file that can be written to.
COUNTING = Machine(
    more="mount -t tmpfs lab sys/fs/cgroup; echo oom_kill 0 > dev/vmstat; mount --bind dev/vmstat proc/vmstat",
)
COUNTED = "with open('/proc/vmstat', 'w') as counts: counts.write('oom_kill 1\\n')"


def renamed(name: str, version: str):
    """TensorFlow's files, under the name of another distribution of it."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment()
        environment.drop("tensorflow-*.dist-info")
        environment.package(name, version)

    return build


def without(*patterns: str):
    """An environment that lacks packages."""

    def build(trial: Trial) -> None:
        trial.own_environment().drop(*patterns)

    return build


def without_tensorflow(trial: Trial) -> None:
    """A bare environment, and no other one within reach."""
    trial.own_environment(packages=False)
    trial.env["PATH"] = f"{trial.environment.folder}/bin:/nonexistent"


def in_another_environment(trial: Trial) -> None:
    """A bare environment, while PATH leads to one that has TensorFlow."""
    trial.own_environment(packages=False)
    trial.env["PATH"] = f"{trial.bench.environment.folder}/bin:{trial.env['PATH']}"


def package(name: str, version: str, text: str):
    """A package of another version, of which only this text is left."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment()
        environment.package(name, version, text)

    return build


def old_numpy(trial: Trial) -> None:
    """NumPy of a version whose binary interface TensorFlow was not built for."""
    environment = trial.own_environment()
    environment.package(
        "numpy",
        "1.16.0",
        "raise ImportError('numpy.core.multiarray failed to import: module compiled against API version 0x10 but this version of numpy is 0xd')",
    )


def wrong_protobuf(trial: Trial) -> None:
    """A protobuf without the runtime that generated code asks for."""
    environment = trial.own_environment()
    (environment.site / "google").unlink()
    environment.drop("protobuf-*.dist-info")
    environment.package("protobuf", "3.20.3")
    environment.replace("google/__init__.py", "")
    environment.replace("google/protobuf/__init__.py", "__version__ = '3.20.3'\n")


def half_a_library(trial: Trial) -> None:
    """What a full disk leaves of TensorFlow's largest library."""
    environment = trial.own_environment()
    path = environment.site / "tensorflow/libtensorflow_cc.so.2"
    if not path.exists():
        raise Unavailable("this TensorFlow has no libtensorflow_cc.so.2")
    environment.replace("tensorflow/libtensorflow_cc.so.2", truncated(path))


def empty_library(trial: Trial) -> None:
    """An empty file instead of a library."""
    trial.own_environment().replace("tensorflow/libtensorflow_cc.so.2", b"")


def killed(signal: int, before: str = ""):
    """An import that ends the process, as a processor without AVX or the kernel's OOM killer would."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment()
        environment.replace("tensorflow/__init__.py", f"{before}\nimport os; os.kill(os.getpid(), {signal})")

    return build


def broken_keras(trial: Trial) -> None:
    """A package that Keras needs is not there; TensorFlow's own import does without Keras."""
    trial.own_environment().drop("optree", "optree-*.dist-info")


def shadowed(trial: Trial) -> None:
    """A file of the user's that has the name of a module TensorFlow imports."""
    folder = trial.folder / "project"
    folder.mkdir()
    (folder / "wrapt.py").write_text("raise ImportError('cannot import name decorator')\n")
    trial.env["PYTHONPATH"] = str(folder)


def python_of(*version: int, packages: bool = True):
    """An interpreter that says it is of that version."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment(packages=packages)
        environment.replace("sitecustomize.py", f"import sys; sys.version_info = {(*version, 'final', 0)}\n")

    return build


def working_folder_with(name: str, text: str):
    """A file of the user's in the folder that the program is started in."""

    def build(trial: Trial) -> None:
        trial.cwd = trial.folder / "project"
        trial.cwd.mkdir()
        (trial.cwd / name).write_text(text)

    return build


def cpu_flavour_over_it(trial: Trial) -> None:
    """tensorflow-cpu, installed after tensorflow into the same environment: the files are those of the last one."""
    environment = trial.own_environment()
    size = (environment.site / "tensorflow/libtensorflow_framework.so.2").stat().st_size
    (record,) = environment.site.glob("tensorflow-*.dist-info/RECORD")
    environment.replace(f"{record.parent.name}/RECORD", f"tensorflow/libtensorflow_framework.so.2,sha256=x,{size + 1}\n")
    environment.package("tensorflow_cpu", "2.21.0")
    environment.replace("tensorflow_cpu-2.21.0.dist-info/RECORD", f"tensorflow/libtensorflow_framework.so.2,sha256=y,{size}\n")


def beside_it(**packages: str):
    """More distributions in the environment, by name and version."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment()
        for name, version in packages.items():
            environment.package(name, version)

    return build


def cuda_13_of_another_framework(trial: Trial) -> None:
    """Another framework in the same environment brings the libraries of CUDA 13, in a folder of their own."""
    beside_it(nvidia_cuda_runtime="13.0.96", nvidia_cublas="13.1.0.3", torch="2.9.1")(trial)
    trial.environment.replace(
        "nvidia/cu13/lib/libcudart.so.13", (trial.environment.nvidia / "cuda_runtime/lib/libcudart.so.12").read_bytes()
    )


FAULTS = (
    Fault("no-tensorflow", "tensorflow-not-installed", build=without_tensorflow),
    Fault("tensorflow-in-another-environment", "wrong-environment", build=in_another_environment),
    Fault("tensorflow-cpu", "tensorflow-cpu-build", build=renamed("tensorflow_cpu", "2.21.0")),
    Fault("tensorflow-intel", "tensorflow-cpu-build", build=renamed("intel_tensorflow", "2.14.0")),
    Fault("python-3.9-under-tensorflow-2.21", "python-unsupported", build=python_of(3, 9, 18)),
    Fault("python-3.9-without-tensorflow", "tensorflow-not-installed", build=python_of(3, 9, 18, packages=False)),
    Fault("python-3.15-without-tensorflow", "python-unsupported", build=python_of(3, 15, 0, packages=False)),
    Fault("protobuf-missing", FAILED, level=NO_SMOKE, build=without("google", "protobuf-*.dist-info")),
    Fault("protobuf-wrong", FAILED, level=NO_SMOKE, build=wrong_protobuf),
    Fault("numpy-missing", FAILED, level=NO_SMOKE, build=without("numpy", "numpy-*.dist-info")),
    Fault("numpy-too-old", FAILED, level=NO_SMOKE, build=old_numpy),
    Fault("half-a-libtensorflow", FAILED, level=NO_SMOKE, build=half_a_library),
    Fault("empty-libtensorflow", FAILED, level=NO_SMOKE, build=empty_library),
    Fault("import-ends-by-sigill", FAILED, level=NO_SMOKE, build=killed(4)),
    Fault("import-ends-by-segfault", FAILED, level=NO_SMOKE, build=killed(11)),
    Fault("import-killed-by-the-system", "host-memory-exhausted", level=NO_SMOKE, machine=COUNTING, build=killed(9, COUNTED)),
    Fault("import-killed-by-somebody", FAILED, level=NO_SMOKE, machine=COUNTING, build=killed(9)),
    Fault("a-users-file-shadows-a-module", FAILED, level=NO_SMOKE, build=shadowed),
    Fault("tensorflow-folder-emptied", FAILED, level=NO_SMOKE, build=without("tensorflow/__init__.py")),
    Fault("keras-cannot-be-imported", NOTHING, exit=3, verdict="unknown", level=NO_SMOKE, build=broken_keras),
    Fault("keras-missing", "keras-version-conflict", build=without("keras", "keras-*.dist-info")),
    Fault(
        "keras-2-beside-tensorflow-2.21", "keras-version-conflict", build=package("keras", "2.15.0", "__version__ = '2.15.0'\n")
    ),
    Fault("tensorflow-cpu-over-tensorflow", "tensorflow-cpu-build", build=cpu_flavour_over_it),
    Fault("tensorflow-gpu-beside-it", "tensorflow-gpu-package-removed", exit=0, build=beside_it(tensorflow_gpu="2.12.0")),
    Fault("cuda-13-of-another-framework-beside-it", NOTHING, exit=0, build=cuda_13_of_another_framework),
    Fault("a-users-tensorflow.py", FAILED, level=NO_SMOKE, build=working_folder_with("tensorflow.py", "print('my first try')\n")),
    Fault("a-users-numpy.py", FAILED, level=NO_SMOKE, build=working_folder_with("numpy.py", "print('my first try')\n")),
)
