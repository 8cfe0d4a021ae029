"""The commands and files of `gpucheck setup` for machines whose containers or interpreters need their own options."""

import pytest
from command import gpucheck

ROCM = "--device=/dev/kfd --device=/dev/dri"


@pytest.mark.parametrize(
    ("machine", "options"),
    [("MI300X", ROCM), ("Jetson Orin Nano, JetPack 6.1", "--runtime=nvidia"), ("GH200, driver 580, Ubuntu 22.04", "--gpus all")],
)
def test_container_gets_the_options_of_its_accelerator(machine, options):
    for form in ((), ("--format", "dockerfile")):
        lines = [line for line in gpucheck("setup", "--for", machine, *form).stdout.splitlines() if "docker run" in line]
        assert lines
        assert all(options in line and ("--gpus" in line) == ("--gpus" in options) for line in lines), lines


def test_windows_uses_the_py_launcher():
    assert "py -3.12 -m venv tensorflow-env" in gpucheck("setup", "--for", "Windows 11, no GPU, Python 3.12").stdout


def test_dockerfile_for_tpus_and_amd_gpus():
    assert "docker run --privileged --net=host" in gpucheck("setup", "--for", "TPU v4", "--format", "dockerfile").stdout
    done = gpucheck("setup", "--for", "MI300X, Ubuntu 22.04", "--backend", "jax", "--format", "dockerfile")
    assert "system's ROCm" in done.stderr
    torch = gpucheck("setup", "--for", "MI300X, Ubuntu 22.04", "--backend", "torch", "--format", "dockerfile")
    assert 'ENV KERAS_BACKEND="torch"' in torch.stdout
