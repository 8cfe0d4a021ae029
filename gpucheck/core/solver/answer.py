"""The answer: what can be installed, what can't and why, and what would make a newer release work."""

from typing import Literal

import msgspec

from gpucheck.core.compat import frameworks
from gpucheck.core.model import Assignment
from gpucheck.core.solver.machine import Machine, Python

Kind = Literal["platform", "driver", "gpu", "python", "glibc", "defect", "tpu", "wish"]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a release does not work on a machine, in one short sentence."""

    kind: Kind
    text: str  # "driver 470.57 runs CUDA up to 11.4; CUDA 12 needs driver 525.60.13 or newer"
    source: str  # documentation of this requirement
    needs: str | None = None  # the minimum driver, Python or glibc version that works


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A combination that works."""

    python: Python
    tensorflow: str | None = None  # "2.20.0"; None if Keras runs on another backend
    keras: str = frameworks.KERAS  # the requirement: ">=3.10.0"
    cuda: str | None = None  # the CUDA it was built with; None: a build for the CPU, or a TPU
    cudnn: str | None = None
    backend: str = "tensorflow"
    source: Literal["pip", "image", "conda"] = "pip"
    packages: tuple[str, ...] = ()  # pip's arguments
    index: str | None = None  # a package index other than pip's default
    steps: tuple[tuple[tuple[str, ...], str | None], ...] = ()  # packages and index of each installation; (): as packages says
    also: tuple[str, ...] = ()  # other frameworks in the environment: "JAX"
    run_options: str = "--gpus all"  # docker's, which pass the GPU to the container
    image: str | None = None  # "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"
    assignments: tuple[Assignment, ...] = ()  # required environment variables; {environment} is its folder
    remarks: tuple[str, ...] = ()


class Excluded(msgspec.Struct, frozen=True, kw_only=True):
    """A newer release that does not work here."""

    tensorflow: str  # minor: "2.21"; or the name of another framework's build
    reasons: tuple[Reason, ...]


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """A change that would make a newer release work."""

    kind: Kind
    text: str  # "with driver 525.60.13 or newer: TensorFlow 2.20.0"
    tensorflow: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer."""

    machine: Machine
    choices: tuple[Choice, ...] = ()  # best first
    excluded: tuple[Excluded, ...] = ()  # newest first; only releases newer than the best choice
    limits: tuple[Limit, ...] = ()
    first: str | None = None  # what to do before any choice works: install the driver
    advice: tuple[str, ...] = ()  # alternatives; without a choice, what to do
    depends: tuple[str, ...] = ()  # assumptions about properties that the description does not give

    @property
    def best(self) -> Choice | None:
        """The first choice."""
        return next(iter(self.choices), None)


def refused(machine: Machine, name: str, *reasons: Reason, advice: tuple[str, ...] = ()) -> Answer:
    """Return the answer if nothing works, and why."""
    return Answer(machine=machine, excluded=(Excluded(tensorflow=name, reasons=reasons),), advice=advice)
