"""XLA_FLAGS (or TF_XLA_FLAGS) contains a flag that this TensorFlow's XLA does not support, so XLA aborts the process.

Symptom:
    F parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_bogus_flag=1
    Unknown flags in XLA_FLAGS: --xla_gpu_enable_triton_softmax_fusion=true
    Aborted (core dumped)
Cause:
    XLA aborts the process at its first use if a flag is unknown. Each release adds and removes flags, so one that was set for
    another release, or for JAX, is enough.
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
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import XLA_FILE_UNREADABLE, listing
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.tensorflow import XLA_VARIABLES, TensorFlow
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import word


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "gpus-not-listed", "training-failed", "training-crashed"),
    first_check="the variables XLA_FLAGS and TF_XLA_FLAGS",
)
def check(
    log: Log, environment: Environment | None, outcomes: TrainingOutcomes, tensorflow: TensorFlow | None, context: Context
) -> Finding | Skip | None:
    """Report flags that XLA rejected; only XLA knows which flags it supports."""
    flags = [event.fields.get("flag", "").strip("\"' ") for event in log.events if event.kind == "xla-flag-unknown"]
    variables = environment.variables if environment is not None else {}
    if not flags:
        compiled = bool(outcomes.runs) or (tensorflow is not None and tensorflow.imported is True and tensorflow.ending is None)
        untried = [name for name in XLA_VARIABLES if variables.get(name)] if not compiled else []
        return Skip(f"XLA reads {listing(untried)} when it compiles, but nothing was compiled") if untried else None
    file = next((event.fields["file"] for event in log.events if event.kind == "xla-flag-unknown" and "file" in event.fields), "")
    unknown = list(dict.fromkeys(one for flag in flags for one in flag.split()))
    names = {_name(flag) for flag in unknown}
    holders = [name for name in XLA_VARIABLES if names & {_name(flag) for flag in variables.get(name, "").split()}]
    holder = holders[0] if holders else "XLA_FLAGS"
    named = listing(unknown) if unknown else "a flag"
    kept = [flag for flag in variables.get(holder, "").split() if _name(flag) not in names]
    if file:
        kept = []
    return Finding(
        summary=XLA_FILE_UNREADABLE.format(variable=holder, file=file)
        if file
        else f"{holder} contains {named}, which this TensorFlow's XLA does not support, so it aborts the process.",
        evidence=(
            *(saw(environment, f"variables.{holder}") if holder in variables else ()),
            *outcomes.saw_events("xla-flag-unknown"),
        ),
        fix=repairs(context, flag=" ".join(unknown), variable=holder, kept=" ".join(kept), file=file),
    )


def _name(flag: str) -> str:
    return flag.partition("=")[0].lstrip("-")


def repairs(
    context: Context, *, flag: str = "", variable: str = "XLA_FLAGS", value: str = "", kept: str = "", file: str = ""
) -> Fixes:
    """Remove every flag that XLA rejects.

    Args:
        context: what is known about the machine.
        flag: the flags: "--xla_a=1 --xla_b=2"; empty if unknown.
        variable: the variable that contains them.
        value: the flag's value, if only the value is invalid.
        kept: the flags to keep.
        file: the file with the flags, if it can't be opened.
    """
    if file:
        yield Fix(text=f"Unset {variable}, or set it to a file that exists", command=f"unset {variable}")
        return
    named = listing(flag.split()) if flag else "the flag"
    if value:
        yield Fix(text=f"Correct the value of {named} in {variable}: XLA can't read {value}")
    command = f"export {variable}={word(kept)}" if kept else f"unset {variable}"
    where = "" if context.interpreter is not None else ", in the shell or in the program that sets it"
    yield Fix(text=f"Remove {named} from {variable}{where}", command=command)
