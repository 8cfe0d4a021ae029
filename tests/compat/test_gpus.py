from gpucheck.core.compat import gpus, tensorflow


def test_every_native_kernel_of_tensorflow_has_an_architecture() -> None:
    for release in tensorflow.RELEASES.values():
        assert {divmod(cubin, 10) for cubin in release.cubins} <= gpus.CAPABILITIES.keys()
