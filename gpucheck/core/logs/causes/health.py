"""Hardware causes: Xid messages of the kernel, memory errors, and links that are down."""

import re

from gpucheck.core.compat.cuda import results_of
from gpucheck.core.compat.nvml import GPU_LOST, GPU_NOT_FOUND, UNKNOWN_ERROR, action_of
from gpucheck.core.compat.xid import RECOVERY_CHANGED, WITHOUT_XID, is_nonfatal, xid
from gpucheck.core.logs.causes.cause import Cause
from gpucheck.core.logs.causes.events import Events, first_value, in_order
from gpucheck.core.logs.events import Event
from gpucheck.core.logs.xid import address, codes, reported, requested_actions, required_action, unknown
from gpucheck.core.model import Action, Severity
from gpucheck.core.model.wording import listing, short

# Faults of programs: 31 is error 700 in the kernel log, 43 the program that was stopped.
_OF_PROGRAMS = (8, 11, 13, 25, 31, 32, 43, 68, 69, 80)
# The actions that lines without an Xid require; nvidia-smi -q prints the recovery action.
_ACTIONS = (
    (r"(?i)recovery action *: *(?:\w+ )?reboot", Action.REBOOT),
    (r"(?i)recovery action *: *drain p2p", Action.DRAIN),
    (r"(?i)recovery action *:", Action.RESET_GPU),
    *((kind.pattern, Action(kind.action)) for kind in WITHOUT_XID),
)


def _addresses(events: list[Event]) -> list[str]:
    found = [device for event in events if (device := address(event))]
    return list({device.removesuffix(".0"): device for device in found}.values())  # a line may omit the function


def gpu_lost(events: Events) -> Cause | None:
    """Detect a lost GPU: the kernel or NVML reports it, or its handle fails while other GPUs respond."""
    reports = reported(events.log.events, "gpu")
    cited = [*(event for event, _ in reports), *events.without_later_gpu_use("gpu-lost")]
    firmware = events.without_later_gpu_use("driver-mismatch", reason="firmware")
    if not firmware and not events.without_later_gpu_use("gpu-unsupported-by-driver"):  # otherwise the driver can't start it
        cited += events.without_later_gpu_use("gpu-init-failed")
    cited += events.nvml_refusals(*GPU_LOST)
    if not events.nvml_refusals(GPU_NOT_FOUND):
        cited += [event for event in events.nvml_refusals(UNKNOWN_ERROR) if event.fields.get("device")]
    if not cited:
        return _requested(events) or _unknown(events)
    action, lines = required_action(events.log.events, reports) if reports else (_action(cited), [])
    cited = in_order(*cited, *lines)
    devices = _addresses(cited)
    label = f"The GPU at {devices[0]}" if len(devices) == 1 else f"GPUs ({listing(devices)})" if devices else "A GPU"
    reason = reports[0][1].title if reports else cited[0].fields.get("message", cited[0].text)
    if action is Action.IGNORE:
        summary = f"{label} had a fault for which the driver requires no action: {short(reason)}."
    else:
        summary = f"{label} no longer {'respond' if len(devices) > 1 else 'responds'}: {short(reason)}."
    kinds = ("gpu-asleep", "gpu-guest") if not reports and events.has("gpu-init-failed") else ()
    start = next((kind for kind in kinds if events.has(kind)), "")
    return Cause(summary, cited, None, tuple(devices), repair_values={**codes(reports), "start": start}, action=action)


def _action(lines: list[Event]) -> Action:
    """Return the action that lines without an Xid require."""
    return Action.strongest(map(_action_of_line, lines))


def _action_of_line(event: Event) -> Action:
    result = int(event.fields["code"]) if event.kind == "nvml-failed" else None
    return next((action for pattern, action in _ACTIONS if re.search(pattern, event.text)), Action(action_of(result)))


def _requested(events: Events) -> Cause | None:
    """Detect an action that the driver requests, if no message gives the reason."""
    messages = [event for fault in ("memory", "nvlink", "start") for event, _ in reported(events.log.events, fault)]
    explained = set(_addresses(messages))
    requests = [
        own
        for device, own in requested_actions(events.log.events).items()
        if own.action is not Action.IGNORE and device not in explained
    ]
    if not requests:
        return None
    first = requests[0]
    cited = [own.event for own in requests]
    devices = _addresses(cited)
    label = f"The GPU at {devices[0]}" if devices else "A GPU"
    summary = f"{label} needs the recovery that the driver requests: {first.recovery.advice} (Xid {RECOVERY_CHANGED})."
    return Cause(summary, cited, None, tuple(devices), action=Action.strongest(own.action for own in requests))


