"""Platforms without a package, and builds without code for the GPU: which of the two it is, and when it is right so."""

import pytest
from installed import ABSENT, LISTS_NONE, PYTHON
from one_rule import QUICK, changed, found, roots, status

from gpucheck.model import Status

CPU_BUILD = {"tensorflow.built_with_cuda": False, "tensorflow.compute_capabilities": [], **LISTS_NONE}
NAMED_CPU = {"packages.tensorflow.name": "tensorflow-cpu", "packages.flavours[0].name": "tensorflow-cpu"}


@pytest.mark.parametrize("level", [QUICK, CPU_BUILD], ids=["quick", "default"])
def test_cpu_build_is_the_root_of_what_it_lacks(level):
    plain = changed({**NAMED_CPU, "libraries.ptxas": {}, "libraries.libdevice": {}, **level})
    assert roots(plain) == ["tensorflow-cpu-build"]
    assert found("tensorflow-cpu-build", plain).fix[0].command == (
        f'{PYTHON} -m pip uninstall -y tensorflow-cpu && {PYTHON} -m pip install "tensorflow[and-cuda]==2.20.*"'
    )


def test_cpu_build_is_right_where_no_gpu_is():
    for allow in (True, False):
        plain = changed({**NAMED_CPU, "tensorflow.built_with_cuda": False, "request.allow_cpu": allow}, "laptop-cpu")
        assert status("tensorflow-cpu-build", plain) is Status.CLEAR


def test_cpu_build_under_allow_cpu_is_an_error_beside_a_gpu_unless_it_is_hidden():
    plain = changed({**NAMED_CPU, **CPU_BUILD, "request.allow_cpu": True})
    assert status("tensorflow-cpu-build", plain) is Status.FOUND
    plain["cuda"] = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE"}
    assert status("tensorflow-cpu-build", plain) is Status.CLEAR


@pytest.mark.parametrize("level", [QUICK, CPU_BUILD], ids=["quick", "default"])
def test_a_tpu_needs_no_build_for_a_gpu(level):
    asked = changed({**NAMED_CPU, **level, "request.strategies": ["tpu"]})
    assert roots(asked) == ["tpu-not-found"]
    both = changed({**NAMED_CPU, **level, "request.strategies": ["tpu", "one_device"]})
    assert "tensorflow-cpu-build" in roots(both)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({}, "no-nvidia-gpu"),
        ({"system.platform": "darwin"}, "macos-no-cuda"),
        ({"system.platform": "win32"}, "windows-native-unsupported"),
        ({"pci.amd_gpus": [{"address": "0000:03:00.0", "vendor_id": "0x1002", "device_id": "0x73bf"}]}, "rocm-gpu-unsupported"),
        ({"pci.readable": False, "container": {"inside": True, "kind": "docker"}}, "container-without-gpu"),
    ],
)
def test_who_asks_for_a_tpu_alone_misses_no_gpu(changes, cause):
    def of(*strategies):
        return status(cause, changed({**changes, "request.allow_cpu": False, "request.strategies": strategies}, "laptop-cpu"))

    assert (of(), of("one_device"), of("parameter_server"), of("tpu", "mirrored")) == (Status.FOUND,) * 4
    assert of("tpu") is Status.CLEAR


def test_builds_of_conda_and_nvidia_are_known_only_once_imported():
    conda = changed({"interpreter.environment": "conda", **QUICK})
    assert status("tensorflow-cpu-build", conda) is Status.SKIPPED
    nvidia = changed({"packages.tensorflow.version": "2.17.0+nv25.2", "system.architecture": "aarch64", **QUICK})
    assert status("tensorflow-cpu-build", nvidia) is Status.SKIPPED
    assert status("platform-unsupported", nvidia) is Status.SKIPPED


@pytest.mark.parametrize("level", [QUICK, CPU_BUILD], ids=["quick", "default"])
def test_arm_with_a_new_gpu_is_a_matter_of_the_platform(level):
    changes = {"system.architecture": "aarch64", "cuda.devices[0].compute_capability": [12, 1], **level}
    assert roots(changed(changes)) == ["platform-unsupported"]


def test_arm_without_a_gpu_trains_on_its_cpu():
    for allow in (True, False):
        plain = changed({"system.architecture": "aarch64", "request.allow_cpu": allow}, "laptop-cpu")
        assert status("platform-unsupported", plain) is Status.CLEAR


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"system.musl": True, "system.glibc": None, "system.os_name": "Alpine Linux v3.22"}, "Alpine Linux v3.22 uses the musl"),
        ({"interpreter.bits": 32}, "32-bit"),
        ({"system.architecture": "ppc64le"}, "none for ppc64le"),
        ({"system.glibc": "2.12"}, "every one needs glibc 2.17 or newer"),
    ],
)  # fmt: skip
def test_platform_without_any_package_is_why_it_is_not_installed(changes, words):
    plain = changed({**ABSENT, **changes}, "laptop-cpu")
    assert roots(plain) == ["platform-unsupported"]
    assert words in found("platform-unsupported", plain).summary


def test_shared_environment_on_an_old_system():
    plain = changed({"system.glibc": "2.17", **QUICK}, "laptop-cpu")
    assert "TensorFlow 2.21.0 needs glibc 2.27 or newer" in found("platform-unsupported", plain).summary


@pytest.mark.parametrize("level", [{}, QUICK], ids=["default", "quick"])
def test_tensorflow_built_for_musl_is_left_alone(level):
    changes = {"system.musl": True, "system.glibc": None, **level}
    assert status("platform-unsupported", changed(changes, "laptop-cpu")) is Status.CLEAR


def test_other_systems_have_their_own_pages():
    for platform in ("darwin", "win32"):
        plain = changed({"system.platform": platform, "system.architecture": "arm64"}, "laptop-cpu")
        assert status("platform-unsupported", plain) is Status.CLEAR


def test_only_the_cpu_package_is_taken_away():
    both = [{"name": name, "version": "2.21.0", "folder": "/x"} for name in ("tensorflow", "tensorflow-cpu")]
    plain = changed({**CPU_BUILD, "packages.flavours": both})
    assert " uninstall -y tensorflow-cpu && " in found("tensorflow-cpu-build", plain).fix[0].command
    system = changed({**CPU_BUILD, **NAMED_CPU, "interpreter.externally_managed": True})
    assert "uninstall" not in found("tensorflow-cpu-build", system).fix[0].command


def test_build_for_tpus_needs_no_gpu_code():
    plain = changed({**CPU_BUILD, "tpu.expected": True})
    assert status("tensorflow-cpu-build", plain) is Status.CLEAR
