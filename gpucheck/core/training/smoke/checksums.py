"""Repeat computations on each device: the results must have the same bits each time, and on all devices of the same model.

``steps`` trains from a fixed seed, in operations that TensorFlow makes deterministic. ``operations`` (``--full``, ``--soak``) are
large products, a convolution, a sum and patterns in memory whose exact result is known, so rounding can't explain a difference.
Everything runs eagerly: nothing has to be traced for each device.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucheck.core.child.messages.training import Checksums, DeviceChecksums
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training.smoke import network
from gpucheck.core.training.smoke.exact import PRECISIONS, Operation, exact_operations
from gpucheck.core.training.smoke.proof import first_sentence

ROUNDS = 2
STEPS = 4
FULL_FLOAT32_SHARE = 0.1  # of the time of a soak
RATE = 0.1  # of learning
BATCH = {"CPU": 2, "GPU": 64}
SIZE = {"CPU": 256, "GPU": 4096}  # rows and columns of a product
TIMES = {"CPU": 1, "GPU": 50}  # an operation's repetitions per round of a soak, between which Python trains some steps
BLOCK_BYTES = 64 << 20  # of a pattern in memory
PATTERNS = {"0x55": 1.46601547e13, "0xAA": -3.03164882e-13}  # every byte, as float32
MEMORY_SHARE = 0.5  # of the free memory

if TYPE_CHECKING:
    Step = Callable[[int, Any, Any, Any], tuple[Any, Any, Any]]


class Setting(NamedTuple):
    """The settings of all devices."""

    tf: Any
    step: Step
    every: bool  # whether to include the operations and the other precisions
    soak_seconds: float  # repeat for this time, at least ``ROUNDS`` times
    free_bytes: dict[str, int]  # free memory by GPU number


def run(reporter: Reporter, setting: Setting, names: dict[str, str]) -> None:
    """Compute on all devices at the same time, and report; ``names`` are logical names by device name."""
    length = f" for {setting.soak_seconds / 60:g} min" if setting.soak_seconds else ""
    reporter.begin(Checksums, step=f"repeating computations{length}")
    switch = getattr(setting.tf.config.experimental, "enable_op_determinism", None)
    if switch is None:
        reporter.end(Checksums((), problem="this TensorFlow has no deterministic operations (it needs 2.9)"))
        return
    try:
        switch()
        with ThreadPoolExecutor(len(names)) as pool:
            tf32 = setting.every and setting.tf.config.experimental.tensor_float_32_execution_enabled()
            share = 1 - FULL_FLOAT32_SHARE if tf32 else 1.0
            usual = setting._replace(soak_seconds=share * setting.soak_seconds)
            repeated = {name: Repeated(setting.tf, logical) for name, logical in names.items()}
            found = tuple(pool.map(lambda name: device_checksums(usual, name, repeated[name]), names))
            if tf32:
                _without_tf32(setting, pool, repeated)
        kind = found[0].device.partition(":")[0]
        reference: tuple[float, ...] = ()
        if kind != "CPU" and len({device.losses for device in found}) > 1:
            _, reference = steps(setting.tf, "CPU:0", "float32", setting.step, BATCH[kind])
        reporter.end(Checksums(found, reference=reference))
    except Exception as error:
        reporter.end(Checksums((), problem=first_sentence(error)))
    finally:
        _disable_determinism()


def _disable_determinism() -> None:
    """Restore the normal speed for what runs later in this process."""
    try:
        from tensorflow.python.framework import config

        config.disable_op_determinism()
    except (ImportError, AttributeError):  # not a public interface: what runs later is slower, not wrong
        return


def device_checksums(setting: Setting, device: str, repeated: Repeated) -> DeviceChecksums:
    """Compute on one device until the time is up; results added to ``repeated`` later also appear in the returned object."""
    kind, _, number = device.partition(":")
    began, rounds = time.monotonic(), 0
    losses: tuple[float, ...] = ()
    with setting.tf.device("/" + repeated.logical):
        if setting.soak_seconds:
            free = setting.free_bytes.get(number, 0) if kind == "GPU" else 0
            repeated.memory(int(MEMORY_SHARE * free))
        operations = list(exact_operations(setting.tf, SIZE[kind])) if setting.every else []
        while rounds < ROUNDS or time.monotonic() < began + setting.soak_seconds:
            for precision in PRECISIONS if setting.every else PRECISIONS[:1]:
                try:
                    found, of_steps = steps(setting.tf, repeated.logical, precision, setting.step, BATCH[kind])
                except Exception as error:
                    repeated.unavailable[f"{precision} steps"] = first_sentence(error)
                    continue
                repeated.note(found)
                losses = losses or of_steps
            for operation in operations:
                for _ in range(TIMES[kind] if setting.soak_seconds else 1):
                    repeated.compute(operation)
            rounds += 1
    return DeviceChecksums(
        device=device,
        model=model(setting.tf, device),
        rounds=rounds,
        seconds=round(time.monotonic() - began, 3),
        checksums=repeated.checksums,
        losses=losses,
        unstable=repeated.unstable,
        wrong=repeated.wrong,
        unavailable=repeated.unavailable,
    )


def _without_tf32(setting: Setting, pool: ThreadPoolExecutor, repeated: dict[str, Repeated]) -> None:
    """Add the product in full float32, where TF32 was used before: it is disabled for the whole process, so at the end."""
    config = setting.tf.config.experimental
    config.enable_tensor_float_32_execution(False)
    try:
        list(pool.map(lambda device: _full_float32(setting, device, repeated[device]), repeated))
    finally:
        config.enable_tensor_float_32_execution(True)


def _full_float32(setting: Setting, device: str, repeated: Repeated) -> None:
    kind = device.partition(":")[0]
    began, rounds = time.monotonic(), 0
    with setting.tf.device("/" + repeated.logical):
        product = next(exact_operations(setting.tf, SIZE[kind]))._replace(name="full float32 product")
        while rounds < ROUNDS or time.monotonic() < began + FULL_FLOAT32_SHARE * setting.soak_seconds:
            repeated.compute(product)
            rounds += 1


def model(tf: Any, device: str) -> str | None:
    """Return a device's product name, "CPU" for the CPU; None: not reported by TensorFlow."""
    if device.startswith("CPU"):
        return "CPU"
    gpus = tf.config.list_physical_devices("GPU")
    known: list[str | None] = [tf.config.experimental.get_device_details(gpu).get("device_name") for gpu in gpus]
    if len(set(known)) == 1:
        return known[0]
    number = int(device.partition(":")[2])
    whole = len(gpus) == len(tf.config.list_logical_devices("GPU"))  # otherwise the GPUs can't be matched by number
    return known[number] if whole and number < len(known) else None


