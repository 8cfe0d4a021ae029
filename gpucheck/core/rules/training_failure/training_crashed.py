"""The process that imported TensorFlow or trained a model crashed, and no other finding explains why.

Symptom:
    Segmentation fault (core dumped)
    Aborted (core dumped)
    Fatal Python error: Bus error
Cause:
    A crash in native code: a library version that TensorFlow was not built for, a truncated file (SIGBUS), a processor without
    the instructions that the wheel uses (SIGILL), or a bug in a driver or library.
Verify:
    gpucheck: all runs passed.
Unless:
    The process was ended on purpose.
Example:
    training.runs = []
    training.ending = "killed by SIGSEGV"
    training.stage = "first step"
    -> The training process crashed at the stage "first step": killed by SIGSEGV.
References:
    https://docs.python.org/3/library/faulthandler.html
"""

import msgspec

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.logs.last_words import fatal, is_call
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing, short
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.limits import Limits
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import word

KILLED = "killed by SIGKILL"
THREADS = "TF_NUM_INTRAOP_THREADS"  # TensorFlow uses a negative number as it is; for 0 and non-numbers it uses its default
STOPPED_BY = ("SIGTERM", "SIGINT", "SIGHUP")  # sent by a user or a batch system: not a crash


class Crash(msgspec.Struct, frozen=True):
    """A process that was killed by a signal or exited with an error status."""

    subject: str  # "The training process"
    where: str  # ' at the stage "build"', or empty
    ending: str  # "killed by SIGSEGV"
    evidence: tuple[Evidence, ...]
    last_words: tuple[str, ...]
    affects: tuple[str, ...] = ()


@rule(scope=Scope.ENVIRONMENT, explains=("training-failed", "training-unexpected"), first_check="the last lines before the crash")
def check(
    tensorflow: TensorFlow | None,
    outcomes: TrainingOutcomes,
    limits: Limits | None,
    environment: Environment | None,
    context: Context,
) -> Finding | Skip | None:
    """Report a child process that was killed by a signal or exited with an error status."""
    training = outcomes.training
    if tensorflow is None and training is None:
        return Skip("no training job and no log to check")
    crash = _of_training(training) or _of_worker(outcomes) or _of_import(tensorflow)
    if crash is not None:
        killed = crash.ending == KILLED and not crash.affects
        return _killed(crash, limits, context) if killed else _crashed(crash, environment, context)
    ending = (training.ending if training is not None else None) or (tensorflow.ending if tensorflow is not None else None)
    return Skip(f"the training process was {ending}") if ending else None


def _of_training(training: Training | None) -> Crash | None:
    if training is None or training.ending is None or not _is_crash(training.ending):
        return None
    evidence = saw(training, "ending", "stage", *_fields(training.ending, training.last_words))
    return Crash("The training process", _at(training.stage), training.ending, evidence, training.last_words)


def _of_worker(outcomes: TrainingOutcomes) -> Crash | None:
    """Return the worker that crashed in a job of several; the other workers only lost the connection."""
    for place, run in enumerate(outcomes.runs):
        ended = [fault for fault in run.worker_faults if fault.how == "ended" and _is_crash(fault.reason)]
        if ended:
            names = tuple(fault.worker for fault in ended)
            subject, evidence = f"{listing(list(names))} of {run.strategy}", outcomes.saw_run(place, "worker_faults")
            return Crash(subject, _at(ended[0].stage), ended[0].reason, evidence, ended[0].last_words, names)
    return None


def _of_import(tensorflow: TensorFlow | None) -> Crash | None:
    if tensorflow is None or tensorflow.ending is None or not _is_crash(tensorflow.ending):
        return None
    evidence = saw(tensorflow, "ending", "imported", *_fields(tensorflow.ending, tensorflow.last_words))
    return Crash("The process that imported TensorFlow", "", tensorflow.ending, evidence, tensorflow.last_words)


def _is_crash(ending: str) -> bool:
    return ending.startswith(("killed by", "exited with status")) and not any(name in ending for name in STOPPED_BY)


def _at(stage: str | None) -> str:
    return f' at the stage "{stage}"' if stage else ""


def _fields(ending: str, last_words: tuple[str, ...]) -> list[str]:
    """Return the fields of the process's last lines; a killed process writes nothing about it."""
    return [] if ending == KILLED else [f"last_words[{place}]" for place in range(len(last_words))]


