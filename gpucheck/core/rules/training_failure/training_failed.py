"""A training job ended with an exception, and nothing else that was seen says why.

Symptom:
    gpucheck: one_device on GPU:0 failed at the stage "first step"
    gpucheck --full: the experiment memory_after_clear failed
    AttributeError: module 'tensorflow' has no attribute 'Session'
Cause:
    The job is gpucheck's own small model. An exception there means that TensorFlow, Keras or a library of theirs does not work
    on this machine in a way that no other page names; the message of the exception is the best lead.
    Where all jobs passed and only an experiment of --full failed, it is a warning: models train here, but something beside it
    does not work as documented (memory does not come back, an out-of-memory can't be caught, replicas compute another loss).
    In a log it stands for a program that calls what TensorFlow 2 has removed: Session, ConfigProto, placeholder, contrib.
Fix:
    1. See the whole log of the job (of an experiment: gpucheck --full -v, while nothing else uses the machine)
       ? gpucheck -v
    2. Let an error of the GPU be told where it happens, and look for labels and indices out of range: the CPU names the line
       ? export CUDA_LAUNCH_BLOCKING=1
    3. Code of TensorFlow 1: write tf.random.set_seed for set_random_seed, tf.io.gfile for gfile, tf_keras or tf-slim for contrib,
       set_memory_growth for ConfigProto, MirroredStrategy for multi_gpu_model, tf.compat.v1.NAME for others; or rewrite it all
       $ tf_upgrade_v2 --infile old.py --outfile new.py
    4. Or let it run as it is: import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()
    5. Try a fresh environment
       $ python -m venv ~/tensorflow-env && ~/tensorflow-env/bin/python -m pip install "tensorflow[and-cuda]"
    6. If it follows one GPU through different programs, test that GPU, as an administrator
       ? dcgmi diag -r 3
    7. Of an experiment: until it is repaired, do without what it tries, as the fix says (float32, one device, a process per model)
Verify:
    gpucheck: all runs passed.
Unless:
    An experiment failed whose subject you do not use. Never for a job: what fails here fails in real training too.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "build"
    training.runs[0].reason = "TypeError: Dense.build() got an unexpected keyword argument 'shape'"
    -> Training with one_device on GPU:0 failed at the stage "build": TypeError: Dense.build() got an unexpected keyword argument 'shape'.
References:
    https://www.tensorflow.org/install/errors
    https://keras.io/getting_started/
"""

import re

from gpucheck.core.combiners.nccl_trial import NcclTrial
from gpucheck.core.combiners.training_outcomes import label
from gpucheck.core.engine.plugin import rule
from gpucheck.core.model import Experiment, Finding, Fix, Scope, Severity, Skip, TrainingRun, saw
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.wording import short

_FIX = (
    Fix(text="See the log of the job", command="gpucheck -v", kind="look"),
    Fix(text="Look the message up among the known installation errors: https://www.tensorflow.org/install/errors"),
)
# What to do about a failed experiment, by its name: what makes training compute something else first, memory after it.
EXPERIMENT_FIX = {
    "precision": 'Train in float32 until this is repaired: keras.mixed_precision.set_global_policy("float32")',
    "tensor_float_32": "Train without TF32 until this is repaired: tf.config.experimental.enable_tensor_float_32_execution(False)",
    "batch_normalization": "Until this is repaired, train a model with BatchNormalization on one device, or take a normalization"
    " that looks at one sample at a time (LayerNormalization, GroupNormalization)",
    "global_batch": "Until this is repaired, train on one device, or compare the first loss of several with one device's",
    "memory_after_clear": "Train each model in a process of its own: its memory is given back when it ends",
    "memory_growth": "Set a limit in MiB instead of memory growth:"
    " tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=8192)])",
    "out_of_memory": "Don't count on catching ResourceExhaustedError, as a search for the largest batch does: try each size in a"
    " process of its own",
}


