"""An environment with TensorFlow and NVIDIA's wheels, as files and as its interpreter's report."""

from tiny_elf import RUNPATH_2_21, library

from gpucheck.core.compat import libraries as tables
from gpucheck.core.model import Level, Request
from gpucheck.core.probes import libraries

SITE = "/venv/lib/python3.12/site-packages"
INTERPRETER = {
    "executable": "/venv/bin/python",
    "version": "3.12.3",
    "prefix": "/venv",
    "base_prefix": "/usr",
    "path": ["/usr/lib/python3.12", SITE],
}
QUICK = Request(level=Level.QUICK)
WHEELS = {
    "cuda_runtime": "12.5.82",
    "cublas": "12.5.3.2",
    "cufft": "11.2.3.61",
    "cusolver": "11.6.3.83",
    "cusparse": "12.5.1.3",
    "cudnn": "9.3.0.75",
    "nccl": "2.27.7",
    "cuda_nvcc": "12.5.82",
}


def site(version="2.21.0", flavour="tensorflow", runpath=RUNPATH_2_21, wheels=WHEELS, without=(), needs="", **more):
    """The files of an environment with TensorFlow and NVIDIA's wheels, as pip installs them."""
    wheels = {name: release for name, release in wheels.items() if name not in without}
    dist = flavour.replace("-", "_")
    files = {
        f"{SITE}/{dist}-{version}.dist-info/METADATA": "Metadata-Version: 2.4\n",
        f"{SITE}/tensorflow/__init__.py": "",
        f"{SITE}/tensorflow/libtensorflow_framework.so.2": library("libtensorflow_framework.so.2", runpath, needs=needs),
    }
    for component, wheel in wheels.items():
        files[f"{SITE}/nvidia_{component}_cu12-{wheel}.dist-info/METADATA"] = ""
    for one in tables.libraries("2.21"):
        if one.folder.split("/")[1] in wheels:
            files[f"{SITE}/{one.folder}/{one.soname}"] = library(one.soname)
    if "cudnn" in wheels:
        files |= {f"{SITE}/nvidia/cudnn/lib/{part}": library(part) for part in libraries.CUDNN_PARTS}
    if "cuda_nvcc" in wheels:
        files[f"{SITE}/nvidia/cuda_nvcc/bin/ptxas"] = "program"
        files[f"{SITE}/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"] = "bitcode"
    return files | more
