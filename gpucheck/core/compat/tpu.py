"""TPU generations, their PCI ids, and the libtpu versions for each tensorflow-tpu.

Sources: jax-ml/jax jax/_src/hardware_utils.py and AI-Hypercomputer/cloud-accelerator-diagnostics tpu_info/device.py
(PCI ids); cloud.google.com/tpu/docs/tpu7x (no TensorFlow); METADATA of the
tensorflow-tpu wheels on PyPI; symbols in the libtpu wheels (the entry point).
"""

from typing import Literal

import msgspec

from gpucheck.core.compat import versions


class Generation(msgspec.Struct, frozen=True):
    """One TPU generation; None means unknown."""

    name: str
    pci_device_id: str
    subsystem_device: str | None  # only where two generations share a device id
    tensorflow: Literal["yes", "no", "unknown", "limited"]


# Google's vendor id. Every Compute Engine network card (1ae0:0042) has it too, so the device id decides.
VENDOR = "0x1ae0"

GENERATIONS = (
    Generation("v2", "0x0027", "0x004e", "yes"),
    Generation("v3", "0x0027", "0x004f", "yes"),
    Generation("v4", "0x005e", None, "yes"),
    Generation("v5e", "0x0063", None, "yes"),
    Generation("v5p", "0x0062", None, "yes"),
    Generation("v6e", "0x006f", None, "limited"),  # images exist (2.15 and newer), but Google's guides omit TensorFlow
    Generation("tpu7x", "0x0076", None, "no"),
    Generation("tpu8i", "0x0083", None, "unknown"),
    Generation("tpu8t", "0x007c", None, "unknown"),
)

# libtpu 0.0.43.2 exports ConfigureDistributedTpuOp_DoWork, 0.0.45 does not, and TensorFlow aborts on import without it.
LIBTPU_LAST_WITH_TENSORFLOW_ENTRY = "0.0.43.2"
LIBTPU_FIRST_WITHOUT_TENSORFLOW_ENTRY = "0.0.45"
LIBTPU_PYTHON_MIN, LIBTPU_GLIBC = "3.11", "2.31"  # of 0.0.43.2: the file names on PyPI

LATEST_TENSORFLOW_TPU = "2.20.0"  # no 2.21 exists, and the plain tensorflow wheel has no TPU support
LIBTPU_PINS = {
    "2.16.1": "2.16.0rc0",
    "2.16.2": "2.16.0rc0",
    "2.17.0": "2.17.0",
    "2.17.1": "2.17.1",
    "2.18.0": "2.18.0",
    "2.19.1": "0.0.10",
}
# libtpu up to 2.18.0 is not on PyPI: pip needs -f with this page.
LIBTPU_INDEX = "https://storage.googleapis.com/libtpu-tf-releases/index.html"

CONNECT_SECONDS = 60.0  # at most half of a run's remaining time: the other half is for the other devices
LOCK_FILE = "/tmp/libtpu_lockfile"  # noqa: S108 (libtpu's own choice)


def generation(device_id: str, subsystem_device: str | None) -> Generation | None:
    """Return the generation for PCI ids as in sysfs ('0x0063'); None if the device is not a known TPU.

    v2 and v3 differ only in the subsystem; if that is unknown, v3 is returned, as in JAX.
    """
    matches = [entry for entry in GENERATIONS if entry.pci_device_id == device_id.strip().lower()]
    subsystem = (subsystem_device or "").strip().lower()
    for entry in matches:
        if entry.subsystem_device in (None, subsystem):
            return entry
    return matches[-1] if matches else None


def generation_of(accelerator_type: str) -> str | None:
    """Return the generation of an accelerator type ("v5litepod-8": "v5e"); None if it is unknown."""
    kind = accelerator_type.strip().lower().partition("-")[0]
    name = {"v5litepod": "v5e", "v5lite": "v5e"}.get(kind, kind)
    return name if name in {known.name for known in GENERATIONS} else None


# Docker's options that pass the TPU to a container (https://cloud.google.com/tpu/docs/run-in-container).
RUN_OPTIONS = "--privileged --net=host"


def libtpu_matches(tensorflow_tpu_version: str, libtpu_version: str) -> bool | None:
    """Whether this libtpu works with this tensorflow-tpu; None if unknown."""
    pin = LIBTPU_PINS.get(tensorflow_tpu_version)
    if not versions.parse(libtpu_version):
        return None
    if pin is not None:
        return libtpu_version == pin
    if versions.minor(tensorflow_tpu_version) != "2.20":
        return None
    too_new = versions.at_least(libtpu_version, LIBTPU_FIRST_WITHOUT_TENSORFLOW_ENTRY)
    if too_new or not versions.at_least(libtpu_version, "0.0.14"):
        return False
    return True if versions.at_least(LIBTPU_LAST_WITH_TENSORFLOW_ENTRY, libtpu_version) else None
