"""Computations repeated on logical devices of the CPU: healthy devices pass, and a device with an arithmetic fault is named."""

import msgspec
import pytest
from in_tensorflow import MARKS, printed_by

from gpucheck.core.child.messages.training import Checksums
from gpucheck.core.model.checksums import Difference, first_difference
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.accuracy_changes import device_results_differ

BEGINNING = """
import json, sys
sys.modules["gpucheck.core.child.boot"] = None  # as in a child: the environment may have no msgspec
import numpy as np
import tensorflow as tf
count, times = map(int, sys.argv[1:])
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
from gpucheck.core.child.messages.struct import to_builtins
from gpucheck.core.training.smoke import checksums, exact

class Reporter:
    def begin(self, kind, step):
        pass
    def end(self, message):
        self.message = message

def repeated(step=None, every=False, soak_seconds=0.0):
    reporter = Reporter()
    setting = checksums.Setting(tf, step or checksums.training_step(tf), every, soak_seconds, {})
    checksums.run(reporter, setting, {f"CPU:{number}": f"CPU:{number}" for number in range(count)})
    return to_builtins(reporter.message)
"""
CLEAN = BEGINNING + "print(json.dumps([repeated() for _ in range(times)]))"
EVERYTHING = BEGINNING + "print(json.dumps(repeated(every=True, soak_seconds=0.1)))"
# A device flips a bit of one weight, gradient or input of a layer at step n, or has a kernel with a wrong result; every time, or once.
FAULTY = (
    BEGINNING
    + """
random = np.random.default_rng(1)

def flipped(tensor):
    values = tensor.numpy()
    place, bit = random.integers(values.size), int(random.integers(16, 31))
    values.reshape(-1).view(np.uint32)[place] ^= np.uint32(1 << bit)
    return tf.constant(values)

def faulty(kind, when, often):
    original, met = checksums.training_step(tf), []
    def step(number, images, labels, weights):
        if number != when or not images.device.endswith("CPU:1") or (met and not often):
            return original(number, images, labels, weights)
        met.append(number)
        if kind == "weight":
            weights = [flipped(weights[0]), *weights[1:]]
        if kind == "activation":
            images = flipped(images)
        if kind == "kernel":
            images = tf.cast(tf.cast(images, tf.float16), tf.float32)
        loss, gradients, after = original(number, images, labels, weights)
        if kind == "gradient":
            gradients = [flipped(gradients[0]), *gradients[1:]]
            after = [weight - checksums.RATE * gradient for weight, gradient in zip(weights, gradients)]
        return loss, gradients, after
    return step

kinds = [(kind, when, often) for often in (True, False) for kind in ("weight", "activation", "gradient", "kernel") for when in (1, 2, 3, 4)]
chosen = [kinds[number % len(kinds)] for number in range(0, 5 * times, 5)]
print(json.dumps([(*kind, repeated(faulty(*kind))) for kind in chosen]))
"""
)
WRONG = (
    BEGINNING
    + """
known = np.arange(12.0).reshape(3, 4)
def operation(name, *results):
    given = iter(results)
    return exact.Operation(name, lambda: tf.constant(next(given), tf.float32), known, 0.0)
off = known.copy()
off[1, 2] += 0.5
repeated = checksums.Repeated(tf, "CPU:0")
for one in (operation("same", known, known), operation("off", off, off), operation("unstable", known, off)):
    for _ in range(2):
        repeated.compute(one)
with tf.device("/CPU:1"):
    repeated.compute(operation("elsewhere", known))
print(json.dumps([repeated.wrong, repeated.unstable, repeated.unavailable, sorted(repeated.checksums)]))
"""
)
PART = 50  # repetitions per process


def fault_in(message):
    return device_results_differ.check(Training(checksums=msgspec.convert(message, Checksums)), Context())


class TestOnTensorFlow:
    pytestmark = MARKS

    @pytest.mark.parametrize(
        ("devices", "times"),
        # docs/experiments.md has 1,000 repetitions for each release; these check changes of the code.
        [pytest.param(devices, 200, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]) for devices in (1, 2, 8)],
    )
    def test_healthy_devices_have_no_faults(self, devices, times):
        parts = [min(times, PART)] * max(1, times // PART)
        messages = [message for part in parts for message in printed_by(CLEAN, str(devices), str(part))]
        assert len(messages) == times
        assert {message["problem"] for message in messages} == {None}
        assert all(len(device["checksums"]) == 12 for message in messages for device in message["devices"])
        assert [fault.summary for fault in map(fault_in, messages) if fault is not None] == []
        assert len({tuple(device["losses"]) for message in messages for device in message["devices"]}) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("times", [8, 100])
    def test_faulty_device_and_its_step_are_named(self, times):
        found = printed_by(FAULTY, "3", str(times))
        assert len(found) == times
        for kind, step, often, message in found:
            fault = fault_in(message)
            assert fault.affects == ("CPU:1",), (kind, step, often)
            assert f"step {step} in float32" in fault.summary, (kind, step, often)

    def test_all_computations_match_their_known_results(self):
        message = printed_by(EVERYTHING, "2", "1")
        assert fault_in(message) is None
        for device in message["devices"]:
            assert device["unavailable"] == {}
            assert {"float32 sum", "full float32 product", "int8 product", "bfloat16 product", "float16 step 4 weights"} <= set(
                device["checksums"]
            )

    def test_wrong_and_unstable_results_of_known_computations_are_detected(self):
        wrong, unstable, unavailable, compared = printed_by(WRONG, "2", "1")
        assert wrong == {"off": pytest.approx(0.5 / 11)}
        assert unstable == {"unstable": 1}
        assert unavailable == {"elsewhere": "NotImplementedError: TensorFlow computes it on CPU:1"}
        assert compared == ["off", "same", "unstable"]


def test_first_difference_with_and_without_a_majority():
    results = {"a": {"x": "1", "y": "2"}, "b": {"x": "1", "y": "3"}, "c": {"x": "1"}}
    assert first_difference(results) == Difference("y", ("b",), ("a",), majority=False)
    assert first_difference({**results, "c": {"y": "3"}}) == Difference("y", ("a",), ("b", "c"), majority=True)
    assert first_difference({"a": {"x": "1"}, "b": {"y": "1"}}) is None
