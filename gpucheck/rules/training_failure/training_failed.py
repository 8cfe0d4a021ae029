"""A training job ended with an exception, and nothing else that was seen says why.

Symptom:
    gpucheck: one_device on GPU:0 failed at the stage "first step"
    AttributeError: module 'tensorflow' has no attribute 'Session'
Cause:
    The job is gpucheck's own small model. An exception there means that TensorFlow, Keras or a library of theirs does not work
    on this machine in a way that no other page names; the message of the exception is the best lead.
    In a log it stands for a program that calls what TensorFlow 2 has removed: Session, ConfigProto, placeholder, contrib.
Fix:
    1. See the whole log of the job: gpucheck -v
    2. Try a fresh environment: python -m venv ~/tensorflow-env && ~/tensorflow-env/bin/python -m pip install "tensorflow[and-cuda]"
Verify:
    gpucheck: all runs passed.
Unless:
    Never: what fails here fails in real training too.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "build"
    training.runs[0].reason = "TypeError: Dense.build() got an unexpected keyword argument 'shape'"
    -> Training with one_device on GPU:0 failed at the stage "build": TypeError: Dense.build() got an unexpected keyword argument 'shape'.
References:
    https://www.tensorflow.org/install/errors
    https://keras.io/getting_started/
"""

from gpucheck.model import Finding, Fix, Scope, Severity, Skip, TrainingRun, saw
from gpucheck.plugin import rule
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._exchange import cured, instead, sentence
from gpucheck.rules._legacy import replacements
from gpucheck.rules._log import cite, told
from gpucheck.rules._training import label, short

# Illegal addresses and instructions, failed assertions: the program's doing, or rarely the board's.
KERNEL_FAULTS = ("700", "702", "710", "714", "715", "716", "717", "718", "719")
FIX = (
    Fix(text="See the log of the job", command="gpucheck -v"),
    Fix(text="Look the message up among the known installation errors: https://www.tensorflow.org/install/errors"),
)


@rule(severity=Severity.ERROR, scope=Scope.CODE, explains=("training-unexpected",))
def check(training: Training) -> Finding | Skip | None:
    """Any run failed, or its XLA-compiled step did. The causes that have a page explain it."""
    bad = [(place, run) for place, run in enumerate(training.runs) if run.status == "failed"]
    if not bad and (stuck := cured(training)) is not None:
        summary, evidence = sentence(training, *stuck, "the usual exchange of gradients")
        devices = training.runs[stuck[0]].devices
        return Finding(summary=summary, evidence=evidence, fix=(instead(training.runs[stuck[1]]), *FIX), affects=devices)
    if not bad:
        if training.runs:
            return _xla(training)
        return Skip(f"nothing was trained{f': {training.ending}' if training.ending else ''}")
    place, run = bad[0]
    stage = f' at the stage "{run.stage}"' if run.stage else ""
    reason = f": {short(run.reason, 200)}" if run.reason else ""
    more = f" ({len(bad)} of {len(training.runs)} runs failed)" if len(bad) > 1 else ""
    return Finding(
        summary=f"Training with {label(run)} failed{stage}{reason}{more}.",
        evidence=saw(training, f"runs[{place}].stage", f"runs[{place}].reason"),
        fix=FIX,
        affects=tuple(dict.fromkeys(name for _, run in bad for name in _affected(run))),
    )


def _affected(run: TrainingRun) -> tuple[str, ...]:
    return tuple(fault.worker for fault in run.worker_faults) or run.devices


def _xla(training: Training) -> Finding | None:
    """Keras compiles with XLA unless told otherwise (jit_compile="auto"), so a model trained as usual fails like this."""
    for place, run in enumerate(training.runs):
        if run.xla_verified is False:
            problem = f": {short(run.xla_problem, 200)}" if run.xla_problem else ""
            return Finding(
                summary=f"Training with {label(run)} works only without XLA, which Keras uses unless told otherwise{problem}.",
                evidence=saw(training, f"runs[{place}].xla_verified", f"runs[{place}].xla_problem"),
                fix=(
                    Fix(text="Until it is repaired, compile without XLA: model.compile(..., jit_compile=False)"),
                    *FIX,
                ),
                affects=run.devices,
            )
    return None


def in_log(log: Log) -> Finding | None:
    """A program of TensorFlow 1 under TensorFlow 2, or a kernel that broke the rules."""
    gone = [event for event in told(log, "legacy-api") if event.fields["name"].lower() != "mxnet"]  # a backend, not a name
    broken = [event for event in told(log, "cuda-error") if event.fields.get("code") in KERNEL_FAULTS]
    if broken and not gone:
        return Finding(
            summary=f"A kernel failed on the GPU: {short(broken[0].text)}.",
            evidence=cite(*broken),
            fix=(
                Fix(text="Let the error be told where it happens", command="export CUDA_LAUNCH_BLOCKING=1"),
                Fix(text="Look for labels and indices out of range: they are the usual cause, and the CPU names the line"),
                Fix(text="If another program fails likewise, look for Xid lines", command="sudo dmesg | grep -i xid"),
            ),
        )
    if not gone:
        return None
    name = gone[0].fields["name"]
    return Finding(
        summary=f"The program uses {name}, which TensorFlow 2 and Keras have removed.",
        evidence=cite(*gone),
        fix=(
            *replacements(name),
            Fix(text="Or let it run as it is: import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()"),
        ),
    )
