"""Check XLA separately from training: it needs tools (ptxas, libdevice) that other kernels don't, and may abort without them."""

from __future__ import annotations

from typing import Any

from gpucheck.core.child.messages.training import XlaChecked
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.child.smoke.proof import first_sentence


def check(reporter: Reporter, tf: Any, device: str, names: dict[str, str]) -> None:
    """Compute one tiny XLA-compiled gradient on a device."""
    reporter.begin(XlaChecked, device)

    def gradient(inputs: Any, weights: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = tf.reduce_sum(tf.tanh(inputs @ weights) ** 2)
        return tape.gradient(loss, weights)

    try:
        with tf.device("/" + names.get(device, device)):
            value = tf.function(gradient, jit_compile=True)(tf.ones((8, 16)), tf.fill((16, 4), 0.01))
        finite = bool(tf.reduce_all(tf.math.is_finite(value)))
        result = XlaChecked(finite, None if finite else "its result is not finite")
    except Exception as error:
        result = XlaChecked(False, first_sentence(error))
    reporter.end(result, device)
