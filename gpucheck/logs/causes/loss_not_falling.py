"""What of a log is loss-not-falling."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, told
from gpucheck.rules._words import short

_ENOUGH = 3  # epochs, or steps, that a model may need before it leaves the guess behind


_NUMBERS = ("loss-at-chance", "training-progress")


def in_log(log: Log) -> Finding | None:
    """Somebody's word for it, or epochs that end with the loss and the accuracy of a guess. Both may still be meant so."""
    words = told(log, "loss-stuck")
    guesses = [event for event in log.events if event.kind == "loss-at-chance"]
    if words:
        summary = f"The model does not learn: {short(words[0].text)}."
    elif len(guesses) >= _ENOUGH and guesses[-1].line == max(event.line for event in log.events if event.kind in _NUMBERS):
        classes = guesses[-1].fields["classes"]
        summary = f"The model does not learn: its loss and accuracy are those of a guess among {classes} classes."
    else:
        return None
    return Finding(
        summary=summary,
        evidence=cite(*(words or guesses[-_ENOUGH:])),
        fix=(
            Fix(text="Train on one batch until it is known by heart; where that fails, look at labels, loss and learning rate"),
            Fix(text="See whether this machine trains at all: a small model on data that can be learnt", command="gpucheck"),
        ),
        severity=Severity.WARNING,
    )
