"""Packages are listed for arbitrary metadata of installed wheels."""

from fakes import FakeHost
from fuzz.inputs import Bounded, changed, fuzzed
from hypothesis import given

from gpucheck.core.probes import packages

FOLDER = "/v/lib/python3.12/site-packages"
METADATA = b'Metadata-Version: 2.1\nName: tensorflow\nVersion: 2.21.0\nRequires-Python: >=3.10\nRequires-Dist: keras>=3.10.0\nRequires-Dist: nvidia-cudnn-cu12<10.0,>=9.3; extra == "and-cuda"\n\nx\n'
RECORD = b"tensorflow/libtensorflow_cc.so.2,sha256=abc,1234567\ntensorflow/__init__.py,,\n"


@fuzzed
@given(changed(METADATA), changed(RECORD))
def test_any_metadata_is_read(metadata, record):
    files = {}
    for name in (
        "tensorflow-2.21.0.dist-info",
        "tensorflow_cpu-2.20.0.dist-info",
        "keras-3.15.1.dist-info",
        "nvidia_cudnn_cu12-9.3.0.75.dist-info",
    ):
        files |= {f"{FOLDER}/{name}/METADATA": metadata, f"{FOLDER}/{name}/RECORD": record}
    files[f"{FOLDER}/tensorflow/libtensorflow_cc.so.2"] = b"x"
    interpreter = {"executable": "/v/bin/python", "version": "3.12.3", "path": (FOLDER,)}
    with Bounded():
        packages.read(FakeHost(files, interpreter=interpreter))
