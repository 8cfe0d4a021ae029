import pytest

from gpucheck.compat import tpu


@pytest.mark.parametrize(
    ("device", "subsystem", "name"),
    [
        ("0x0027", "0x004e", "v2"),
        ("0x0027", "0x004f", "v3"),
        ("0x0027", None, "v3"),
        ("0x005e", None, "v4"),
        ("0x0063", "0x1234", "v5e"),
        ("0x006F\n", None, "v6e"),
        ("0x0076", None, "tpu7x"),
    ],
)
def test_generation(device: str, subsystem: str | None, name: str) -> None:
    found = tpu.generation(device, subsystem)
    assert found is not None
    assert found.name == name


def test_googles_network_card_is_no_tpu() -> None:
    assert tpu.generation("0x0042", None) is None


def test_tensorflow_does_not_run_on_tpu7x() -> None:
    assert [known.name for known in tpu.GENERATIONS if known.tensorflow == "no"] == ["tpu7x"]


@pytest.mark.parametrize(
    ("tensorflow_tpu", "libtpu", "fits"),
    [
        ("2.20.0", "0.0.14", True),
        ("2.20.0", "0.0.43.2", True),
        ("2.20.0", "0.0.44", None),  # between what was read
        ("2.20.0", "0.0.45", False),
        ("2.20.0", "0.0.51", False),
        ("2.20.0", "0.0.13", False),
        ("2.19.1", "0.0.10", True),
        ("2.19.1", "0.0.14", False),
        ("2.18.0", "2.18.0", True),
        ("2.18.0", "0.0.17", False),
        ("2.16.2", "2.16.0rc0", True),
        ("2.15.0", "1.9.0", None),
        ("2.20.0", "unknown", None),
        ("2.18.0", "", None),
    ],
)
def test_libtpu_matches(tensorflow_tpu: str, libtpu: str, fits: bool | None) -> None:
    assert tpu.libtpu_matches(tensorflow_tpu, libtpu) is fits


def test_every_pin_matches_itself() -> None:
    for tensorflow_tpu, libtpu in tpu.LIBTPU_PINS.items():
        assert tpu.libtpu_matches(tensorflow_tpu, libtpu) is True
