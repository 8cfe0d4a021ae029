"""Comparison of the checksums of computations that must have the same results everywhere."""

from collections.abc import Iterator, Mapping

import msgspec

from gpucheck.core.child.messages.training import Checksums, DeviceChecksums


class Difference(msgspec.Struct, frozen=True):
    """The first computation whose results differ, and the devices or nodes that differ."""

    computation: str
    outliers: tuple[str, ...]  # those that differ from the largest group
    matching: tuple[str, ...]  # the largest group
    majority: bool  # the largest group is larger than any other: the outliers are wrong


def first_difference(results: Mapping[str, Mapping[str, str]]) -> Difference | None:
    """Return the first difference, in the order of computations. ``results``: device or node -> computation -> checksum."""
    for computation in dict.fromkeys(name for checksums in results.values() for name in checksums):
        groups: dict[str, list[str]] = {}
        for who, checksums in results.items():
            if computation in checksums:
                groups.setdefault(checksums[computation], []).append(who)
        if len(groups) > 1:
            matching, *others = sorted(groups.values(), key=len, reverse=True)
            outliers = tuple(who for group in others for who in group)
            return Difference(computation, outliers, tuple(matching), majority=len(matching) > len(others[0]))
    return None


def between_devices(checksums: Checksums) -> Iterator[tuple[Difference, dict[str, DeviceChecksums]]]:
    """Yield, for each model whose devices differ, the first difference between them, and these devices by name."""
    for model in dict.fromkeys(device.model for device in checksums.devices if device.model is not None):
        members = {device.device: device for device in checksums.devices if device.model == model}
        difference = first_difference({name: device.checksums for name, device in members.items()})
        if difference is not None:
            yield difference, members


def agree(checksums: Checksums) -> bool:
    """Whether every result was correct, equal on repetition, and equal on all devices of the same model."""
    return not any(device.wrong or device.unstable for device in checksums.devices) and not any(between_devices(checksums))


def describe(computation: str) -> str:
    """Describe a computation: 'the gradients of step 2 in float32', 'the int8 product'."""
    words = computation.split()
    if "step" in words:
        precision, _, number, what = words
        return f"the {what} of step {number} in {precision}"
    return f"the {computation}"
