import subprocess
import sys

import pytest
from fakes import FakeHost

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import packages
from gpucheck.probes.packages import Distribution, Packages, Requirement

SITE = "/venv/lib/python3.12/site-packages"
METADATA = """Metadata-Version: 2.4
Name: tensorflow
Version: 2.21.0
Requires-Python: >=3.10
Requires-Dist: absl-py>=1.0.0
Requires-Dist: keras>=3.12.0
Requires-Dist: packaging
Provides-Extra: and-cuda
Requires-Dist: nvidia-cublas-cu12<13.0,>=12.5.3.2; extra == "and-cuda"
Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"
Requires-Dist: nvidia-nccl-cu12 (==2.27.7) ; extra == 'and-cuda'

Requires-Dist: keras>=99; a description may say anything
"""


def read(*names, metadata=METADATA, files=(), **settings):
    """An environment with those metadata folders."""
    everything = {f"{SITE}/{name}.dist-info/INSTALLER": "pip\n" for name in names}
    everything[f"{SITE}/tensorflow-2.21.0.dist-info/METADATA"] = metadata
    everything[f"{SITE}/tensorflow/__init__.py"] = ""
    return packages.read(FakeHost({**everything, **dict(files)}, interpreter={"path": ["/stdlib", SITE]}, **settings))


def test_the_installed_tensorflow():
    found = read("keras-3.15.1", "numpy-2.3.5", "absl_py-2.3.1")
    assert found == Packages(
        tensorflow=Distribution(name="tensorflow", version="2.21.0", folder=SITE),
        flavours=(Distribution(name="tensorflow", version="2.21.0", folder=SITE),),
        tensorflow_folder=f"{SITE}/tensorflow",
        tensorflow_requires_python=">=3.10",
        and_cuda=(
            Requirement(name="nvidia-cublas-cu12", specifier="<13.0,>=12.5.3.2"),
            Requirement(name="nvidia-cudnn-cu12", specifier="<10.0,>=9.3.0.75"),
            Requirement(name="nvidia-nccl-cu12", specifier="==2.27.7"),
        ),
        keras=Distribution(name="keras", version="3.15.1", folder=SITE),
        keras_requirement=">=3.12.0",
        others=(Distribution(name="numpy", version="2.3.5", folder=SITE),),
    )


def test_pins_against_what_is_installed():
    found = read("nvidia_cublas_cu12-12.4.5.8", "nvidia_cudnn_cu12-9.15.1.9", "nvidia_nccl_cu12-2.27.7")
    assert [(one.installed, one.satisfied) for one in found.and_cuda] == [
        ("12.4.5.8", False),
        ("9.15.1.9", True),
        ("2.27.7", True),
    ]


def test_nvidia_is_the_cuda_libraries_of_either_naming():
    cuda = ["nvidia_cublas-13.0.2.14", "nvidia_cuda_runtime-13.0.88", "nvidia_cudnn_cu13-9.15.1.9", "nvidia_nccl_cu12-2.27.7"]
    found = read(*cuda, "nvidia_ml_py-13.580.82", "nvidia_modelopt-0.39.0", "nvidia_dali_cuda120-1.52.0")
    assert [one.name for one in found.nvidia] == [
        "nvidia-cublas",
        "nvidia-cuda-runtime",
        "nvidia-cudnn-cu13",
        "nvidia-nccl-cu12",
    ]


def test_several_flavours():
    found = read("tensorflow_cpu-2.20.0", "tensorflow_gpu-2.12.0")
    assert [one.name for one in found.flavours] == ["tensorflow", "tensorflow-cpu", "tensorflow-gpu"]
    assert found.tensorflow is not None
    assert found.tensorflow.name == "tensorflow"


def test_a_removed_name_without_files():
    files = {f"{SITE}/tensorflow_gpu-2.12.0.dist-info/METADATA": "Metadata-Version: 2.1\n"}
    found = packages.read(FakeHost(files, interpreter={"path": [SITE]}))
    assert found.tensorflow == Distribution(name="tensorflow-gpu", version="2.12.0", folder=SITE)
    assert (found.tensorflow_folder, found.and_cuda, found.tensorflow_requires_python) == (None, (), None)


def test_nightly_keras_and_legacy_keras_and_tpu():
    nightly = METADATA.replace("keras>=3.12.0", "keras-nightly>=3.13.0.dev")
    found = read("keras_nightly-3.13.0.dev2026", "tf_keras-2.21.0", "libtpu-0.0.30", metadata=nightly)
    assert found.keras is not None
    assert found.keras.name == "keras-nightly"
    assert found.keras_requirement == ">=3.13.0.dev"
    assert found.tf_keras is not None
    assert found.libtpu is not None


def test_nothing_installed():
    assert packages.read(FakeHost(interpreter={"path": [SITE]})) == Packages()


def test_without_an_account_of_the_interpreter_the_probe_fails():
    with pytest.raises(Exception, match="could not be examined: timed out"):
        packages.read(FakeHost(interpreter="timed out"))


@pytest.mark.skipif(sys.platform == "win32", reason="no /usr/bin/python3")
def test_another_interpreter_is_asked(tmp_path):
    """A real one under --python: an empty virtual environment beside ours."""
    python = tmp_path / "env/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    with LocalHost(Request(python=str(python))) as host:
        found = packages.read(host)
        assert host.interpreter().prefix == str(tmp_path / "env")
    assert (found.tensorflow, found.flavours, found.nvidia) == (None, (), ())
