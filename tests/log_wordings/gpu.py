"""What stands in the way of a GPU, as notes, tables and other languages put it: a code or a name amid words nobody can foresee."""

# kind -> (line, fields that must be among the event's), ...
MEANT = {
    "cuda-error": (("| `invalid device ordinal` | more ranks than GPUs |", {"code": "101"}),),
    "symbol-missing": (
        ("nvidia/cublas/lib/libcublas.so.12: symbol cublasLtGetVersion ...", {"symbol": "cublasLtGetVersion"}),
        (
            '"/opt/torch/lib/libcublas.so.11: symbol "\n"cublasLtHSHMatmulAlgoInit version libcublasLt.so.11"',
            {"file": "libcublas.so.11"},
        ),
    ),
    "cpu-instructions-missing": (
        ('*"compiled to use AVX instructions, but these aren\'t available on your machine"*', {"instructions": "AVX"}),
    ),
    "pip-conflict": (
        ("tensorflow requires protobuf<5, but you have protobuf 6.30.1", {"package": "tensorflow", "found": "protobuf 6.30.1"}),
    ),
    "placement-failed": (
        ("Could not satisfy explicit device specification '/device:GPU:3'\n   [[{{node b}}", {"device": "/device:GPU:3"}),
    ),
    "cuinit-failed": (
        ("WARNING:jax._src.xla_bridge:CUDA backend failed to initialize`, so update", {}),
        ("direkt: `cuInit(0)` liefert 304", {"code": "304"}),
        ("- `cuInit(0)` 也返回 802", {"code": "802"}),
        ("cuInit(0) -> 999", {"code": "999"}),
        ("error 804: `forward compatibility was attempted on non supported HW`", {"code": "804"}),
        ("answers: system has unsupported display driver / cuda driver combination", {"code": "803"}),
    ),
    "nvml-failed": (
        ("und `nvmlInit_v2()` liefert 999", {"code": "999"}),
        ("hook: driver/library version mismatch", {"code": "18"}),
        ("in this shell (`nvidia-smi`: No devices were found), so nothing ran", {"code": "28"}),
        ("Error on querying NVIDIA devices.\nDriver Not Loaded", {"code": "9"}),
    ),
    "driver-absent": (
        ("Error: attestation failed: No NVIDIA driver found", {}),
        ("nothing provides __cuda needed by tensorflow-2.11.0-cuda112py39h0_0", {"package": "tensorflow-2.11.0-cuda112py39h0_0"}),
    ),
    "driver-too-old": (
        ("`CUDA initialization: driver too old (found 12020)`", {"version": "12020"}),
        ("  - nothing provides __cuda >=12 needed by jaxlib-0.4.31-cuda120py311_0", {"needed": "12"}),
        (
            "  - feature:/linux-64::__cuda==10.1=0\n  - tensorflow -> __cuda[version='>=11.2']\nYour installed version is: 10.1",
            {"version": "10.1"},
        ),
    ),
    "driver-mismatch": (("seen: kernel version does not match DSO version", {}),),
    "kernel-image-missing": (
        ("no kernel image available for sm_90", {}),
        ("warned that `sm_121 is not compatible with the current PyTorch installation`", {"capability": "sm_121"}),
    ),
    "container-gpu-denied": (
        ('Cannot start service tts: could not select device driver "nvidia"', {"reason": "runtime"}),
        ("| `could not select device driver` | kein Toolkit |", {"reason": "runtime"}),
        ('could not select device driver "" with capabilities: [gpu]', {"reason": "runtime"}),
        ("**`nvidia-container-cli: requirement error`**", {"reason": "hook"}),
        ("98-nvidia.sh: nvidia-container-cli: command not found", {"reason": "hook"}),
    ),
    "cudnn-version-mismatch": (
        ("Loaded runtime CuDNN library: X.X.X but source was compiled with: Y.Y.Y", {"loaded": "X.X.X", "compiled": "Y.Y.Y"}),
    ),
    "device-node-missing": (("Error: no NVIDIA GPU device is present", {"path": "/dev/nvidia0"}),),
    "library-missing": (
        ("\tlibcublasLt.so.12 => not found", {"soname": "libcublasLt.so.12"}),
        ("only CUDA 13 wheels -> `libcudnn.so.9` not found", {"soname": "libcudnn.so.9"}),
        ("ImportError: Could not find 'cudart64\\_110.dll'. TensorFlow requires it", {"soname": "cudart64_110.dll"}),
    ),
    "rocm": (
        (
            "Ignoring visible gpu device (device: 0, name: Radeon RX 7600, pci bus id: 0000:03:00.0) with AMDGPU version : gfx1102.",
            {},
        ),
    ),
    "cpu-build": (("RuntimeError: Backend 'cuda' is not\nin the list of known backends: ['cpu']", {"package": "jaxlib"}),),
    "pip-wheel-unsupported": (("`is not a supported wheel on this platform`", {}),),
    "pip-no-matching-distribution": (
        ("  - nothing provides requested tensorflow ==2.17.0 cuda120py311_0", {"package": "tensorflow"}),
        (
            "PackagesNotFoundError: The following packages are not available from current channels:\n\n  - pytorch\n",
            {"package": "pytorch"},
        ),
    ),
    "import-failed": (("ERROR: DLL load failed while importing _pywrap_tensorflow_internal", {"module": "tensorflow"}),),
    "wsl-inside": (("found the Linux driver that was installed inside WSL2", {}),),
    "tpu-failed": (("ValueError: Backend 'tpu' is not available: libtpu.so not found", {"reason": "runtime-missing"}),),
    "xla-flag-unknown": (("aborts with `Unknown flags in XLA_FLAGS`", {}),),
}

NOT_MEANT = {
    "cuinit-failed": (
        "cuInit(0) returned 0",
        "cuInit(0) took 304.5 ms",
        "cuInit(0) at line 35",
        "cuInit(0); // 999 is what it mostly says",
        "the driver combination is supported",
    ),
    "nvml-failed": ("nvmlInit_v2() returned 0", "Mouse: Driver Not Loaded yet", "scan: No devices were found on the USB bus"),
    "cpu-instructions-missing": ("wasn't compiled to use AVX2 instructions, but these are available on your machine",),
    "symbol-missing": ("python: symbol lookup error", "libfoo.so: symbol table is empty"),
    "placement-failed": ("specification '/device:GPU:1' because no supported kernel for GPU devices is available",),
    "library-missing": ("libcupti.so.12 => not found", "libcublas.so.12 => /usr/lib/libcublas.so.12"),
    "driver-too-old": ("See whether the driver is too old for it.",),
    "driver-absent": ("No NVIDIA driver found - installing the CPU build.", "GPU: no NVIDIA driver found"),
    "container-gpu-denied": (
        'could not select device driver "x" with capabilities: [[tpu]]',
        "nvidia-container-cli: version 1.17.4",
    ),
    "rocm": (
        "Ignoring visible gpu device (device: 1, name: AMD Radeon Graphics, pci bus id: 0000:14:00.0) with AMDGPU version : gfx1036.",
    ),
    "kernel-image-missing": ("no kernel images are listed",),
    "xla-flag-unknown": ("XLA_FLAGS=--xla_dump_to=/tmp/x",),
}
