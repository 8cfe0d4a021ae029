"""The workers of one job run different versions of TensorFlow, CUDA, cuDNN, NCCL or the driver.

Symptom:
    NCCL WARN NET/Socket : mismatched NCCL version
    - InvalidArgumentError on one worker only, or gradients whose shapes or types don't match
    - A loss that depends on which machines took part
Cause:
    Images, environments or drivers were not updated everywhere at once. The workers communicate in formats of their TensorFlow
    and NCCL, which change between versions; different cuDNN and CUDA libraries round differently.
Verify:
    gpucheck --format json shows the same versions on every worker.
Unless:
    Only the driver or Python differs during a rolling update, and every worker trains: that is a warning.
Example:
    training.runs[1].strategy = "multi_worker_mirrored"
    training.runs[1].worker_versions = [{"tensorflow": "2.21.0", "driver": "580.159.04"}, {"tensorflow": "2.20.0", "driver": "580.159.04"}]
    -> The workers of one job differ: tensorflow is 2.21.0 on worker 0 and 2.20.0 on worker 1.
References:
    https://www.tensorflow.org/guide/versions
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Severity, Skip, TrainingRun, rule
from gpucheck.core.model.thresholds import WORKER_SKEW_TOLERATED
from gpucheck.core.model.wording import listing
from gpucheck.core.repairs.context import Context

_PACKAGES = ("tensorflow", "keras", "jax", "torch")  # packages that pip installs


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("worker-unreachable", "nccl-failed", "replicas-diverged", "training-failed", "training-crashed"),
)
def check(log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Compare the versions that the workers of a run reported; else report a log that shows a difference."""
    outcomes = log_causes.outcomes
    runs = [(place, run) for place, run in enumerate(outcomes.runs) if len(run.worker_versions) > 1]
    for place, run in runs:
        differing = _differing(run)
        if differing:
            return _skew(run, differing, outcomes.saw_run(place, "worker_versions"), context)
    cause = log_causes.causes.get("worker-version-skew")
    if cause is not None:
        return log_causes.repaired(cause, repairs, context)
    return Skip("no job with several workers reported its versions") if outcomes.log is None and not runs else None


def _skew(run: TrainingRun, differing: dict[str, dict[str, int]], evidence: tuple[Evidence, ...], context: Context) -> Finding:
    name = next((name for name in differing if name not in WORKER_SKEW_TOLERATED), next(iter(differing)))
    versions = differing[name]
    places = listing([f"{version} on {_worker(run, index)}" for version, index in versions.items()])
    more = f"; {listing([other for other in differing if other != name])} too" if len(differing) > 1 else ""
    usual = max(versions, key=lambda version: sum(worker.get(name) == version for worker in run.worker_versions))
    unusual = [index for index, worker in enumerate(run.worker_versions) if worker.get(name, usual) != usual]
    return Finding(
        summary=f"The workers of one job differ: {name} is {places}{more}.",
        evidence=evidence,
        fix=repairs(context, name=name, version=usual, workers=listing([_worker(run, index) for index in unusual])),
        affects=tuple(_worker(run, index) for index in unusual),
        severity=Severity.WARNING if differing.keys() <= WORKER_SKEW_TOLERATED else Severity.ERROR,
    )


def _worker(run: TrainingRun, index: int) -> str:
    return run.worker_names[index] if index < len(run.worker_names) else f"worker {index}"


def _differing(run: TrainingRun) -> dict[str, dict[str, int]]:
    """Return the differences: name -> version -> the first worker with it. Unreported versions are ignored."""
    first: dict[str, dict[str, int]] = {}
    for index, versions in enumerate(run.worker_versions):
        for name, version in versions.items():
            first.setdefault(name, {}).setdefault(version, index)
    return {name: versions for name, versions in first.items() if len(versions) > 1}


def repairs(context: Context, *, name: str = "", version: str = "", workers: str = "", message: str = "") -> Fixes:
    """Install the same versions on all workers.

    Args:
        context: what is known about one worker's machine.
        name: the component's name: "tensorflow", "driver", "nccl".
        version: the version that most workers have.
        workers: those with another version.
        message: NCCL's message in a log.
    """
    if name in _PACKAGES:
        yield Fix(text=f"On {workers}, install the version that the other workers run", command=context.pip(f"{name}=={version}"))
    elif name == "driver":
        yield Fix(
            text=f"On the machine of {workers}, install the driver that the other machines run, {version}",
            needs=("sudo", "reboot"),
        )
    elif name:
        yield Fix(text=f"On {workers}, install {name} {version}, the version that the other workers run")
    if name != "driver":
        yield Fix(
            text="Install the same packages everywhere: on a correct worker, run python -m pip freeze > lock.txt; with that file,"
            " run on all others",
            command=f"{context.python} -m pip install -r lock.txt",
        )
        image = Fix(text="Start every worker from one image, named by its digest: NAME@sha256:...")
        yield image if context.in_container else image.after("Or with containers:")
    if name == "driver" or not (name or message):
        yield Fix.look(
            "Compare the drivers of a Slurm job's machines",
            "srun nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort | uniq -c",
        )
