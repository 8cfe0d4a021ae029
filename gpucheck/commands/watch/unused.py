"""Determine with ``gpucheck --quick``, in a child process, why training runs on the CPU of a machine with GPUs."""

import json
import sys
from typing import Any, NamedTuple

from gpucheck.commands.watch.judge import Event
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model.wording import short

CHECK_SECONDS = 60.0  # limit of a quick check during training that keeps all processors busy


class Devices(NamedTuple):
    """The devices that TensorFlow uses in this process."""

    listed: int  # GPUs that TensorFlow lists
    visible: int  # of these, the GPUs that the program left visible (tf.config.set_visible_devices)
    model: str | None  # type of the device that holds the weights: "CPU", "GPU"


def devices(tensorflow: Any, model: Any) -> Devices:
    """Return the devices of a model, after its first step."""
    listed = len(tensorflow.config.list_physical_devices("GPU"))
    variables = getattr(model, "trainable_variables", None) or []
    value = getattr(variables[0], "value", None) if variables else None
    kind = str(getattr(value, "device", "")).partition("device:")[2].partition(":")[0]
    return Devices(listed, len(tensorflow.config.list_logical_devices("GPU")), kind or None)


def unlisted(tensorflow: Any, strategy: Any) -> Event | None:
    """Return the event for a strategy on devices that TensorFlow does not list, so its first step may never end."""
    if type(strategy).__name__ != "MirroredStrategy":  # other strategies may use devices of other hosts
        return None
    there = {device.name.rpartition("device:")[2] for device in tensorflow.config.list_logical_devices()}
    named = [name.rpartition("device:")[2] for name in strategy.extended.worker_devices]
    missing = [name for name in named if name not in there]
    if not missing:
        return None
    return Event(
        "replica-count-mismatch",
        f"the strategy uses {', '.join(missing)}, which TensorFlow does not list, so the first step may never end:"
        " build it without a list of devices, tf.distribute.MirroredStrategy()",
    )


def why(host: LocalHost, devices: Devices, gpus: int) -> Event | None:
    """Return the event for training on the CPU of a machine with GPUs; None without GPUs, or if the program chose the CPU.

    Args:
        host: the machine.
        devices: what TensorFlow uses.
        gpus: number of the machine's GPUs, from NVML.
    """
    if not gpus or devices.model != "CPU" or (devices.listed and not devices.visible):
        return None
    unused = "1 GPU is unused" if gpus == 1 else f"{gpus} GPUs are unused"
    if devices.listed:
        return Event(
            "cpu-fallback",
            f"training on the CPU; {unused}, although TensorFlow lists {devices.listed}:"
            ' remove tf.device("/CPU:0") around the model',
        )
    code, summary, command = _cause(host)
    if code is None:
        return Event("gpus-not-listed", f"training on the CPU; {unused}: TensorFlow lists none. Run in its environment: gpucheck")
    return Event(code, f"training on the CPU; {unused}: {short(summary)}", command)


def _cause(host: LocalHost) -> tuple[str | None, str, str]:
    """Return the root cause from a quick check: its code, its sentence, and the first command that fixes it."""
    argv = [sys.executable, "-m", "gpucheck", "--quick", "--format", "json", "--timeout", str(CHECK_SECONDS)]
    done = host.run(argv, CHECK_SECONDS)
    try:
        (finding, *_) = json.loads(done.stdout)["findings"]
        commands = [fix["command"] for fix in finding["fix"] if fix["command"] and fix["kind"] == "repair"]
        return finding["code"], finding["summary"], next(iter(commands), "")
    except (ValueError, KeyError, TypeError):  # no finding, or the check could not run
        return None, "", ""
