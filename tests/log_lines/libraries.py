"""Shared libraries: opened, absent, damaged, or of the wrong version, as the dynamic loader and its callers put it.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "library-corrupt": (
        ("ImportError: /usr/lib/x86_64-linux-gnu/libcuda.so.1: file too short", {"soname": "libcuda.so.1"}),
        ("OSError: /opt/lib/libcudnn.so.9: invalid ELF header", {"error": "invalid ELF header"}),
        ("libcudart.so.12: wrong ELF class: ELFCLASS32", {}),
    ),
    "library-missing": (
        (
            "W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object",
            {"soname": "libcudnn.so.8"},
        ),
        (
            "ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory",
            {"soname": "libcublas.so.10.0"},
        ),
        (
            "Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found",
            {"soname": "cudart64_110.dll"},
        ),
        (
            "Could not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!",
            {"soname": "cudnn_ops_infer64_8.dll"},
        ),
        (
            "Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, libcudnn_graph.so}",
            {"soname": "libcudnn_graph.so.9"},
        ),
        (
            "I dso_loader.cc:102] Couldn't open CUDA library libcudnn.so. LD_LIBRARY_PATH: /usr/local/cuda",
            {"soname": "libcudnn.so"},
        ),
        ("RuntimeError: jaxlib/cuda/versions_helpers.cc: Unable to load cuSPARSE. Is it installed?", {"soname": "cuSPARSE"}),
    ),
    "library-opened": (
        ("I dso_loader.cc:49] Successfully opened dynamic library libcuda.so.1", {"soname": "libcuda.so.1"}),
        ("I dso_loader.cc:125] successfully opened CUDA library libcublas.so.8.0 locally", {"soname": "libcublas.so.8.0"}),
    ),
    "optional-library-missing": (
        ("W tf_tensorrt: TF-TRT Warning: Could not find TensorRT", {"soname": "TensorRT"}),
        (
            "Could not load library libnvrtc.so.12. Error: libnvrtc.so.12: cannot open shared object file: No such file",
            {"soname": "libnvrtc.so.12"},
        ),
        (
            "Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file",
            {"soname": "libnvinfer.so.7"},
        ),
    ),
    "symbol-missing": (
        ("ImportError: /venv/torch/lib/libtorch_cuda.so: undefined symbol: ncclDevCommDestroy", {"file": "libtorch_cuda.so"}),
        (
            "libcublas.so.11: symbol cublasLtFoo version libcublasLt.so.11 not defined in file libcublasLt.so.11",
            {"library": "libcublasLt.so.11"},
        ),
        (
            "ImportError: /lib/libm.so.6: version `GLIBC_2.29' not found (required by /v/tensorflow/x.so)",
            {"version": "GLIBC_2.29"},
        ),
        ("Invalid handle. Cannot load symbol cudnnCreateConvolutionDescriptor", {"symbol": "cudnnCreateConvolutionDescriptor"}),
    ),
}

NOT_MEANT = {
    "library-corrupt": ("libcudnn.so.9: loaded", "video file too short"),
    "library-missing": (
        "Could not load library libnvrtc.so.12. Error: libnvrtc.so.12: cannot open shared object file: No such file",
        "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file",
        "W tf_tensorrt: TF-TRT Warning: Could not find TensorRT",
    ),
    "library-opened": ("successfully opened the door",),
    "optional-library-missing": (
        "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file",
    ),
    "symbol-missing": ("debug symbols not found", "page '/x' not found"),
}
