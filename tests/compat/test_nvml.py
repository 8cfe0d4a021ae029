from gpucheck.compat import nvml


def test_idle_and_power_cap_are_ordinary() -> None:
    assert nvml.harmful_reasons(0x0) == []
    assert nvml.harmful_reasons(0x1 | 0x4) == []


def test_heat_and_power_brake_are_harmful() -> None:
    assert nvml.harmful_reasons(0x8 | 0x40 | 0x4) == ["HwSlowdown", "HwThermalSlowdown"]
    assert nvml.harmful_reasons(0x20 | 0x80) == ["SwThermalSlowdown", "HwPowerBrakeSlowdown"]


def test_bits_of_newer_drivers_are_left_out() -> None:
    assert nvml.harmful_reasons(0x10000) == []
    assert nvml.harmful_reasons(0x10000 | 0x8) == ["HwSlowdown"]