@rule(severity=Severity.ERROR, scope=Scope.CODE, explains=("training-unexpected",))
def check(training: Training, trial: NcclTrial) -> Finding | Skip | None:
    """Any run failed, its XLA-compiled step did, or an experiment. The causes that have a page explain it."""
    failed = [(place, run) for place, run in enumerate(training.runs) if run.status == "failed"]
    if failed:
        return _failed(training, failed)
    if trial.stuck is not None:
        return Finding(
            summary=trial.sentence("the usual exchange of gradients"),
            evidence=trial.evidence,
            fix=(trial.fix, *_FIX),
            affects=trial.stuck.devices,
        )
    if training.runs:
        return _xla(training) or _experiment(training)
    return Skip(f"nothing was trained{f': {training.ending}' if training.ending else ''}")


def _failed(training: Training, failed: list[tuple[int, TrainingRun]]) -> Finding:
    place, run = failed[0]
    stage = f' at the stage "{run.stage}"' if run.stage else ""
    reason = f": {short(run.reason, 200)}" if run.reason else ""
    more = f" ({len(failed)} of {len(training.runs)} runs failed)" if len(failed) > 1 else ""
    experiments = (f"experiments[{place}].reason" for place in _failed_experiments(training))
    return Finding(
        summary=f"Training with {label(run)} failed{stage}{reason}{more}.",
        evidence=saw(training, f"runs[{place}].stage", f"runs[{place}].reason", *experiments),
        fix=_FIX,
        affects=tuple(dict.fromkeys(name for _, run in failed for name in _affected(run))),
    )


def _affected(run: TrainingRun) -> tuple[str, ...]:
    return tuple(fault.worker for fault in run.worker_faults) or run.devices


def _xla(training: Training) -> Finding | None:
    """Keras compiles with XLA unless told otherwise (jit_compile="auto"), so a model trained as usual fails like this."""
    for place, run in enumerate(training.runs):
        if run.xla_verified is False:
            problem = f": {short(run.xla_problem, 200)}" if run.xla_problem else ""
            return Finding(
                summary=f"Training with {label(run)} fails when XLA is on (Keras's default){problem}.",
                evidence=saw(training, f"runs[{place}].xla_verified", f"runs[{place}].xla_problem"),
                fix=(
                    Fix(text="Until it is repaired, compile without XLA: model.compile(..., jit_compile=False)"),
                    *_FIX,
                ),
                affects=run.devices,
            )
    return None


def _failed_experiments(training: Training) -> list[int]:
    """Their places."""
    return [place for place, experiment in enumerate(training.experiments) if experiment.status == "failed"]


def _experiment(training: Training) -> Finding | None:
    places = sorted(_failed_experiments(training), key=lambda place: _rank(training.experiments[place]))
    if not places:
        return None
    failed = [training.experiments[place] for place in places]
    first, *others = failed
    repeat = Fix(text="Repeat it while nothing else uses the machine, and see the log", command="gpucheck --full -v", kind="look")
    more = f" ({', '.join(experiment.name for experiment in others)} failed, too)" if others else ""
    return Finding(
        summary=f"All jobs train, but the experiment {first.name} failed{more}: {short(first.reason or 'no reason', 240)}.",
        evidence=saw(training, *(f"experiments[{place}].reason" for place in places)),
        fix=(*dict.fromkeys(map(_experiment_fix, failed)), repeat),
        affects=first.devices,
        severity=Severity.WARNING,
    )


def _rank(experiment: Experiment) -> int:
    order = list(EXPERIMENT_FIX)
    return order.index(experiment.name) if experiment.name in order else len(order)


def _experiment_fix(experiment: Experiment) -> Fix:
    """What was measured has a remedy by its experiment; what was raised ("TypeError: ...") is looked up."""
    raised = re.match(r"\w+: ", experiment.reason or "")
    text = EXPERIMENT_FIX.get(experiment.name)
    return _FIX[-1] if raised or text is None else Fix(text=text)
