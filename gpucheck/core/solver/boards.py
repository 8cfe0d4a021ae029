"""The answers for accelerators with the vendor's own packages: AMD's GPUs, NVIDIA's Jetson boards, and TPUs."""

from msgspec.structs import replace

from gpucheck.core.compat import frameworks, images, vendors, versions
from gpucheck.core.compat import tpu as tpus
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.compat.tensorflow import RELEASES
from gpucheck.core.solver import backends, constraints
from gpucheck.core.solver.answer import Answer, Choice, Excluded, Reason, refused
from gpucheck.core.solver.machine import Machine, Python, Requirements

_ORIN = (8, 7)
_TPU_SOURCE = "https://cloud.google.com/tpu/docs/supported-tpu-configurations"
_PYPI = "https://pypi.org/project/tensorflow-tpu/#files"
_LIBTPU = "https://pypi.org/project/libtpu/0.0.43.2/#files"


def amd(machine: Machine, requirements: Requirements) -> Answer:
    """Choose AMD's image with TensorFlow or PyTorch, or JAX's packages for ROCm."""
    chips = {gpu.chip for gpu in machine.others if gpu.vendor == "amd" and gpu.chip}
    reason = _why_not_rocm(machine, requirements.backend, chips)
    if reason is not None:
        return refused(machine, f"ROCm's {TITLES[requirements.backend]}", reason, advice=tuple(_rocm_elsewhere(machine, chips)))
    remarks = ["the system needs AMD's driver (amdgpu), and the container gets its devices"]
    if requirements.backend == "jax":
        python = backends.python_for(frameworks.JAX[0], machine, requirements)
        if python is None:
            return refused(machine, vendors.ROCM_JAX, backends.of_python(frameworks.JAX[0], "jax"))
        remarks = ["ROCm 7 must be installed on the system: this package uses the installed one"]
        remarks += ["JAX's developers call its WSL2 support experimental"] if machine.wsl else []
        packages = (*constraints.options(machine), "keras", vendors.ROCM_JAX)
        choice = Choice(python=python, backend="jax", packages=packages)
    else:
        if requirements.backend == "tensorflow" and not chips & set(vendors.ROCM_INSTINCT):
            remarks.append(f"AMD's guide to TensorFlow lists only Instinct GPUs: {vendors.ROCM_TENSORFLOW}")
        choice = Choice(
            python=Python(version=vendors.ROCM_PYTHON),
            backend=requirements.backend,
            source="image",
            image=vendors.ROCM_IMAGES[requirements.backend],
            run_options=vendors.ROCM_OPTIONS,
        )
    assigned = backends.assignments(requirements.backend) if requirements.backend != "tensorflow" else ()
    return Answer(machine=machine, choices=(replace(choice, remarks=tuple(remarks), assignments=assigned),))


def _why_not_rocm(machine: Machine, backend: str, chips: set[str]) -> Reason | None:
    source = vendors.ROCM_TENSORFLOW if backend == "tensorflow" else vendors.ROCM_RADEON_GUIDE
    if (machine.system, machine.architecture or "x86_64") != frameworks.LINUX or machine.musl:
        return Reason(kind="platform", text="its packages are for Linux with glibc on x86_64", source=source)
    if machine.wsl and backend != "jax":
        text = "AMD's images do not support WSL2"
        return Reason(kind="platform", text=text, source=vendors.ROCM_RADEON_GUIDE)
    old = sorted(chips - {*vendors.ROCM_INSTINCT, *vendors.ROCM_RADEON})
    if old:
        return Reason(kind="gpu", text=f"ROCm does not support {', '.join(old)}", source=vendors.ROCM_CHIPS)
    return None


def _rocm_elsewhere(machine: Machine, chips: set[str]) -> list[str]:
    """Return the advice on AMD's own packages of PyTorch for Windows and WSL2."""
    if not (machine.system == "win32" or machine.wsl) or (chips and not chips & set(vendors.ROCM_WINDOWS)):
        return []
    wsl = f"AMD provides PyTorch with ROCm for WSL2: {vendors.ROCM_RADEON_GUIDE}"
    if machine.wsl:
        return [wsl]
    return [f"AMD provides PyTorch with ROCm for Windows (Python {vendors.ROCM_PYTHON}): {vendors.ROCM_WINDOWS_TORCH}", wsl]


