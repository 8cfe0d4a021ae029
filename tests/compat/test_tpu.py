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


def test_tensorflow_does_not_run_on_tpu7x() -> None:
    assert [known.name for known in tpu.GENERATIONS if known.tensorflow == "no"] == ["tpu7x"]


def test_every_pin_matches_itself() -> None:
    for tensorflow_tpu, libtpu in tpu.LIBTPU_PINS.items():
        assert tpu.libtpu_matches(tensorflow_tpu, libtpu) is True
