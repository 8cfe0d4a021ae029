import msgspec
import pytest
from fakes import FakeHost, machine

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.pci import Pci, PciFunction, read

DEVICES = "/sys/bus/pci/devices"


def bus(*functions):
    """Files and links of sysfs: (address, vendor, device, class, driver or None)."""
    files, links = {}, {}
    for address, vendor, device, code, driver in functions:
        values = {"vendor": vendor, "device": device, "class": code, "subsystem_device": "0x18be"}
        files.update({f"{DEVICES}/{address}/{name}": f"{value}\n" for name, value in values.items()})
        if driver:
            links[f"{DEVICES}/{address}/driver"] = f"../../../bus/pci/drivers/{driver}"
    return {"files": files, "links": links}


class Counting(FakeHost):
    def read(self, path, limit_bytes=1 << 20):
        self.paths = [*getattr(self, "paths", []), path]
        return super().read(path, limit_bytes)


def test_recorded_h200():
    host = FakeHost(**bus(("0000:00:06.0", "0x10de", "0x2335", "0x030200", "nvidia")))
    assert read(host) == msgspec.convert(machine("h200")["pci"], Pci)


def test_four_gpus_with_audio_switches_and_neighbours():
    gpus = [(f"0000:{slot}:00.0", "0x10de", "0x20b0", "0x030200", "nouveau") for slot in ("07", "0f", "47", "4e")]
    pci = read(
        FakeHost(
            **bus(
                *gpus,
                ("0000:07:00.1", "0x10de", "0x10f0", "0x040300", "snd_hda_intel"),
                ("0000:c4:00.0", "0x10de", "0x1af1", "0x068000", "nvidia-nvswitch"),
                ("0000:00:1f.0", "0x8086", "0xa1c8", "0x060100", None),
                ("0000:00:02.0", "0x8086", "0x9bc4", "0x030000", "i915"),
            )
        )
    )
    assert [gpu.address for gpu in pci.gpus] == [address for address, *_ in gpus]
    assert {gpu.kernel_driver for gpu in pci.gpus} == {"nouveau"}
    assert [switch.device_id for switch in pci.nvswitches] == ["0x1af1"]
    assert (pci.readable, pci.amd_gpus, pci.google) == (True, (), ())


def test_no_driver_bound():
    (gpu,) = read(FakeHost(**bus(("0001:00:00.0", "0x10DE", "0x2335", "0x030000", None)))).gpus
    assert gpu == PciFunction(
        address="0001:00:00.0",
        vendor_id="0x10de",
        device_id="0x2335",
        subsystem_device_id="0x18be",
        class_code="0x030000",
    )


def test_amd_and_google():
    pci = read(
        FakeHost(
            **bus(
                ("0000:03:00.0", "0x1002", "0x744c", "0x030000", "amdgpu"),
                ("0000:05:00.0", "0x1002", "0x74a1", "0x120000", "amdgpu"),  # an Instinct accelerator
                ("0000:03:00.1", "0x1002", "0xab30", "0x040300", None),
                ("0000:00:04.0", "0x1ae0", "0x0042", "0x020000", "gvnic"),
                ("0000:00:05.0", "0x1ae0", "0x0063", "0x120000", "vfio-pci"),
            )
        )
    )
    assert [gpu.device_id for gpu in pci.amd_gpus] == ["0x744c", "0x74a1"]
    assert [(function.device_id, function.kernel_driver) for function in pci.google] == [
        ("0x0042", "gvnic"),
        ("0x0063", "vfio-pci"),
    ]
    assert pci.gpus == ()


def test_of_other_vendors_only_the_vendor_is_read():
    others = [(f"0000:{number:02x}:00.0", "0x8086", "0x1", "0x060400", None) for number in range(200)]
    host = Counting(**bus(*others))
    assert read(host) == Pci(readable=True)
    assert len(host.paths) == 200


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_no_bus_to_read(platform):
    assert read(FakeHost(platform=platform)) == Pci(readable=False)
    assert read(FakeHost(folders=(DEVICES,), platform=platform)) == Pci(readable=False)


def test_this_machine():
    with LocalHost(Request()) as host:
        pci = read(host)
        assert pci.readable is bool(host.names(DEVICES))
    for gpu in pci.gpus:
        assert gpu.vendor_id == "0x10de"
        assert gpu.class_code.startswith("0x03")
