"""A training job ended with an exception, and no other finding explains why.

Symptom:
    CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered
    RuntimeError: CUDA error: device-side assert triggered
    ValueError: Input 0 of layer "dense" is incompatible with the layer: expected axis -1 of input shape to have value 8
    ValueError: Shapes (None, 1) and (None, 10) are incompatible
    - gpucheck: one_device on GPU:0 failed at the stage "first step"
    - gpucheck --full: the experiment memory_after_clear failed
Cause:
    The job trains gpucheck's own small model. An exception means that TensorFlow, Keras or one of their libraries does not work
    on this machine, in a way that no other diagnosis covers. Start with the message of the exception.
    If all jobs passed and only an experiment of --full failed, this is a warning: models train here, but something else does not
    work as documented (memory is not freed, an out-of-memory error can't be caught, replicas compute a different loss).
    In a log, it means that a kernel on the GPU read beyond its memory or failed an assertion, mostly because a label or an index
    is out of range. It can also mean that the shapes of the data and the model don't match.
Verify:
    gpucheck: all runs passed.
Unless:
    The failed experiment tests a feature that you do not use. Never ignore a failed job: real training would fail too.
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
import sys

from gpucheck.core.combiners.nccl_trial import NcclTrial
from gpucheck.core.combiners.training_outcomes import label
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat.modules import package_of
from gpucheck.core.model import Experiment, Finding, Fix, Fixes, Scope, Severity, Skip, TrainingRun, rule, saw
from gpucheck.core.model.wording import short
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import TEST_GPU, TRAIN_IN_FLOAT32, without_nccl

_SHAPES = r"(?i)shape|dimension"
_READ = Fix.look("Read the log of the job", "gpucheck -v")
_KNOWN = Fix(text="Look up the message in the list of known installation errors: https://www.tensorflow.org/install/errors")
# What to do about a failed experiment, by its name. First those that make training compute wrong values, then memory.
EXPERIMENT_FIX = {
    "precision": TRAIN_IN_FLOAT32.text,
    "tensor_float_32": "Train without TF32 until this is fixed: tf.config.experimental.enable_tensor_float_32_execution(False)",
    "batch_normalization": "Until this is fixed, train models with BatchNormalization on one device, or use a normalization"
    " that works on one sample at a time (LayerNormalization, GroupNormalization)",
    "global_batch": "Until this is fixed, train on one device, or compare the first loss of several devices with that of one",
    "memory_after_clear": "Train each model in a separate process: its memory is freed when the process ends",
    "memory_growth": "Set a limit in MiB instead of memory growth:"
    " tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=8192)])",
    "out_of_memory": "Don't rely on catching ResourceExhaustedError, as a search for the largest batch does: try each size in a"
    " separate process",
}


_WITHOUT_MXNET = Fix(
    text="Train with TensorFlow's strategies instead: MXNet was retired in 2023, and tf.distribute.MirroredStrategy() uses all GPUs"
)


@rule(
    scope=Scope.CODE,
    explains=("training-unexpected",),
    first_check="the last exception, and the stage that the training job reached",
)
def check(training: Training, trial: NcclTrial, context: Context) -> Finding | Skip | None:
    """Report a run, an XLA-compiled step or an experiment that failed. Findings of specific causes explain it."""
    failed = [(place, run) for place, run in enumerate(training.runs) if run.status == "failed"]
    if failed:
        return _failed(training, failed, tuple(repairs(context, own_model=True)))
    if trial.failed is not None:
        return Finding(
            summary=trial.sentence("the usual exchange of gradients"),
            evidence=trial.evidence,
            fix=(without_nccl(trial.exchange, tried=True), *repairs(context, own_model=True)),
            affects=trial.failed.devices,
        )
    if training.runs:
        return _xla(training, context) or _experiment(training, context)
    return Skip(f"nothing was trained{f': {training.ending}' if training.ending else ''}")


def _failed(training: Training, failed: list[tuple[int, TrainingRun]], fix: tuple[Fix, ...]) -> Finding:
    place, run = failed[0]
    stage = f' at the stage "{run.stage}"' if run.stage else ""
    reason = f": {short(run.reason, 200)}" if run.reason else ""
    more = f" ({len(failed)} of {len(training.runs)} runs failed)" if len(failed) > 1 else ""
    experiments = (f"experiments[{place}].reason" for place in _failed_experiments(training))
    return Finding(
        summary=f"Training with {label(run)} failed{stage}{reason}{more}.",
        evidence=saw(training, f"runs[{place}].stage", f"runs[{place}].reason", *experiments),
        fix=fix,
        affects=tuple(dict.fromkeys(name for _, run in failed for name in _affected(run))),
    )


def _affected(run: TrainingRun) -> tuple[str, ...]:
    return tuple(fault.worker for fault in run.worker_faults) or run.devices


def _xla(training: Training, context: Context) -> Finding | None:
    """Report a failed XLA step: Keras compiles with XLA by default (jit_compile="auto"), so a user's model would fail too."""
    for place, run in enumerate(training.runs):
        if run.xla_verified is False:
            problem = f": {short(run.xla_problem, 200)}" if run.xla_problem else ""
            return Finding(
                summary=f"Training with {label(run)} fails when XLA is on (Keras's default){problem}.",
                evidence=saw(training, f"runs[{place}].xla_verified", f"runs[{place}].xla_problem"),
                fix=repairs(context, own_model=True, xla=True),
                affects=run.devices,
            )
    return None


