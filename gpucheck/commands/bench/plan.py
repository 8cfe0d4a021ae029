"""Plan the configurations from the request and the devices. Pure functions."""

import itertools
from collections.abc import Iterator, Sequence

from gpucheck.commands.bench.model import Ask
from gpucheck.core.child.messages.benchmark import Configuration
from gpucheck.core.model.kinds import PRECISIONS
from gpucheck.core.training.smoke.network import PER_REPLICA_BATCH
from gpucheck.core.training.strategies import load_all

DEFAULT_STEPS = {"CPU": 10, "GPU": 50, "TPU": 50}
DEFAULT_CPU_DEVICES = 2
CPU_DEVICES_MAX = 64  # logical devices; each has a thread pool
TPU = "tpu"
ON_TPU = -1  # sorts first: the process that connected to the TPU waits
BY_DEFAULT = ("one_device", "mirrored")
NOT_ON_TPU = {"--devices": "devices", "--xla": "xla"}  # option -> field of the request
FLOAT16_ON_TPU = "a TPU computes in bfloat16; use --precision mixed_bfloat16"
XLA = {"off": (False,), "on": (True,), "both": (False, True)}
NO_XLA = "several devices are not measured with XLA: Keras compiles the step across the replicas, which XLA does not support"
EPOCHS_MAX = 20  # default with a target accuracy


class Refused(Exception):
    """The request can't be measured. ``exit_code`` 2: wrong usage; 3: not possible on this machine."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def plan(ask: Ask, devices: list[str], no_tpu: str | None = None) -> tuple[list[Configuration], list[str]]:
    """Return all combinations that apply, and notes on those that do not.

    Args:
        ask: the request.
        devices: TensorFlow's physical devices, and those of a connected TPU: ["CPU:0", "GPU:0"].
        no_tpu: why the requested TPU can't be measured.

    Raises:
        Refused: more devices than available, or no accelerator and no permission to measure the CPU.
    """
    strategies = {name: strategy for name, strategy in load_all().items() if "tensorflow" in strategy.backends}
    if not any(device.startswith("TPU") for device in devices):
        no_tpu = no_tpu or "no TPU is connected"
    reasons = {name: no_tpu if name == TPU else strategies[name].not_in_bench for name in ask.strategies}
    unmeasured = {name: reason for name, reason in reasons.items() if reason}
    selected = [name for name in strategies if name in (ask.strategies or BY_DEFAULT) and name not in unmeasured]
    kind = "GPU" if any(device.startswith("GPU") for device in devices) else "CPU"
    counts = [] if {TPU} >= {*selected, *unmeasured} else _counts(ask, devices)
    placements = _placements(selected, counts)
    notes = _unused_options(ask, [name for name in selected if name != TPU], placements)
    if TPU in selected:
        placements.insert(0, (TPU, sum(device.startswith("TPU") for device in devices)))
        given = [option for option, name in NOT_ON_TPU.items() if getattr(ask, name) not in ((), "off")]
        notes += [f"{option} does not apply to a TPU, which trains on all its cores and compiles with XLA" for option in given]
    notes += _indivisible(ask, placements)
    notes += [NO_XLA] if ask.xla != "off" and any(count > 1 for name, count in placements if name != TPU) else []
    configurations: list[Configuration] = []
    for size, precision in itertools.product(ask.global_batch_sizes or ask.batch_sizes or (0,), ask.precisions or PRECISIONS[:1]):
        for name, why in unmeasured.items():
            batch_size = size or (0 if ask.model else PER_REPLICA_BATCH["TPU" if name == TPU else kind])
            configurations.append(Configuration(name, (), precision, False, batch_size, reason=why))
        configurations += _configurations(ask, size, precision, kind, placements)
    if all(configuration.reason for configuration in configurations):
        notes += [f"{name} is not measured: {reason}" for name, reason in unmeasured.items()]
        raise Refused(f"nothing to measure: {'; '.join(notes)}", 3 if TPU in unmeasured else 2)
    notes += _remarks(configurations, kind == "GPU")
    if "one_device" in selected and counts == [1] and not ask.devices and kind == "GPU":
        notes.append("mirrored is not measured: there is one GPU")
    return configurations, notes


def _counts(ask: Ask, devices: list[str]) -> list[int]:
    """Return the numbers of GPUs or, without a GPU, of logical CPU devices.

    Raises:
        Refused: see ``plan``.
    """
    gpus = [device for device in devices if device.startswith("GPU")]
    if not gpus and not ask.allow_cpu:
        raise Refused("TensorFlow lists no GPU; use --allow-cpu to measure the CPU, or run `gpucheck` to find the cause", 3)
    here = len(gpus) or CPU_DEVICES_MAX
    counts = sorted(set(ask.devices)) or sorted({1, len(gpus) or DEFAULT_CPU_DEVICES})
    if counts[-1] > here:
        there = f"TensorFlow lists {here} GPU{'s' * (here != 1)}" if gpus else f"the CPU can be split into at most {here}"
        raise Refused(f"--devices {counts[-1]}: {there}", 2)
    return counts


def _configurations(ask: Ask, size: int, precision: str, kind: str, placements: list[tuple[str, int]]) -> Iterator[Configuration]:
    """Yield the configurations of one requested batch size (0: the default) and precision."""
    for xla, at_once, (strategy, count) in itertools.product(XLA[ask.xla], ask.steps_per_execution or (1,), placements):
        here = TPU.upper() if strategy == TPU else kind
        batch_size, rest = divmod(size, count) if ask.global_batch_sizes else (size, 0)
        batch_size = batch_size or (0 if ask.model else PER_REPLICA_BATCH[here])
        reason = FLOAT16_ON_TPU if strategy == TPU and precision == "mixed_float16" else None
        if rest or (xla and count > 1 and strategy != TPU) or (strategy == TPU and xla != XLA[ask.xla][0]):
            continue
        names = tuple(f"{here}:{number}" for number in range(count))
        yield Configuration(strategy, names, precision, xla and strategy != TPU, batch_size, at_once, reason)


def _indivisible(ask: Ask, placements: list[tuple[str, int]]) -> list[str]:
    """Return notes on the global batch sizes that a number of devices can't share equally."""
    counts = sorted({count for _, count in placements})
    return [
        f"--global-batch-size {size} is not measured on {count} devices: it can't be divided equally"
        for size in ask.global_batch_sizes
        for count in counts
        if count and size % count
    ]


