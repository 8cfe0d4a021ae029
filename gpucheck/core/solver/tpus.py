"""The answer for a TPU: TensorFlow's package for TPUs, with a compatible libtpu."""

import msgspec

from gpucheck.core.compat import tpu, versions
from gpucheck.core.compat.tensorflow import RELEASES
from gpucheck.core.solver import constraints
from gpucheck.core.solver.answer import Answer, Choice, Reason, refused
from gpucheck.core.solver.machine import Machine, Python, Wishes

_SOURCE = "https://cloud.google.com/tpu/docs/supported-tpu-configurations"
_PYPI = "https://pypi.org/project/tensorflow-tpu/#files"
_LIBTPU = "https://pypi.org/project/libtpu/0.0.43.2/#files"


def solve(machine: Machine, wishes: Wishes) -> Answer:
    """Choose tensorflow-tpu on the newest Python that it supports."""
    release = msgspec.structs.replace(RELEASES[versions.minor(tpu.LATEST_TENSORFLOW_TPU)], python_min=tpu.LIBTPU_PYTHON_MIN)
    works = next((entry.tensorflow for entry in tpu.GENERATIONS if entry.name == machine.tpu), "unknown")
    reasons = []
    if works == "no":
        reasons.append(Reason(kind="tpu", text=f"TensorFlow does not work on TPU {machine.tpu}", source=_SOURCE))
    if (machine.system, machine.architecture) != ("linux", "x86_64"):
        reasons.append(Reason(kind="platform", text="its packages are for Linux on x86_64", source=_PYPI))
    if wishes.tensorflow is not None and not versions.satisfies(tpu.LATEST_TENSORFLOW_TPU, wishes.tensorflow):
        reasons.append(Reason(kind="wish", text=f"the newest tensorflow-tpu is {tpu.LATEST_TENSORFLOW_TPU}", source=_PYPI))
    candidates = (wishes.python,) if wishes.python is not None else (*(machine.pythons or ()), Python(version=release.python_max))
    if glibc := constraints.old_glibc(tpu.LIBTPU_GLIBC, machine, _LIBTPU, "its libtpu"):
        reasons.append(glibc)
    python = next((candidate for candidate in candidates if constraints.has_packages(release, candidate)), None)
    if python is None:
        reasons.append(constraints.python_reason(release, candidates))
    if reasons or python is None:
        return refused(machine, release.minor, *reasons)
    which = "this TPU, whose generation is not known," if machine.tpu == "unknown" else f"TPU {machine.tpu}"
    remarks = {
        "unknown": f"whether TensorFlow works on {which} is not known",
        "limited": "Google's guides leave TensorFlow out here",
    }
    choice = Choice(
        tensorflow=tpu.LATEST_TENSORFLOW_TPU,
        keras=release.keras,
        python=python,
        run_options=tpu.RUN_OPTIONS,
        packages=(f"tensorflow-tpu=={tpu.LATEST_TENSORFLOW_TPU}", f"libtpu=={tpu.LIBTPU_LAST_WITH_TENSORFLOW_ENTRY}"),
        remarks=(
            "a newer libtpu lacks what TensorFlow calls, so its version is pinned",
            *([remarks[works]] if works in remarks else []),
        ),
    )
    return Answer(machine=machine, choices=(choice,))