def _failed_experiments(training: Training) -> list[int]:
    """Return the indices of the failed experiments."""
    return [place for place, experiment in enumerate(training.experiments) if experiment.status == "failed"]


def _experiment(training: Training, context: Context) -> Finding | None:
    places = sorted(_failed_experiments(training), key=lambda place: _rank(training.experiments[place]))
    if not places:
        return None
    failed = [training.experiments[place] for place in places]
    first, *others = failed
    more = f" ({', '.join(experiment.name for experiment in others)} failed too)" if others else ""
    return Finding(
        summary=f"Training passed, but the experiment {first.name} failed{more}: {short(first.reason or 'no reason', 240)}.",
        evidence=saw(training, *(f"experiments[{place}].reason" for place in places)),
        fix=repairs(context, own_model=True, experiments=tuple(failed)),
        affects=first.devices,
        severity=Severity.WARNING,
    )


def _rank(experiment: Experiment) -> int:
    order = list(EXPERIMENT_FIX)
    return order.index(experiment.name) if experiment.name in order else len(order)


def _experiment_fix(experiment: Experiment) -> Fix:
    """Return the experiment's own fix; for an exception ("TypeError: ...") the list of known errors."""
    raised = re.match(r"\w+: ", experiment.reason or "")
    text = EXPERIMENT_FIX.get(experiment.name)
    return _KNOWN if raised or text is None else Fix(text=text)


def repairs(
    context: Context,
    *,
    xla: bool = False,
    experiments: tuple[Experiment, ...] = (),
    own_model: bool = False,
    message: str = "",
    cure: str = "",
    install: str = "",
    quoted: str = "",
    module: str = "",
    misfit: str = "",
    package: str = "",
    name: str = "",
    function: str = "",
) -> Fixes:
    """Follow the message; in a log, it is about a kernel with an illegal access, or an error in the program.

    Args:
        context: what is known about the machine.
        xla: whether only XLA-compiled training failed.
        experiments: the failed ones of --full.
        own_model: whether gpucheck's own training failed.
        message: an error of the program.
        cure: the fix of this error.
        install: the package that fixes it.
        quoted: "yes" if the fix is only quoted from the error.
        module: the missing Python module.
        misfit: not empty if releases of packages are incompatible.
        package: the package that lacks the name, if known.
        name: the missing attribute, or argument of the function.
        function: the function that lacks this argument.
    """
    if own_model:
        yield from _of_own_model(xla, experiments)
    elif module:
        yield from _of_module(context, module)
    elif misfit:
        yield from _of_misfit(context, package, name, function)
    elif cure:
        advice = f"Not verified, but the message suggests: {cure}" if quoted else cure
        yield Fix(text=advice, command=context.pip(install) if install else None)
        if re.search(_SHAPES, message):
            yield Fix(text="Print the shapes before fit: model.summary(), and x.shape or next(iter(dataset))", kind="look")
    else:
        yield from _of_kernel(context)


