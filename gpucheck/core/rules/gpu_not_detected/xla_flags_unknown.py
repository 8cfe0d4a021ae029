"""XLA_FLAGS (or TF_XLA_FLAGS) contains a flag that this TensorFlow's XLA does not support, so XLA aborts the process.

Symptom:
    F parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_bogus_flag=1
    Unknown flags in XLA_FLAGS: --xla_gpu_enable_triton_softmax_fusion=true
    Aborted (core dumped)
Cause:
    XLA ends the process at its first use if a flag is unknown. Flags come and go with each release, so one that was set for another
    release, or for JAX, is enough.
Fix:
    1. Remove the flag or the variable
       $ unset XLA_FLAGS
Verify:
    gpucheck trains its XLA-compiled step.
Unless:
    Never: XLA can't be used with an unknown flag.
Example:
    environment.variables.XLA_FLAGS = "--xla_gpu_cuda_data_dir=/usr/local/cuda --xla_bogus_flag=1"
    training = {"runs": [], "ending": "killed by SIGABRT", "stage": "first step"}
    log.events = [{"kind": "xla-flag-unknown", "line": 8, "text": "parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_bogus_flag=1", "fields": {"flag": "--xla_bogus_flag=1"}}]
    -> XLA_FLAGS contains --xla_bogus_flag=1, which this TensorFlow's XLA does not support, so it aborts the process.
References:
    https://openxla.org/xla/flags_guidance
"""

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.logs.events import Kind
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Assignment, Finding, Fix, Operation, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.environment import Environment
from gpucheck.core.repairs.wording import listing
from gpucheck.core.system.shells import statement

_VARIABLES = ("XLA_FLAGS", "TF_XLA_FLAGS")


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "gpus-not-listed", "training-failed", "training-crashed"),
)
def check(log: Log, environment: Environment | None, outcomes: TrainingOutcomes) -> Finding | Skip | None:
    """Only XLA itself can say which flags it knows."""
    flags = [event.fields.get("flag", "").strip("\"' ") for event in log.events if event.kind == Kind.XLA_FLAG_UNKNOWN]
    variables = environment.variables if environment is not None else {}
    if not flags:
        untried = [name for name in _VARIABLES if variables.get(name)] if not outcomes.runs else []
        return Skip(f"XLA reads {listing(untried)} when a job is compiled, and nothing was trained") if untried else None
    unknown = list(dict.fromkeys(word for flag in flags for word in flag.split()))
    names = {_name(flag) for flag in unknown}
    holders = [name for name in _VARIABLES if names & {_name(flag) for flag in variables.get(name, "").split()}]
    holder = holders[0] if holders else "XLA_FLAGS"
    named = listing(unknown) if unknown else "a flag"
    return Finding(
        summary=f"{holder} contains {named}, which this TensorFlow's XLA does not support, so it aborts the process.",
        evidence=(
            *(saw(environment, f"variables.{holder}") if environment is not None and holder in variables else ()),
            *outcomes.saw_events(Kind.XLA_FLAG_UNKNOWN),
        ),
        fix=(Fix(text=f"Remove {named} from {holder}", command=_without(holder, variables.get(holder, ""), names)),),
    )


def _name(flag: str) -> str:
    return flag.partition("=")[0].lstrip("-")


def _without(variable: str, value: str, unknown: set[str]) -> str:
    kept = [flag for flag in value.split() if _name(flag) not in unknown]
    operation = Operation.SET if kept else Operation.UNSET
    return statement(Assignment(variable=variable, operation=operation, value=" ".join(kept), reason=""))
