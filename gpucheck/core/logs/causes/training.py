"""Training causes: no learning, waiting for data, crashes, and failures between GPUs and workers."""

from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.last_words import fatal
from gpucheck.core.logs.reading.lines import headless
from gpucheck.core.model import Severity
from gpucheck.core.model.naming import devices
from gpucheck.core.model.wording import MULTI_WORKER_FIT, short

_MANY_EPOCHS = 3  # epochs or steps that a model may need to become better than a guess
_FILL_REPORT_SECONDS = 10  # interval of progress messages in shuffle_dataset_op.cc (tensorflow/core/kernels/data)
_FILL_SECONDS = 30
_REFILLS = 2
_CRASHES = "SIGSEGV|SIGABRT|SIGBUS|SIGFPE"


def loss_not_falling(events: Events) -> Cause | None:
    """Detect a model that does not learn: a user reports it, or epochs end with a guess's loss and accuracy. Both may be intended."""
    guesses = events.of("loss-at-chance")
    last = events.of("loss-at-chance", "training-progress")[-1:]
    if len(guesses) < _MANY_EPOCHS or guesses[-1].line != last[0].line:
        return None
    classes = guesses[-1].fields["classes"]
    summary = f"The model does not learn: its loss and accuracy equal a random guess among {classes} classes."
    return Cause(summary, guesses[-_MANY_EPOCHS:], Severity.WARNING)


def input_pipeline_bound(events: Events) -> Cause | None:
    """Detect a shuffle buffer that takes long to fill, or is refilled in every epoch, while training waits."""
    fills: list[list[Event]] = []
    for event in events.of("shuffle-buffer-filling", "training-progress"):
        if event.kind == "training-progress":
            fills.append([])
        elif fills and fills[-1] and _continues(fills[-1][-1], event):
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
        lines, when, state = longest, f"for {seconds} s or more", "filled"
    elif again:
        lines, when, state = again, "in every epoch", "refilled"
    else:
        return None
    buffer = f"its shuffle buffer of {lines[0].fields['size']} elements"
    return Cause(f"Training waits {when} while {buffer} is {state}.", [lines[0], lines[-1]])


def _continues(before: Event, event: Event) -> bool:
    return before.fields["size"] == event.fields["size"] and int(before.fields["filled"]) < int(event.fields["filled"])


def training_crashed(events: Events) -> Cause | None:
    """Detect a crash in native code. This is checked last, and reported only if the log has no other cause."""
    crashed = events.unresolved("killed", signal=_CRASHES)
    if not crashed:
        return None
    before = [event for event in events.log.suspects if event.line <= crashed[0].line and fatal(event.text)]
    why = fatal(before[-1].text) if before else crashed[0].text
    calls = events.of("crashed-call")[-1:]
    within = f" ({calls[0].fields['file']}, line {calls[0].fields['number']}, in {calls[0].fields['function']})" if calls else ""
    summary = f"The program crashed in native code ({crashed[0].fields['signal']}): {short(why or '')}{within}."
    return Cause(summary, [*before[-1:], *crashed], repair_values={"called": "yes"} if calls else {})


# -- GPUs and workers --


def worker_unreachable(events: Events) -> Cause | None:
    """Detect a worker that can't listen, or does not respond; other programs use gRPC, too."""
    on_tpu, clustered = events.log.of_tpu, events.has("cluster-named")
    others = [event for event in events.of("worker-unreachable") if on_tpu or ("needs" in event.fields and not clustered)]
    failed = events.unresolved("worker-unreachable", "worker-address-in-use")
    failed = [event for event in failed if event not in others]
    if not failed:
        return None
    taken = failed[0].kind == "worker-address-in-use"
    what = "This worker can't listen on its address, so others can't reach it" if taken else "A worker does not respond"
    of_nccl = events.of("nccl-interface")[:1] if "NCCL" in failed[0].text else []
    # The line may be too long for the repairs to find the reason in its text.
    how = {"how": "port taken"} if taken else {}
    return Cause(f"{what}: {short(headless(failed[0].text))}.", [*failed[:1], *of_nccl], repair_values=how)


def tpu_unreachable(events: Events) -> Cause | None:
    """Detect a program on a TPU that could not connect, if no line gives details."""
    failed = events.unresolved("worker-unreachable", needs="")
    if not failed or not events.log.of_tpu or events.has("tpu-failed"):
        return None
    return Cause(f"The program could not connect to the TPU: {short(failed[0].text)}.", failed[:1])


def multi_worker_fit_unsupported(events: Events) -> Cause | None:
    """Detect that Keras tried to convert values of replicas."""
    clustered = events.has("cluster-named")
    failed = [event for event in events.unresolved("multi-worker-fit-unsupported") if clustered or "needs" not in event.fields]
    if not failed:
        return None
    return Cause(MULTI_WORKER_FIT.format(text=short(failed[0].text)), failed[:1])


def peer_access_unavailable(events: Events) -> Cause | None:
    """Detect that peer access failed, which may have stopped training, or that NCCL does not use it."""
    if refused := events.unresolved("peer-access-unavailable"):
        stopped = events.unresolved("nccl-failed", "cuda-error", "traceback")
        summary = f"Peer access between GPUs is refused: {short(refused[0].text)}."
        return Cause(summary, refused[:1], Severity.ERROR if stopped else None)
    unused = events.of("peer-access-disabled")
    if not unused or events.unresolved("nccl-failed"):
        return None
    summary = "NCCL does not use peer access between GPUs, so gradients are copied through main memory."
    return Cause(summary, unused[:1])


def replica_count_mismatch(events: Events) -> Cause | None:
    """Detect a strategy that uses devices TensorFlow does not have, or that has fewer replicas than GPUs were created."""
    created = {event.fields["device"]: event for event in events.of("gpu-created") if event.fields.get("device")}
    for event in events.unresolved("strategy-device-invisible"):
        missing = [name for name in event.fields["devices"].split(",") if name not in created]
        if missing and "GPU:0" not in missing:  # without GPU:0 it has no GPU at all
            summary = f"The strategy uses {devices(missing)}, which TensorFlow does not list."
            return Cause(summary, [event], Severity.WARNING)
    fewer = next((event for event in events.log.events if 0 < _replicas(event) < len(created)), None)
    if fewer is None:
        return None
    count = _replicas(fewer)
    summary = f"TensorFlow created {len(created)} GPUs, but the strategy trains on {count} replica{'s' if count > 1 else ''}."
    return Cause(summary, [fewer, *created.values()], Severity.WARNING)


def _replicas(event: Event) -> int:
    """Return the number of replicas in a line; 0 if it has none, or the strategy is for one device."""
    mirrored = event.kind == "strategy-devices" and "Mirrored" in event.fields.get("strategy", "")
    return int(event.fields.get("count", "0")) if mirrored or event.kind == "replicas" else 0
