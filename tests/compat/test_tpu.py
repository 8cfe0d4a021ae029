from gpucheck.core.compat import tpu


def test_tensorflow_does_not_run_on_tpu7x() -> None:
    assert [known.name for known in tpu.GENERATIONS if known.tensorflow == "no"] == ["tpu7x"]


def test_every_pin_matches_itself() -> None:
    for tensorflow_tpu, libtpu in tpu.LIBTPU_PINS.items():
        assert tpu.libtpu_matches(tensorflow_tpu, libtpu) is True