def _unknown(events: Events) -> Cause | None:
    """Detect messages that are not in the table: new or harmless ones."""
    cited = unknown(events.log.events)
    if not cited:
        return None
    numbers = list(dict.fromkeys(event.fields["code"] for event in cited))
    devices = _addresses(cited)
    summary = f"The GPU at {devices[0]} reports Xid {listing(numbers)}, which gpucheck does not recognize."
    return Cause(summary, cited, None, tuple(devices), repair_values={"xids": ",".join(numbers)}, action=Action.IGNORE)


def ecc_errors(events: Events) -> Cause | None:
    """Detect lost data, or a memory repair that failed or is pending, as shown by the kernel, CUDA or a report."""
    reports = reported(events.log.events, "memory")
    lost = [event for event, message in reports if message.severity == "error"]
    lost += events.of("ecc-uncorrectable") + events.cuda_refusals(*results_of("ecc-errors"))
    repairs = events.of("row-remapping", "pages-retired")
    counts = events.of("ecc-count")
    if events.has("ecc-history") or any(event.fields.get("section") for event in events.log.events):
        counts = [event for event in counts if event.fields.get("section")]  # lifetime counts
    # nvidia-smi -q has the same rows for volatile and aggregate counts: without a heading they may be aggregate
    old = all("memory" in event.fields and "section" not in event.fields for event in counts)
    cited = in_order(*lost, *counts, *repairs, *(event for event, _ in reports))
    if not cited:
        return None
    requested, lines = required_action(events.log.events, reports) if reports else (Action.IGNORE, [])
    # New work may start while rows wait to be remapped, but not while pages wait to be retired.
    failed = [event for event in repairs if event.kind != "row-remapping" or event.fields.get("state", "").lower() != "pending"]
    unrepaired = failed or (not reports and (lost or (counts and not old)))
    cited = in_order(*cited, *lines)
    device = next(iter(_addresses(cited)), "")
    label = f"GPU {device}" if device.isdecimal() else f"The GPU at {device}" if device else "A GPU"
    if lost:
        message = next((message for event, message in reports if event is lost[0]), None)
        summary = f"{label} lost data in its memory (uncorrectable): {message.title if message else short(lost[0].text)}."
    elif counts:
        number = counts[0].fields.get("count", "")
        since = " since its driver was loaded, or in its lifetime" if old else " since its driver was loaded"
        summary = f"{label} has had {number} uncorrectable memory error{'s' if number != '1' else ''}{since}."
    elif repairs:
        summary = f"{label} has faulty memory whose repair failed or needs a reset: {short(repairs[0].text)}."
    else:
        summary = f"{label} has had memory errors: {reports[0][1].title}."
    action = Action.strongest([requested, Action.RESET_GPU if unrepaired else Action.IGNORE])
    return Cause(summary, cited, None, (device,) if device else (), repair_values=codes(reports), action=action)


def nvlink_down(events: Events) -> Cause | None:
    """Detect a link that the kernel, CUDA or nvidia-smi reports as down; links recover from Nonfatal Xids by themselves.

    An NVSwitch also reports errors that affect one program or none: those are warnings.
    """
    reports = reported(events.log.events, "nvlink")
    failed = [event for event in events.of("nvlink-down") if not is_nonfatal(event.text)]
    fatal = [event for event in failed if "degree" not in event.fields]
    cited = in_order(*(event for event, _ in reports), *fatal, *events.cuda_refusals(*results_of("nvlink-down")))
    link = first_value(cited or failed, "link")
    if not cited and not failed:
        return None
    if not cited:
        which = f" of NVLink {link}" if link else ""
        summary = f"An NVSwitch reports errors{which} that are not fatal: {short(failed[0].text)}."
        return Cause(summary, failed, action=Action.IGNORE)
    switch = Action.REBOOT if any("SXid" in event.text for event in fatal) else Action.RESET_GPU
    action, lines = required_action(events.log.events, reports) if reports else (switch, [])
    cited = in_order(*cited, *lines)
    device = next(iter(_addresses(cited)), None)
    which = f"{f'NVLink {link}' if link else 'An NVLink'}{f' of the GPU at {device}' if device else ''}"
    why = reports[0][1].title if reports else short(cited[0].text)
    state = "had a fault for which the driver requires no action" if action is Action.IGNORE else "is down"
    return Cause(
        f"{which} {state}: {why}.", cited, None, (device,) if device else (), repair_values=codes(reports), action=action
    )


def training_failed(events: Events) -> Cause | None:
    """Detect a program's illegal access that the kernel reports; if the GPU has a fault, the access is its consequence."""
    decoded = [(event, xid(int(event.fields["code"]))) for event in events.unresolved("xid")]
    own = [(event, message) for event, message in decoded if message and not message.fault and message.code in _OF_PROGRAMS]
    if not own or any(message and message.fault for _, message in decoded):
        return None
    summary = f"A program was stopped because of its own error on the GPU: {own[0][1].title}."
    return Cause(summary, [event for event, _ in own], Severity.WARNING)