def _remarks(configurations: list[Configuration], on_gpus: bool) -> list[str]:
    """Return notes about the scaling figures."""
    configurations = [configuration for configuration in configurations if configuration.strategy != TPU]
    several = any(len(configuration.devices) > 1 for configuration in configurations)
    remarks = []
    if several and not on_gpus:
        remarks.append("the devices are logical parts of one CPU and share its cores: their scaling does not apply to GPUs")
    if several and not any(len(configuration.devices) == 1 for configuration in configurations):
        remarks.append("no scaling efficiency: one device is not measured in this run (add --devices 1)")
    return remarks


def _placements(selected: list[str], counts: list[int]) -> list[tuple[str, int]]:
    """Return a strategy for each count: one_device for one device, mirrored for several or if it is the only strategy."""
    alone = "one_device" not in selected
    placements = [("one_device", 1)] if "one_device" in selected and 1 in counts else []
    return placements + [("mirrored", count) for count in counts if "mirrored" in selected and (count > 1 or alone)]


def _unused_options(ask: Ask, selected: list[str], placements: list[tuple[str, int]]) -> list[str]:
    """Return notes on requested strategies and device counts that no combination uses."""
    reason = {"one_device": "it requires --devices 1", "mirrored": "--devices 1 is measured with one_device"}
    strategies, counts = {name for name, _ in placements}, {count for _, count in placements}
    notes = [f"{name} is not measured: {reason[name]}" for name in selected if name in ask.strategies and name not in strategies]
    if selected:
        left = [f"--devices {count}" for count in sorted(set(ask.devices) - counts)]
        notes += [f"{option} is not measured: one_device uses one device; use --strategy mirrored for several" for option in left]
    return notes


def groups(configurations: list[Configuration]) -> dict[int, list[Configuration]]:
    """Group the configurations by the process that they need: ``ON_TPU``, 0 for GPUs, or a number of logical CPU devices."""
    groups_by_size: dict[int, list[Configuration]] = {}
    for configuration in configurations:
        if not configuration.reason:
            kind, count = configuration.devices[0].partition(":")[0], len(configuration.devices)
            groups_by_size.setdefault({"TPU": ON_TPU, "GPU": 0}.get(kind, count), []).append(configuration)
    return dict(sorted(groups_by_size.items()))


def epochs(ask: Ask) -> int:
    """Return the epochs of a repeat; with a target accuracy, the maximum."""
    return ask.epochs or (1 if ask.target_accuracy is None else EPOCHS_MAX)


def steps(ask: Ask, devices: Sequence[str]) -> int:
    """Return the steps of an epoch on these devices; 0: a full pass over finite data."""
    if ask.steps or ask.data != "synthetic":
        return ask.steps
    return max(DEFAULT_STEPS[device.partition(":")[0]] for device in devices)