def training_step(tf: Any) -> Step:
    """Return a training step: given its number, images, one-hot labels and weights, it returns loss, gradients, new weights."""

    def step(_: int, images: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            hidden = tf.nn.relu(tf.nn.conv2d(images, weights[0], 2, "SAME"))
            hidden = tf.nn.relu(tf.nn.conv2d(hidden, weights[1], 2, "SAME"))
            scores = tf.cast(tf.matmul(tf.reduce_mean(hidden, (1, 2)), weights[2]), tf.float32)
            loss = tf.reduce_mean(tf.reduce_logsumexp(scores, 1) - tf.reduce_sum(scores * labels, 1))
        gradients = tape.gradient(loss, weights)
        return loss, gradients, [weight - RATE * gradient for weight, gradient in zip(weights, gradients)]

    return step


def steps(tf: Any, logical: str, precision: str, step: Step, batch: int) -> tuple[dict[str, str], tuple[float, ...]]:
    """Train a small network for a few steps; return the checksums in order, and the losses."""
    import numpy as np

    random = np.random.default_rng(network.SEED)
    found: dict[str, str] = {}
    losses = []
    samples, classes = network.arrays(batch)
    shapes = ((3, 3, 3, 32), (3, 3, 32, 64), (64, network.CLASSES))
    with tf.device("/" + logical):
        images = tf.cast(tf.constant(samples), precision)
        labels = tf.constant(np.eye(network.CLASSES, dtype="float32")[classes])
        initial = (random.normal(size=shape) * (2 / np.prod(shape[:-1])) ** 0.5 for shape in shapes)
        weights = [tf.cast(tf.constant(values.astype("float32")), precision) for values in initial]
        for number in range(1, STEPS + 1):
            loss, gradients, weights = step(number, images, labels, weights)
            for what, tensors in (("loss", [loss]), ("gradients", gradients), ("weights", weights)):
                found[f"{precision} step {number} {what}"] = checksum(tensors)
            losses.append(float(loss))
    return found, tuple(losses)


def checksum(tensors: Any) -> str:
    """Return the CRC-32 of the bits of some tensors."""
    crc = 0
    for tensor in tensors:
        crc = zlib.crc32(tensor.numpy().tobytes(), crc)
    return f"{crc:08x}"


class Repeated:
    """The results of one device's computations, compared with the first ones."""

    def __init__(self, tf: Any, logical: str) -> None:
        """Start without results; ``logical`` is the device's logical name."""
        self.checksums: dict[str, str] = {}
        self.unstable: dict[str, int] = {}
        self.wrong: dict[str, float] = {}
        self.unavailable: dict[str, str] = {}
        self._tf, self.logical = tf, logical
        self._first: dict[str, Any] = {}  # results that stay on the device

    def note(self, found: dict[str, str]) -> None:
        """Compare checksums with the first round's. A wrong value changes all later ones, so only the first one is recorded."""
        differing = (name for name, value in found.items() if self.checksums.setdefault(name, value) != value)
        for name in list(differing)[:1]:
            self.unstable[name] = self.unstable.get(name, 0) + 1

    def compute(self, operation: Operation) -> None:
        """Compute once: compare the first result with the exact one, and later ones, on the device, with the first."""
        name = operation.name
        if name in self.unavailable:
            return
        try:
            result = operation.compute()
            if name in self._first:
                if self._differing(result, self._first[name]):
                    self.unstable[name] = self.unstable.get(name, 0) + 1
                return
            if not result.device.endswith(self.logical):
                raise NotImplementedError(f"TensorFlow computes it on {result.device.rpartition('device:')[2]}")
            self._first[name] = result
            self.checksums[name] = checksum([result])
            difference = _difference(result.numpy(), operation.exact)
        except Exception as error:
            self.unavailable[name] = first_sentence(error)
            return
        if not difference <= operation.tolerance:
            self.wrong[name] = difference

    def memory(self, size: int) -> None:
        """Write patterns to ``size`` bytes of memory, and read them back."""
        tf = self._tf
        for pattern, value in PATTERNS.items():
            try:
                blocks = [tf.fill([BLOCK_BYTES // 4], value) for _ in range(max(1, size // BLOCK_BYTES))]
                wrong = sum(self._differing(block, tf.constant(value)) for block in blocks)
                del blocks
            except Exception as error:
                self.unavailable[f"memory pattern {pattern}"] = first_sentence(error)
                continue
            if wrong:
                self.wrong[f"memory pattern {pattern}"] = wrong

    def _differing(self, result: Any, expected: Any) -> float:
        """Return how many values differ, counted on the device."""
        tf = self._tf
        return float(tf.reduce_sum(tf.cast(tf.not_equal(result, expected), tf.float32)))


def _difference(result: Any, exact: Any) -> float:
    """Return the largest difference of the first rows from the exact ones, relative to the largest value."""
    import numpy as np

    rows = result[: len(exact)].astype("float64")
    return float(np.abs(rows - exact).max() / np.abs(exact).max())
