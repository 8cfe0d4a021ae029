"""The process that imported TensorFlow or trained was ended by a signal, and nothing else that was seen says why.

Symptom:
    Segmentation fault (core dumped)
    Aborted (core dumped)
    Fatal Python error: Bus error
Cause:
    A crash in native code: a library of another version than TensorFlow was built for, a truncated file (SIGBUS), a processor
    without the instructions that the wheel uses (SIGILL), or a defect of a driver or library.
Fix:
    1. See in which call your own program dies
       ? PYTHONFAULTHANDLER=1 python train.py
    2. Install TensorFlow and its libraries in a fresh environment, without LD_LIBRARY_PATH and LD_PRELOAD
    3. Of "Check failed: num_threads >= 1"
       $ unset TF_NUM_INTRAOP_THREADS
    4. Look at the kernel's words
       ? sudo dmesg | tail
Verify:
    gpucheck: all runs passed.
Unless:
    Somebody ended the process on purpose.
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
from gpucheck.core.engine.plugin import rule
from gpucheck.core.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.limits import Limits
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training
from gpucheck.core.processes.last_words import fatal, is_call
from gpucheck.core.repairs.wording import listing, short

CALL = Fix(text="Run your own program with PYTHONFAULTHANDLER=1 set, which prints the call in which it dies")
FIX = (
    Fix(
        text="Try without libraries that the environment puts in front",
        command="env -u LD_LIBRARY_PATH -u LD_PRELOAD gpucheck -v",
        kind="look",
    ),
    Fix(text="Look for the kernel's words on it", command="sudo dmesg | tail -n 50", kind="look"),
)
KILLED = "killed by SIGKILL"
THREADS = "TF_NUM_INTRAOP_THREADS"  # TensorFlow takes a negative number as it is, and its default for 0 and what is no number
ASKED_TO_GO = ("SIGTERM", "SIGINT", "SIGHUP")  # somebody else's decision, no crash


class Crash(msgspec.Struct, frozen=True):
    """A process that ended by a signal or with a status of its own instead of finishing."""

    subject: str  # "The training process"
    where: str  # ' at the stage "build"', or nothing
    ending: str  # "killed by SIGSEGV"
    evidence: tuple[Evidence, ...]
    last_words: tuple[str, ...]
    affects: tuple[str, ...] = ()


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("training-failed", "training-unexpected"))
def check(
    tensorflow: TensorFlow | None, outcomes: TrainingOutcomes, limits: Limits | None, environment: Environment | None
) -> Finding | Skip | None:
    """The child ended by a signal or with a status of its own instead of finishing."""
    training = outcomes.training
    if tensorflow is None and training is None:
        return Skip("no training job and no log to see it in")
    crash = _of_training(training) or _of_worker(outcomes) or _of_import(tensorflow)
    if crash is not None:
        killed = crash.ending == KILLED and not crash.affects
        return _killed(crash, limits) if killed else _crashed(crash, environment)
    ending = (training.ending if training is not None else None) or (tensorflow.ending if tensorflow is not None else None)
    return Skip(f"the training process was {ending}") if ending else None


def _of_training(training: Training | None) -> Crash | None:
    if training is None or training.ending is None or not _is_crash(training.ending):
        return None
    evidence = saw(training, "ending", "stage", *_fields(training.ending, training.last_words))
    return Crash("The training process", _at(training.stage), training.ending, evidence, training.last_words)


def _of_worker(outcomes: TrainingOutcomes) -> Crash | None:
    """A worker of a job of several; the others only lost it."""
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
    return ending.startswith(("killed by", "exited with status")) and not any(name in ending for name in ASKED_TO_GO)


def _at(stage: str | None) -> str:
    return f' at the stage "{stage}"' if stage else ""


def _fields(ending: str, last_words: tuple[str, ...]) -> list[str]:
    """The fields of what the process wrote last, line by line; who is killed writes nothing about it."""
    return [] if ending == KILLED else [f"last_words[{place}]" for place in range(len(last_words))]


def _crashed(crash: Crash, environment: Environment | None) -> Finding:
    """With why the process says that it ends, if it says so."""
    why = next(filter(None, map(fatal, crash.last_words)), None)
    negative: tuple[Evidence, ...] = ()
    if why and "num_threads" in why and environment and environment.variables.get(THREADS, "").strip().startswith("-"):
        negative = saw(environment, f"variables.{THREADS}")
    threads = Fix(text=f"Let TensorFlow choose its number of threads: {THREADS} must not be negative", command=f"unset {THREADS}")
    after = f' after "{short(why)}"' if why else ""
    return Finding(
        summary=f"{crash.subject} crashed{crash.where}: {crash.ending}{after}.",
        evidence=(*negative, *crash.evidence),
        fix=(*([threads] if negative else []), *([] if any(map(is_call, crash.last_words)) else [CALL]), *FIX),
        affects=crash.affects,
    )


def _killed(crash: Crash, limits: Limits | None) -> Finding:
    """No crash, but somebody's decision: the kernel's, a batch system's, a person's. SIGKILL does not say whose."""
    look = Fix(
        text="See whether the kernel names it (it writes a line for what it kills for want of memory)",
        command=FIX[-1].command,
        kind="look",
    )
    ask = Fix(text="Ask the batch system, the container runtime or the cluster why it ended the job (time limit, preemption)")
    limited, evidence = "", crash.evidence
    fixes: tuple[Fix, ...] = (look, ask)
    if limits is not None and limits.cpu_seconds is not None:
        limited = f"; this process may use {limits.cpu_seconds} s of processor time (ulimit -t)"
        text = "Raise the limit on processor time, at whose end the kernel sends SIGKILL"
        fixes = (Fix(text=text, command="ulimit -t unlimited"), *fixes)
        evidence = (*evidence, *saw(limits, "cpu_seconds"))
    return Finding(
        summary=f"{crash.subject} was killed{crash.where} by SIGKILL, by whom is unknown{limited}.", evidence=evidence, fix=fixes
    )