def _of_own_model(xla: bool, experiments: tuple[Experiment, ...]) -> Fixes:
    if experiments:
        yield from dict.fromkeys(map(_experiment_fix, experiments))
        yield Fix.look("Repeat it on an otherwise idle machine, and read the log", "gpucheck --full -v")
        return
    if xla:
        yield Fix(text="Until it is fixed, compile without XLA: model.compile(..., jit_compile=False)")
    yield _KNOWN
    yield _READ


def _of_module(context: Context, module: str) -> Fixes:
    """Install the package that contains a module; a module of no known package may be one of the user's files."""
    package = package_of(module)
    if package == "horovod":
        yield Fix(
            text="Use tf.distribute.MirroredStrategy, which is part of TensorFlow, or MultiWorkerMirroredStrategy on several machines"
        )
    if module in keras_tables.OTHERS:
        yield Fix(text=f"Install {keras_tables.TITLES[module]}", command=context.pip(module))
        yield Fix(text="If Keras should train on TensorFlow, before Python starts", command="export KERAS_BACKEND=tensorflow")
        return
    if module.partition(".")[0] == "mxnet":
        yield _WITHOUT_MXNET
        return
    if package is not None:
        yield Fix(text=f"Install the package that contains the module {module}", command=context.pip(package))
        return
    yield Fix(
        text=f"If {module} is a file or folder of your program, start the program from the folder that contains it, or"
        " add that to PYTHONPATH"
    )
    yield Fix(
        text="Otherwise, install the package that contains it; the program's README or requirements.txt lists it, maybe by"
        " another name"
    )


def _of_misfit(context: Context, package: str, name: str, function: str) -> Fixes:
    """Install compatible releases of the package that uses the name and the package that lacks it."""
    caller, lacks = context.raised_in, package_of(package) or package
    standard = package in sys.stdlib_module_names
    what = f"the argument {name} of {function}" if function else f"{package}.{name}"
    if (name, function) == ("context", "compile"):
        yield _WITHOUT_MXNET
    elif caller and caller != package:
        text = f"Install a version of {caller} that matches the installed packages: it uses {what}, which they don't have"
        others = [] if standard or not package else [lacks]
        yield Fix(text=text, command=context.pip("--upgrade", package_of(caller) or caller, *others))
        if standard:
            yield Fix(text="Or use an older Python, whose standard library still has it")
    elif function or standard:
        yield Fix(text=f"Avoid {what}, which the installed release does not have; its documentation lists the replacement")
    else:
        yield Fix(
            text=f"Replace {what} with what the installed {lacks} has, or install a release of {lacks} that has it: an older one"
            " if its release notes list it as removed, else a newer one"
        )


def _of_kernel(context: Context) -> Fixes:
    """Yield the fixes for a kernel with an illegal access."""
    yield Fix(text="Check labels and indices: a number that is out of range makes a kernel read beyond its memory")
    yield Fix.look("Run the program on the CPU, which reports the line", f"CUDA_VISIBLE_DEVICES=-1 {context.python} TRAIN.py")
    yield Fix.look("Make the error appear in the call that causes it", f"CUDA_LAUNCH_BLOCKING=1 {context.python} TRAIN.py")
    yield Fix(text="If different programs fail on the same GPU, test it", command=TEST_GPU.command, kind="look")
