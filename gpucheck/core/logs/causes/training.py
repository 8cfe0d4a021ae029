"""Causes in training itself: it learns nothing, waits for its data, or crashes."""

from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events
from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.model import Severity
from gpucheck.core.processes.last_words import fatal
from gpucheck.core.repairs.wording import short

_ENOUGH = 3  # epochs, or steps, that a model may need before it leaves the guess behind
_FILL_REPORT_SECONDS = 10  # how often shuffle_dataset_op.cc (tensorflow/core/kernels/data) tells how far it is
_FILL_SECONDS = 30
_REFILLS = 2
_CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE")


def loss_not_falling(events: Events) -> Cause | None:
    """Somebody says so, or epochs that end with the loss and the accuracy of a guess. Both may still be meant so."""
    guesses = events.of(Kind.LOSS_AT_CHANCE)
    last = events.of(Kind.LOSS_AT_CHANCE, Kind.TRAINING_PROGRESS)[-1:]
    if len(guesses) < _ENOUGH or guesses[-1].line != last[0].line:
        return None
    classes = guesses[-1].fields["classes"]
    summary = f"The model does not learn: its loss and accuracy are those of a guess among {classes} classes."
    return Cause(summary, guesses[-_ENOUGH:], Severity.WARNING)


def filling_shuffle_buffer(events: Events) -> Cause | None:
    """A shuffle buffer that takes long to fill, or is filled anew in every epoch: training stands still meanwhile."""
    fills: list[list[Event]] = []
    for event in events.of(Kind.SHUFFLE_BUFFER_FILLING, Kind.TRAINING_PROGRESS):
        if event.kind == Kind.TRAINING_PROGRESS:
            fills.append([])
        elif fills and fills[-1] and _goes_on(fills[-1][-1], event):
            fills[-1].append(event)
        else:
            fills.append([event])
    fills = [fill for fill in fills if fill]
    if not fills:
        return None
    longest = max(fills, key=len)
    sizes = [fill[0].fields["size"] for fill in fills]
    again = [fill[0] for fill, size in zip(fills, sizes, strict=True) if sizes.count(size) >= _REFILLS]
    seconds = _FILL_REPORT_SECONDS * len(longest)
    if seconds >= _FILL_SECONDS:
        lines, how = (
            longest,
            f"for {seconds} s or more while its shuffle buffer of {longest[0].fields['size']} elements is filled",
        )
    elif again:
        lines, how = again, f"in every epoch while its shuffle buffer of {again[0].fields['size']} elements is filled anew"
    else:
        return None
    return Cause(f"Training stands still {how}.", [lines[0], lines[-1]])


def _goes_on(before: Event, event: Event) -> bool:
    return before.fields["size"] == event.fields["size"] and int(before.fields["filled"]) < int(event.fields["filled"])


def training_crashed(events: Events) -> Cause | None:
    """A crash in native code. It is judged last: only a log that names nothing else leaves it unexplained."""
    crashed = [event for event in events.unresolved(Kind.KILLED) if event.fields.get("signal") in _CRASHES]
    if not crashed:
        return None
    before = [event for event in events.log.suspects if event.line <= crashed[0].line and fatal(event.text)]
    why = fatal(before[-1].text) if before else crashed[0].text
    summary = f"The program crashed in native code ({crashed[0].fields['signal']}): {short(why or '')}."
    return Cause(summary, [*before[-1:], *crashed])
