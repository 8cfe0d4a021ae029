"""From what was asked and what devices there are to a list of configurations. No clock, no machine."""

from gpucheck.commands.bench.model import Ask
from gpucheck.core.child.messages.benchmark import Configuration
from gpucheck.core.training.strategies import load_all

PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16")
DEFAULT_BATCH = {"CPU": 16, "GPU": 64}  # per replica, as in the smoke job
DEFAULT_STEPS = {"CPU": 10, "GPU": 50}
DEFAULT_CPU_DEVICES = 2
MOST_CPU_DEVICES = 64  # logical ones; each is a thread pool
NO_XLA = "several devices are not measured with XLA: Keras compiles the step across the replicas, which XLA refuses"
MOST_EPOCHS = 20  # where a target accuracy is asked for and no number of epochs


class Refused(Exception):
    """Nothing can be measured as asked. ``exit_code`` 2: asked wrongly; 3: this machine can't."""

    def __init__(self, words: str, exit_code: int) -> None:
        super().__init__(words)
        self.exit_code = exit_code


def plan(ask: Ask, devices: list[str]) -> tuple[list[Configuration], list[str]]:
    """Every combination that applies, and notes on what does not.

    Args:
        ask: what was asked.
        devices: TensorFlow's physical devices: ["CPU:0", "GPU:0"].

    Raises:
        Refused: more devices than there are, or no accelerator and no leave to measure the CPU.
    """
    gpus = [device for device in devices if device.startswith("GPU")]
    if not gpus and not ask.allow_cpu:
        raise Refused("TensorFlow lists no GPU here; --allow-cpu measures the CPU, `gpucheck` says why there is none", 3)
    kind, here = ("GPU", len(gpus)) if gpus else ("CPU", MOST_CPU_DEVICES)
    everything = here if gpus else DEFAULT_CPU_DEVICES
    counts = sorted(set(ask.devices)) or sorted({1, everything})
    if counts[-1] > here:
        there = f"TensorFlow lists {here} GPU{'s' * (here != 1)}" if gpus else f"the CPU is split into {here} at most"
        raise Refused(f"--devices {counts[-1]}: {there}", 2)
    notes: list[str] = []
    strategies = {name: strategy for name, strategy in load_all().items() if "tensorflow" in strategy.backends}
    measured = [name for name, strategy in strategies.items() if strategy.not_in_bench is None]
    wanted = [name for name in measured if name in ask.strategies or not ask.strategies]
    unmeasured = {name: strategies[name].not_in_bench for name in ask.strategies if strategies[name].not_in_bench}
    placements = _placements(wanted, counts)
    notes += _unplaced(ask, wanted, placements)
    configurations: list[Configuration] = []
    for batch_size in ask.batch_sizes or (DEFAULT_BATCH[kind],):
        for precision in ask.precisions or PRECISIONS[:1]:
            configurations += [
                Configuration(name, (), precision, False, batch_size, reason) for name, reason in unmeasured.items()
            ]
            for xla in {"off": (False,), "on": (True,), "both": (False, True)}[ask.xla]:
                for strategy, count in placements:
                    if xla and count > 1:
                        notes += [note for note in (NO_XLA,) if note not in notes]
                        continue
                    names = tuple(f"{kind}:{number}" for number in range(count))
                    configurations.append(Configuration(strategy, names, precision, xla, batch_size))
    if all(configuration.reason for configuration in configurations):
        notes += [f"{name} is not measured: {reason}" for name, reason in unmeasured.items()]
        raise Refused(f"nothing to measure: {'; '.join(notes)}", 2)
    notes += _remarks(configurations, bool(gpus))
    if "one_device" in wanted and counts == [1] and not ask.devices and gpus:
        notes.append("mirrored is not measured: there is one GPU")
    return configurations, notes


def _remarks(configurations: list[Configuration], on_gpus: bool) -> list[str]:
    """What a reader has to know of the scaling figures."""
    several = any(len(configuration.devices) > 1 for configuration in configurations)
    remarks = []
    if several and not on_gpus:
        remarks.append(
            "the devices are logical parts of one CPU and share its cores: no speed-up is to be expected from more of them"
        )
    if several and not any(len(configuration.devices) == 1 for configuration in configurations):
        remarks.append("no scaling efficiency: one device is not measured in this run (add --devices 1)")
    return remarks


def _placements(wanted: list[str], counts: list[int]) -> list[tuple[str, int]]:
    """One device by one_device, several by mirrored; by mirrored alone every number of them."""
    alone = "one_device" not in wanted
    placements = [("one_device", 1)] if "one_device" in wanted and 1 in counts else []
    return placements + [("mirrored", count) for count in counts if "mirrored" in wanted and (count > 1 or alone)]


def _unplaced(ask: Ask, wanted: list[str], placements: list[tuple[str, int]]) -> list[str]:
    """What was asked for by name or number, and is measured in no combination."""
    reason = {"one_device": "it takes --devices 1", "mirrored": "with --devices 1, one_device is; it takes more"}
    strategies, counts = {name for name, _ in placements}, {count for _, count in placements}
    notes = [f"{name} is not measured: {reason[name]}" for name in wanted if name in ask.strategies and name not in strategies]
    if wanted:
        left = [f"--devices {count}" for count in sorted(set(ask.devices) - counts)]
        notes += [f"{option} is not measured: one_device trains on one; --strategy mirrored takes several" for option in left]
    return notes


def groups(configurations: list[Configuration]) -> dict[int, list[Configuration]]:
    """What is measured, by the logical CPU devices its process needs (0: no CPU device), fewest first."""
    groups_by_size: dict[int, list[Configuration]] = {}
    for configuration in configurations:
        if not configuration.reason:
            cpus = len(configuration.devices) if configuration.devices[0].startswith("CPU") else 0
            groups_by_size.setdefault(cpus, []).append(configuration)
    return dict(sorted(groups_by_size.items()))


def epochs(ask: Ask) -> int:
    """Epochs of a repeat, or the most of them on the way to a target."""
    return ask.epochs or (1 if ask.target_accuracy is None else MOST_EPOCHS)


def steps(ask: Ask, devices: list[str]) -> int:
    """Steps of an epoch; 0: a whole pass over the data, where the data has an end."""
    if ask.steps or ask.data != "synthetic":
        return ask.steps
    return DEFAULT_STEPS["GPU" if any(device.startswith("GPU") for device in devices) else "CPU"]
