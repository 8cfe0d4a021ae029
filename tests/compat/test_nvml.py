import re

from gpucheck.compat import nvml


def test_what_a_healthy_gpu_answers_is_not_fatal() -> None:
    for code in (0, 3, 4, 6, 13, 21, 26):
        assert not nvml.NVML_RESULTS[code].fatal


def test_what_ends_all_work_is_fatal() -> None:
    assert {code for code, result in nvml.NVML_RESULTS.items() if result.fatal} == {8, 9, 11, 12, 15, 16, 17, 18, 28}


def test_results_name_their_causes() -> None:
    assert nvml.NVML_RESULTS[9].codes == ("driver-not-loaded",)
    assert nvml.NVML_RESULTS[15].codes == ("gpu-lost",)
    assert nvml.NVML_RESULTS[18].codes == ("driver-library-mismatch",)


def test_results_are_written_alike() -> None:
    for code, result in nvml.NVML_RESULTS.items():
        assert result.name.startswith("NVML_"), code
        assert not result.meaning.endswith("."), code
        assert result.codes or not result.fatal, code
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", diagnosis) for diagnosis in result.codes), code


def test_idle_and_power_cap_are_ordinary() -> None:
    assert nvml.harmful_reasons(0x0) == []
    assert nvml.harmful_reasons(0x1 | 0x4) == []


def test_heat_and_power_brake_are_harmful() -> None:
    assert nvml.harmful_reasons(0x8 | 0x40 | 0x4) == ["HwSlowdown", "HwThermalSlowdown"]
    assert nvml.harmful_reasons(0x20 | 0x80) == ["SwThermalSlowdown", "HwPowerBrakeSlowdown"]


def test_bits_of_newer_drivers_are_left_out() -> None:
    assert nvml.harmful_reasons(0x10000) == []
    assert nvml.harmful_reasons(0x10000 | 0x8) == ["HwSlowdown"]
