"""The system underneath: Windows, WSL, macOS and AMD's ROCm.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "amd-gpu": (
        (
            "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] (rev c8)",
            {"device": "03:00.0", "name": "Navi 31 [Radeon RX 7900 XTX]"},
        ),
        ("c1:00.0 Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran", {"device": "c1:00.0"}),
    ),
    "musl": (
        (
            "Error relocating /usr/lib/python3.12/site-packages/tensorflow/libtensorflow_framework.so.2: __memcpy_chk: symbol not found",
            {},
        ),
        ("Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by _pywrap.so)", {}),
    ),
    "architecture": (
        ("Downloading tensorflow-2.21.0-cp312-cp312-manylinux_2_27_aarch64.whl (250 MB)", {}),
        ("Linux dgx 6.8.0-1010-nvidia #10 SMP aarch64 aarch64 GNU/Linux", {"machine": "aarch64"}),
    ),
    "macos": (
        ("Metal device set to: Apple M2 Pro", {}),
        ("Using cached tensorflow_macos-2.16.2-cp311-cp311-macosx_12_0_arm64.whl", {}),
    ),
    "rocm": (
        (
            "rocBLAS error: Cannot read /opt/rocm-7.2/lib/rocblas/library/TensileLibrary.dat: Illegal seek for GPU arch : gfx900",
            {"unsupported": "gfx900"},
        ),
        ("rocBLAS error: Could not load /opt/rocm/lib/rocblas/library/TensileLibrary_lazy_gfx1031.dat", {}),
        (
            "ERROR: HIP kernel flash_attn_ext_f16 has no device code compatible with HIP arch 1300.",
            {"unsupported": "HIP arch 1300"},
        ),
        ("E rocm_driver.cc:261] failed call to hipInit: HIP_ERROR_InvalidDevice", {}),
        ('"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"', {}),
        ("Could not load dynamic library 'libamdhip64.so'; dlerror: libamdhip64.so: cannot open", {}),
    ),
    "windows": (
        ("  Using cached nvidia_cusparse_cu12-12.3.1.170-py3-none-win_amd64.whl.metadata", {}),
        (r"PS D:\work\model> python train.py", {}),
        (r'  File "C:\Users\me\train.py", line 3, in <module>', {}),
    ),
    "windows-native": (
        ("WARNING:tensorflow:TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11.", {}),
        ("GPU is not supported on native Windows", {}),
    ),
    "wsl": (
        ("nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown.", {}),
        ("libdxcore.so: cannot open shared object file: No such file or directory", {}),
    ),
    "wsl-inside": (
        ("Linux DESKTOP-1 5.15.167.4-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux", {}),
        ("LD_LIBRARY_PATH=/usr/lib/wsl/lib:/usr/local/cuda/lib64", {}),
    ),
}

NOT_MEANT = {
    "amd-gpu": ("00:00.0 Host bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse Root Complex",),
    "musl": ("ld-linux-x86-64.so.2 => /lib64/ld-linux-x86-64.so.2",),
    "architecture": ("Linux box 6.8.0 #1 SMP x86_64 GNU/Linux",),
    "macos": ("Found metal detector data set",),
    "rocm": (
        "INFO: Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform with name: \"rocm\"",
        "worship error",
        "reading /opt/rocm/lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat",
    ),
    "windows": ("opening windows of 32 frames", "ratio a:b"),
    "windows-native": ("native Windows notepad",),
    "wsl": (
        "Linux version 5.15.153.1-microsoft-standard-WSL2",
        "ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link",
    ),
    "wsl-inside": ("WSL is not installed", "Linux version 6.8.0-45-generic"),
}
