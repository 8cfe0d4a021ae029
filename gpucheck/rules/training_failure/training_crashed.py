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
       $ PYTHONFAULTHANDLER=1 python train.py
    2. Install TensorFlow and its libraries in a fresh environment, without LD_LIBRARY_PATH and LD_PRELOAD
    3. Of "Check failed: num_threads >= 1"
       $ unset TF_NUM_INTRAOP_THREADS
    4. Look at the kernel's words
       $ sudo dmesg | tail
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

from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.environment import Environment
from gpucheck.probes.limits import Limits
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training
from gpucheck.processes.last_words import fatal, is_call
from gpucheck.rules._training import NOT_WATCHED
from gpucheck.rules._words import listing, short

CALL = Fix(text="Run your own program with PYTHONFAULTHANDLER=1 set, which prints the call in which it dies")
FIX = (
    Fix(
        text="Try without libraries that the environment puts in front",
        command="env -u LD_LIBRARY_PATH -u LD_PRELOAD gpucheck -v",
    ),
    Fix(text="Look for the kernel's words on it", command="sudo dmesg | tail -n 50"),
)
KILLED = "killed by SIGKILL"
THREADS = "TF_NUM_INTRAOP_THREADS"  # TensorFlow takes a negative number as it is, and its default for 0 and what is no number
ASKED_TO_GO = ("SIGTERM", "SIGINT", "SIGHUP")  # somebody else's decision, no crash


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("training-failed", "training-unexpected"))
def check(
    tensorflow: TensorFlow | None, training: Training | None, limits: Limits | None, environment: Environment | None
) -> Finding | Skip | None:
    """The child ended by a signal or with a status of its own instead of finishing."""
    if tensorflow is None and training is None:
        return NOT_WATCHED
    if training is not None and _crash(training.ending):
        where = f' at the stage "{training.stage}"' if training.stage else ""
        if training.ending == KILLED:
            return _killed(f"The training process was killed{where} by SIGKILL", saw(training, "ending", "stage"), limits)
        told = saw(training, "ending", "stage", *_last(training.last_words))
        return _crashed(f"The training process crashed{where}: {training.ending}", told, training.last_words, environment)
    if training is not None and (died := _worker(training, environment)) is not None:
        return died
    if tensorflow is not None and _crash(tensorflow.ending):
        if tensorflow.ending == KILLED:
            seen = saw(tensorflow, "ending", "imported")
            return _killed("The process that imported TensorFlow was killed by SIGKILL", seen, limits)
        told = saw(tensorflow, "ending", "imported", *_last(tensorflow.last_words))
        what = f"The process that imported TensorFlow crashed: {tensorflow.ending}"
        return _crashed(what, told, tensorflow.last_words, environment)
    ending = (training.ending if training is not None else None) or (tensorflow.ending if tensorflow is not None else None)
    return Skip(f"the training process was {ending}") if ending else None


def _last(words: tuple[str, ...]) -> list[str]:
    """The fields of what the process wrote last, line by line."""
    return [f"last_words[{place}]" for place in range(len(words))]


def _crashed(
    what: str,
    told: tuple[Evidence, ...],
    words: tuple[str, ...],
    environment: Environment | None,
    affects: tuple[str, ...] = (),
) -> Finding:
    """A crash, with why the process says that it ends, if it says so."""
    why = next(filter(None, map(fatal, words)), None)
    negative: tuple[Evidence, ...] = ()
    if why and "num_threads" in why and environment and environment.variables.get(THREADS, "").strip().startswith("-"):
        negative = saw(environment, f"variables.{THREADS}")
    threads = Fix(text=f"Let TensorFlow choose its number of threads: {THREADS} must not be negative", command=f"unset {THREADS}")
    return Finding(
        summary=f'{what} after "{short(why)}".' if why else f"{what}.",
        evidence=(*negative, *told),
        fix=(*([threads] if negative else []), *([] if any(map(is_call, words)) else [CALL]), *FIX),
        affects=affects,
    )


def _killed(what: str, evidence: tuple[Evidence, ...], limits: Limits | None) -> Finding:
    """No crash, but somebody's decision: the kernel's, a batch system's, a person's. SIGKILL does not say whose."""
    seconds = limits.cpu_seconds if limits is not None else None
    limited = f"; this process may use {seconds} s of processor time (ulimit -t)" if seconds is not None else ""
    raised = (
        Fix(text="Raise the limit on processor time, at whose end the kernel sends SIGKILL", command="ulimit -t unlimited"),
    )
    return Finding(
        summary=f"{what}, by whom is unknown{limited}.",
        evidence=(*evidence, *(saw(limits, "cpu_seconds") if limits is not None and limited else ())),
        fix=(
            *(raised if limited else ()),
            Fix(
                text="See whether the kernel names it (it writes a line for what it kills for want of memory)",
                command=FIX[-1].command,
            ),
            Fix(text="Ask the batch system, the container runtime or the cluster why it ended the job (time limit, preemption)"),
        ),
    )


def _worker(training: Training, environment: Environment | None) -> Finding | None:
    """A worker of a job of several; the others only lost it."""
    for place, run in enumerate(training.runs):
        died = [fault for fault in run.worker_faults if fault.how == "ended" and _crash(fault.reason)]
        if died:
            where = f' at the stage "{died[0].stage}"' if died[0].stage else ""
            names = [fault.worker for fault in died]
            return _crashed(
                f"{listing(names)} of {run.strategy} crashed{where}: {died[0].reason}",
                saw(training, f"runs[{place}].worker_faults"),
                died[0].last_words,
                environment,
                tuple(names),
            )
    return None


def _crash(ending: str | None) -> bool:
    if ending is None or any(name in ending for name in ASKED_TO_GO):
        return False
    return ending.startswith(("killed by", "exited with status"))
