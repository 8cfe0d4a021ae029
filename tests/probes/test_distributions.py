from fakes import FakeHost

from gpucheck.core.probes import _distributions
from gpucheck.core.probes._distributions import Installed

SITE = "/site"


def test_first_distribution_on_the_path_is_used():
    host = FakeHost({"/a/keras-3.15.1.dist-info/METADATA": "", "/b/keras-2.15.0.dist-info/METADATA": ""})
    assert _distributions.installed(host, ["/none", "/b", "/a"])["keras"].version == "2.15.0"


def test_metadata_without_its_files_is_ignored():
    wheel = {"/b/numpy/core.so": "new", "/b/numpy-2.1.0.dist-info/RECORD": "numpy/core.so,sha256=a,3\n"}
    left = {"/b/numpy-1.26.0.dist-info/RECORD": "numpy/core.so,sha256=b,9\nnumpy-1.26.0.dist-info/METADATA,,1\n"}
    bare = {"/b/numpy-1.26.0.dist-info/METADATA": ""}
    moved = {"/a/numpy-1.23.0.dist-info/RECORD": "numpy/core.so,sha256=c,9\n"}
    debian = {"/a/numpy-1.19.0-py3.11.egg-info/PKG-INFO": ""}
    versions = [
        _distributions.installed(FakeHost(wheel | others), ["/a", "/b"])["numpy"].version
        for others in (left, bare, moved, debian)
    ]
    assert versions == ["2.1.0", "2.1.0", "2.1.0", "1.19.0"]


def test_distribution_with_a_damaged_file_is_still_the_first():
    record = "nvidia/cudnn/cnn.so,sha256=a,9\nnvidia/cudnn/ops.so,sha256=b,3\n"
    files = {f"/{folder}/nvidia_cudnn_cu12-9.28.0.dist-info/RECORD": record for folder in "ab"}
    files |= {"/a/nvidia/cudnn/cnn.so": "cut", "/b/nvidia/cudnn/cnn.so": "123456789"}
    files |= {f"/{folder}/nvidia/cudnn/ops.so": "ops" for folder in "ab"}
    assert _distributions.installed(FakeHost(files), ["/a", "/b"])["nvidia-cudnn-cu12"].folder == "/a"


def test_tensorflow_folder_is_the_first_package_on_the_path():
    host = FakeHost({"/a/tensorflow/leftover.so": "", "/b/tensorflow/__init__.py": ""})
    assert _distributions.tensorflow_folder(host, ["/a", "/b"]) == "/b/tensorflow"
    assert _distributions.tensorflow_folder(host, ["/a"]) is None


def both(size, recorded):
    files = {f"{SITE}/tensorflow/__init__.py": "", f"{SITE}/tensorflow/libtensorflow_framework.so.2": b"x" * size}
    for name, bytes_ in recorded.items():
        line = f"tensorflow/libtensorflow_framework.so.2,sha256=abc,{bytes_}\n" if bytes_ else ""
        files[f"{SITE}/{name}-2.20.0.dist-info/RECORD"] = f"tensorflow/__init__.py,sha256=def,0\n{line}"
    host = FakeHost(files)
    flavours = _distributions.flavours(_distributions.installed(host, [SITE]))
    found = _distributions.provider(host, flavours, f"{SITE}/tensorflow")
    return found and found.name


def test_variant_whose_library_is_installed_is_selected():
    assert both(700, {"tensorflow": 900, "tensorflow_cpu": 700}) == "tensorflow-cpu"
    assert both(900, {"tensorflow": 900, "tensorflow_cpu": 700}) == "tensorflow"
    assert both(700, {"tensorflow": None, "tensorflow_intel": 700}) == "tensorflow-intel"


def test_plain_tensorflow_is_selected_without_a_matching_library():
    assert both(1, {"tensorflow_cpu": 700, "tensorflow": 900}) == "tensorflow"
    assert both(1, {"tensorflow_cpu": 700}) == "tensorflow-cpu"
    assert both(1, {}) is None


def test_variant_in_the_same_folder_is_preferred():
    host = FakeHost()
    near, far = (Installed(name, "2.20.0", folder, "") for name, folder in (("tensorflow-cpu", "/a"), ("tensorflow", "/b")))
    assert _distributions.provider(host, [far, near], "/a/tensorflow") == near
    assert _distributions.provider(host, [far, near], "/c/tensorflow") == far