def nvidia_image(name: str, remark: str, run_options: str = "--gpus all") -> Choice:
    """Return the last image with TensorFlow that NVIDIA released, under its name for this kind of machine."""
    return Choice(
        tensorflow=images.TENSORFLOW,
        keras=images.KERAS,
        python=Python(version=images.PYTHON),
        cuda=images.CUDA,
        source="image",
        image=name,
        run_options=run_options,
        remarks=(remark,),
    )


def jetson(machine: Machine, requirements: Requirements) -> Answer:
    """Choose NVIDIA's image with TensorFlow for a Jetson, and NVIDIA's wheels for its JetPack."""
    reason = Reason(
        kind="gpu", text="its packages on PyPI can't use a Jetson's GPU; NVIDIA provides others", source=vendors.JETSON_GUIDE
    )
    excluded = (Excluded(tensorflow="TensorFlow from PyPI", reasons=(reason,)),)
    boards = {capability for capability, _ in machine.kinds}
    if boards != {_ORIN} or machine.jetpack not in (None, "6"):
        lines = [f"NVIDIA provides TensorFlow for Jetson, a build for each JetPack: {vendors.JETSON_GUIDE}"]
        lines += [] if backends.THOR in boards else [f"PyTorch for Jetson: {vendors.JETSON_TORCH}"]
        return Answer(machine=machine, excluded=excluded, advice=tuple(lines))
    image = nvidia_image(vendors.JETSON_IMAGE, "NVIDIA's image for Jetson boards with JetPack 6", vendors.JETSON_OPTIONS)
    wheel = (
        f"NVIDIA's wheel for JetPack 6.1 and 6.2 (Python 3.10): pip install --extra-index-url {vendors.JETSON_INDEX}"
        f" {vendors.JETSON_WHEEL}"
    )
    other = f"For another JetPack: {vendors.JETSON_GUIDE}"
    return Answer(machine=machine, choices=(image,), excluded=excluded, advice=(wheel, other))


def tpu(machine: Machine, requirements: Requirements) -> Answer:
    """Choose tensorflow-tpu on the newest Python that it supports."""
    release = replace(RELEASES[versions.minor(tpus.LATEST_TENSORFLOW_TPU)], python_min=tpus.LIBTPU_PYTHON_MIN)
    works = next((entry.tensorflow for entry in tpus.GENERATIONS if entry.name == machine.tpu), "unknown")
    reasons = []
    if works == "no":
        reasons.append(Reason(kind="tpu", text=f"TensorFlow does not work on TPU {machine.tpu}", source=_TPU_SOURCE))
    if (machine.system, machine.architecture) != ("linux", "x86_64"):
        reasons.append(Reason(kind="platform", text="its packages are for Linux on x86_64", source=_PYPI))
    if requirements.tensorflow is not None and not versions.satisfies(tpus.LATEST_TENSORFLOW_TPU, requirements.tensorflow):
        reasons.append(Reason(kind="wish", text=f"the newest tensorflow-tpu is {tpus.LATEST_TENSORFLOW_TPU}", source=_PYPI))
    candidates = (
        (requirements.python,)
        if requirements.python is not None
        else (*(machine.pythons or ()), Python(version=release.python_max))
    )
    if glibc := constraints.old_glibc(tpus.LIBTPU_GLIBC, machine, _LIBTPU, "its libtpu"):
        reasons.append(glibc)
    python = next((candidate for candidate in candidates if constraints.has_packages(release, candidate)), None)
    if python is None:
        reasons.append(constraints.python_reason(release, candidates))
    if reasons or python is None:
        return refused(machine, release.minor, *reasons)
    which = "this TPU of unknown generation" if machine.tpu == "unknown" else f"TPU {machine.tpu}"
    remarks = {
        "unknown": f"whether TensorFlow works on {which} is not known",
        "limited": "Google's guides do not cover TensorFlow on this TPU",
    }
    choice = Choice(
        tensorflow=tpus.LATEST_TENSORFLOW_TPU,
        keras=release.keras,
        python=python,
        run_options=tpus.RUN_OPTIONS,
        packages=(f"tensorflow-tpu=={tpus.LATEST_TENSORFLOW_TPU}", f"libtpu=={tpus.LIBTPU_LAST_WITH_TENSORFLOW_ENTRY}"),
        remarks=(
            "newer versions of libtpu lack a function that TensorFlow calls, so the version is pinned",
            *([remarks[works]] if works in remarks else []),
        ),
    )
    return Answer(machine=machine, choices=(choice,))