def _crashed(crash: Crash, environment: Environment | None, context: Context) -> Finding:
    """Return the finding, with the reason that the process printed, if any."""
    why = next(filter(None, map(fatal, crash.last_words)), None)
    negative: tuple[Evidence, ...] = ()
    if why and "num_threads" in why and environment and environment.variables.get(THREADS, "").strip().startswith("-"):
        negative = saw(environment, f"variables.{THREADS}")
    after = f' after "{short(why)}"' if why else ""
    fix = repairs(
        context,
        text=why or "" if negative else "",
        signal=crash.ending.removeprefix("killed by "),
        without=_without(environment, context),
        called=any(map(is_call, crash.last_words)),
    )
    return Finding(
        summary=f"{crash.subject} crashed{crash.where}: {crash.ending}{after}.",
        evidence=(*negative, *crash.evidence),
        fix=fix,
        affects=crash.affects,
    )


def _without(environment: Environment | None, context: Context) -> str:
    """Return env's arguments that remove added libraries; folders of TensorFlow's own packages are intentional."""
    variables = environment.variables if environment is not None else {}
    tensorflow = context.packages.tensorflow if context.packages is not None else None
    folders = variables.get("LD_LIBRARY_PATH", "").split(":")
    own = [folder for folder in folders if tensorflow is not None and folder.startswith(f"{tensorflow.folder}/nvidia/")]
    preload = "-u LD_PRELOAD" if variables.get("LD_PRELOAD") else ""
    if folders == [""] or folders == own:
        return preload
    path = f"LD_LIBRARY_PATH={word(':'.join(own))}" if own else "-u LD_LIBRARY_PATH"
    return f"{preload} {path}".strip()


def _killed(crash: Crash, limits: Limits | None, context: Context) -> Finding:
    """Return the finding about SIGKILL, which the kernel, a batch system or a user may have sent."""
    limited, evidence = "", crash.evidence
    if limits is not None and limits.cpu_seconds is not None:
        limited = f"; this process is limited to {limits.cpu_seconds} s of CPU time (ulimit -t)"
        evidence = (*evidence, *saw(limits, "cpu_seconds"))
    return Finding(
        summary=f"{crash.subject} was killed{crash.where} by SIGKILL, sender unknown{limited}.",
        evidence=evidence,
        fix=repairs(context, signal="SIGKILL", limited=bool(limited)),
    )


def repairs(
    context: Context,
    *,
    text: str = "",
    signal: str = "",
    without: str = "",
    called: bool = False,
    limited: bool = False,
) -> Fixes:
    """Find the cause of the crash, or the sender of the signal.

    Args:
        context: what is known about the machine.
        text: the last lines of the process, if they explain the crash.
        signal: the signal that ended it: "SIGSEGV".
        without: arguments of env that start a process without added libraries.
        called: whether the crashing call is known.
        limited: whether a limit on CPU time may be the cause.
    """
    if signal == "SIGKILL":
        yield from _after_sigkill(limited)
        return
    if "num_threads" in text:
        yield Fix(
            text=f"Remove {THREADS}, so that TensorFlow chooses its number of threads: it must not be negative",
            command=f"unset {THREADS}",
        )
    if signal == "SIGBUS":
        yield Fix(text="Free space on a full disk or in /dev/shm, and reinstall the package that a truncated file belongs to")
        yield Fix.look("Check which one is full", "df -h /dev/shm /tmp .")
    yield Fix(text="If nothing else explains it, install the framework and its libraries in a new environment")
    if without:
        yield Fix.look("Try without the libraries that environment variables add", f"env {without} gpucheck -v")
    if not called:
        yield Fix.look("Find the call in which your program crashes", "python -X faulthandler TRAIN.py")
    yield Fix.look("Read the kernel's messages about the crash", "sudo dmesg | tail -n 50")


def _after_sigkill(limited: bool) -> Fixes:
    if limited:
        text = "Raise the limit on CPU time; the kernel sends SIGKILL when it is reached"
        yield Fix(text=text, command="ulimit -t unlimited")
    yield Fix(text="Check in the batch system, container runtime or cluster why it ended the job (time limit, preemption)")
    yield Fix.look(
        "Check whether the kernel log lists the process (the kernel logs every process that it kills to free memory)",
        "sudo dmesg | tail -n 50",
    )
