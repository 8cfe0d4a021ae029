"""Findings from computations that were repeated on each device."""

from collections.abc import Iterator

import msgspec

from gpucheck.core.model import Checksums, DeviceChecksums
from gpucheck.core.model.checksums import Difference, between_devices, describe
from gpucheck.core.model.naming import devices

FARTHER = 10  # times: rounding makes two sound devices about equally far


class Fault(msgspec.Struct, frozen=True):
    """A device that computes wrongly."""

    summary: str
    places: tuple[str, ...]  # fields of the checksums that show it
    affects: tuple[str, ...]
    sure: bool = True  # False: different kernels of a library could also explain the difference


def faults(checksums: Checksums) -> Iterator[Fault]:
    """Yield faults, the most certain first: a wrong result, a device that varies, devices of one model that differ."""
    for place, device in enumerate(checksums.devices):
        for computation, distance in device.wrong.items():
            yield Fault(_wrong(device, computation, distance), (f"devices[{place}].wrong",), (device.device,))
    for place, device in enumerate(checksums.devices):
        for computation, rounds in device.unstable.items():
            yield Fault(
                f"{device.device} gets different results from the same computation: {describe(computation)} differed in {rounds} of"
                f" {device.rounds - 1} repetitions.",
                (f"devices[{place}].unstable",),
                (device.device,),
            )
    for difference, members in between_devices(checksums):
        yield _between(difference, members, checksums)


def _wrong(device: DeviceChecksums, computation: str, difference: float) -> str:
    if computation.startswith("memory"):
        return f"{device.device} does not keep its memory: {difference:,.0f} values of {describe(computation)} were read back changed."
    return f"{device.device} computes {describe(computation)} wrongly: it differs by {difference:.2g} of its largest value."


def _between(difference: Difference, members: dict[str, DeviceChecksums], checksums: Checksums) -> Fault:
    odd = difference.odd if difference.majority else _farthest(members, checksums.reference)
    affected = odd or tuple(sorted(difference.odd + difference.usual))
    others = tuple(name for name in members if name not in affected)
    model = members[affected[0]].model
    if others:
        what = (
            f"{devices(affected)} {'gets' if len(affected) == 1 else 'get'} other results than {devices(others)}, the same model"
        )
    else:
        what = f"{devices(affected)} get different results, although they are the same model"
    numbers = {device.device: place for place, device in enumerate(checksums.devices)}
    shown = (affected[0], others[0] if others else affected[-1])
    return Fault(
        f"{what} ({model}): they first differ in {describe(difference.computation)}.",
        tuple(f"devices[{numbers[name]}].checksums.{difference.computation}" for name in shown),
        affected,
        sure=False,
    )


def _farthest(members: dict[str, DeviceChecksums], reference: tuple[float, ...]) -> tuple[str, ...]:
    """Return which of two devices has losses much farther from the CPU's; empty if undecided."""
    distances = {
        name: max((abs(here - there) for here, there in zip(device.losses, reference, strict=False)), default=0.0)
        for name, device in members.items()
    }
    near, *others = sorted(distances, key=lambda name: distances[name])
    return (others[0],) if len(others) == 1 and distances[others[0]] > FARTHER * distances[near] else ()
