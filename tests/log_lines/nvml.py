"""NVML, nvidia-smi and the libraries on top of them.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "scheduler-without-nvml": (
        (
            "slurmd: We were configured to autodetect nvml functionality, but we weren't able to find that lib when Slurm was configured.",
            {},
        ),
        ("slurmd: We were configured with nvml functionality, but that lib wasn't found on the system.", {}),
    ),
    "gpu-memory-used": (
        (
            "| N/A   45C    P0    70W / 300W |  31021MiB / 32510MiB |     98%      Default |",
            {"used_mb": "31021", "total_mb": "32510"},
        ),
        ("|  0%   35C    P8    10W / 450W |    512MiB/24564MiB |      0%      Default |", {"used_mb": "512"}),
    ),
    "gpu-process": (
        (
            "|    0   N/A  N/A      4242      C   /usr/bin/python3                30517MiB |",
            {"pid": "4242", "memory_mb": "30517"},
        ),
        ("Process 777 has 21.50 GiB memory in use. Process 778 has", {"pid": "777", "memory": "21.50 GiB"}),
    ),
    "gpu-smi-error": (
        ("| ERR!   ERR! ERR!    N/A /  ERR! |  GPU is lost |", {}),
        ("|   1  Tesla V100       On  | 00000000:18:00.0 Off |                 ERR! |", {}),
    ),
    "nvml-failed": (
        ("Unable to determine the device handle for GPU 0000:41:00.0: Not Found", {"code": "28"}),
        ("Failed to initialize NVML: Driver/library version mismatch", {"code": "18"}),
        ("pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found", {"code": "12"}),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that", {"code": "9"}),
        ("Failed to initialize NVML: GPU access blocked by the operating system", {"code": "17"}),
        (
            "Unable to determine the device handle for GPU0000:65:00.0: GPU is lost.  Reboot the system to recover this GPU",
            {"code": "15"},
        ),
        ("nvmlInit failed: NVML_ERROR_DRIVER_NOT_LOADED", {"code": "9"}),
        ("No devices were found", {"code": "28"}),
    ),
    "driver-lists-gpu": (
        ("GPU 0: NVIDIA H200 (UUID: GPU-5f1c9f2e-1111-2222-3333-444455556666)", {"index": "0", "name": "NVIDIA H200"}),
        ("> GPU 11: Tesla T4 (UUID: GPU-0c0c0c0c-0000-1111-2222-333333333333)", {"name": "Tesla T4"}),
    ),
}

NOT_MEANT = {
    "scheduler-without-nvml": ("slurmd: GPU NVML plugin loaded",),
    "gpu-memory-used": ("Downloading 24.0 MB / 250.0 MB", "31021 MB"),
    "gpu-process": ("|  No running processes found   0MiB of it |",),
    "gpu-smi-error": ("ERROR! see above",),
    "nvml-failed": (
        "NVML Not Supported",
        "pynvml.NVMLError_NotSupported: Not Supported",
        "NVML library doesn't have required functions.",
    ),
    "driver-lists-gpu": ("  MIG 1g.10gb Device 0: (UUID: MIG-5f1c9f2e)", "GPU 0: fails (UUID: unknown)"),
}
