"""Plan the configurations from the request and the devices. Pure functions."""

from gpucheck.commands.bench.model import Ask
from gpucheck.core.child.messages.benchmark import Configuration
from gpucheck.core.training.strategies import load_all

PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")
DEFAULT_BATCH = {"CPU": 16, "GPU": 64}  # per replica, as in the smoke job
DEFAULT_STEPS = {"CPU": 10, "GPU": 50}
DEFAULT_CPU_DEVICES = 2
MOST_CPU_DEVICES = 64  # logical devices; each has a thread pool
NO_XLA = "several devices are not measured with XLA: Keras compiles the step across the replicas, which XLA does not support"
MOST_EPOCHS = 20  # with a target accuracy, and without a number of epochs


class Refused(Exception):
    """The request can't be measured. ``exit_code`` 2: wrong usage; 3: not possible on this machine."""

    def __init__(self, words: str, exit_code: int) -> None:
        super().__init__(words)
        self.exit_code = exit_code


def plan(ask: Ask, devices: list[str]) -> tuple[list[Configuration], list[str]]:
    """Return all combinations that apply, and notes on those that do not.

    Args:
        ask: the request.
        devices: TensorFlow's physical devices: ["CPU:0", "GPU:0"].

    Raises:
        Refused: more devices than available, or no accelerator and no permission to measure the CPU.
    """
    gpus = [device for device in devices if device.startswith("GPU")]
    if not gpus and not ask.allow_cpu:
        raise Refused("TensorFlow lists no GPU; use --allow-cpu to measure the CPU, or run `gpucheck` for the cause", 3)
    kind, here = ("GPU", len(gpus)) if gpus else ("CPU", MOST_CPU_DEVICES)
    everything = here if gpus else DEFAULT_CPU_DEVICES
    counts = sorted(set(ask.devices)) or sorted({1, everything})
    if counts[-1] > here:
        there = f"TensorFlow lists {here} GPU{'s' * (here != 1)}" if gpus else f"the CPU can be split into at most {here}"
        raise Refused(f"--devices {counts[-1]}: {there}", 2)
    notes: list[str] = []
    strategies = {name: strategy for name, strategy in load_all().items() if "tensorflow" in strategy.backends}
    measured = [name for name, strategy in strategies.items() if strategy.not_in_bench is None]
    wanted = [name for name in measured if name in ask.strategies or not ask.strategies]
    unmeasured = {name: strategies[name].not_in_bench for name in ask.strategies if strategies[name].not_in_bench}
    placements = _placements(wanted, counts)
    notes += _unplaced(ask, wanted, placements)
    configurations: list[Configuration] = []
    notes += _undivided(ask, placements)
    for size in ask.global_batch_sizes or ask.batch_sizes or (DEFAULT_BATCH[kind],):
        for precision in ask.precisions or PRECISIONS[:1]:
            configurations += [Configuration(name, (), precision, False, size, reason) for name, reason in unmeasured.items()]
            for xla in {"off": (False,), "on": (True,), "both": (False, True)}[ask.xla]:
                for strategy, count in placements:
                    if xla and count > 1:
                        notes += [note for note in (NO_XLA,) if note not in notes]
                        continue
                    batch_size, rest = divmod(size, count) if ask.global_batch_sizes else (size, 0)
                    names = tuple(f"{kind}:{number}" for number in range(count))
                    configurations += [] if rest else [Configuration(strategy, names, precision, xla, batch_size)]
    if all(configuration.reason for configuration in configurations):
        notes += [f"{name} is not measured: {reason}" for name, reason in unmeasured.items()]
        raise Refused(f"nothing to measure: {'; '.join(notes)}", 2)
    notes += _remarks(configurations, bool(gpus))
    if "one_device" in wanted and counts == [1] and not ask.devices and gpus:
        notes.append("mirrored is not measured: there is one GPU")
    return configurations, notes


def _undivided(ask: Ask, placements: list[tuple[str, int]]) -> list[str]:
    """Return notes on the global batch sizes that some of the devices can't share equally."""
    counts = sorted({count for _, count in placements})
    return [
        f"--global-batch-size {size} is not measured on {count} devices: it can't be divided equally"
        for size in ask.global_batch_sizes
        for count in counts
        if size % count
    ]


def _remarks(configurations: list[Configuration], on_gpus: bool) -> list[str]:
    """Return notes about the scaling figures."""
    several = any(len(configuration.devices) > 1 for configuration in configurations)
    remarks = []
    if several and not on_gpus:
        remarks.append("the devices are logical parts of one CPU and share its cores: more of them are not expected to be faster")
    if several and not any(len(configuration.devices) == 1 for configuration in configurations):
        remarks.append("no scaling efficiency: one device is not measured in this run (add --devices 1)")
    return remarks


def _placements(wanted: list[str], counts: list[int]) -> list[tuple[str, int]]:
    """Use one_device for one device and mirrored for several; mirrored for all counts if it is the only strategy."""
    alone = "one_device" not in wanted
    placements = [("one_device", 1)] if "one_device" in wanted and 1 in counts else []
    return placements + [("mirrored", count) for count in counts if "mirrored" in wanted and (count > 1 or alone)]


def _unplaced(ask: Ask, wanted: list[str], placements: list[tuple[str, int]]) -> list[str]:
    """Return notes on requested strategies and device counts that are in no combination."""
    reason = {"one_device": "it requires --devices 1", "mirrored": "--devices 1 is measured with one_device"}
    strategies, counts = {name for name, _ in placements}, {count for _, count in placements}
    notes = [f"{name} is not measured: {reason[name]}" for name in wanted if name in ask.strategies and name not in strategies]
    if wanted:
        left = [f"--devices {count}" for count in sorted(set(ask.devices) - counts)]
        notes += [f"{option} is not measured: one_device uses one device; use --strategy mirrored for several" for option in left]
    return notes


def groups(configurations: list[Configuration]) -> dict[int, list[Configuration]]:
    """Group the configurations by the logical CPU devices that their process needs (0: no CPU device), fewest first."""
    groups_by_size: dict[int, list[Configuration]] = {}
    for configuration in configurations:
        if not configuration.reason:
            cpus = len(configuration.devices) if configuration.devices[0].startswith("CPU") else 0
            groups_by_size.setdefault(cpus, []).append(configuration)
    return dict(sorted(groups_by_size.items()))


def epochs(ask: Ask) -> int:
    """Return the epochs of a repeat; with a target accuracy, the maximum."""
    return ask.epochs or (1 if ask.target_accuracy is None else MOST_EPOCHS)


def steps(ask: Ask, devices: list[str]) -> int:
    """Return the steps of an epoch; 0: a full pass over finite data."""
    if ask.steps or ask.data != "synthetic":
        return ask.steps
    return DEFAULT_STEPS["GPU" if any(device.startswith("GPU") for device in devices) else "CPU"]
