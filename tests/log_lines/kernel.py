"""The kernel's log: Xid and NVRM lines, the module that would not load, device nodes, PCIe and NVLink.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "gpu-driven": (
        ("\tKernel driver in use: nvidia", {}),
        ("    Kernel driver in use: nvidia\n    Kernel modules: nouveau", {}),
    ),
    "device-denied": (
        ("NvRmPrivate: open /dev/nvidiactl: permission denied", {"path": "/dev/nvidiactl"}),
        ("ls: cannot open '/dev/nvidia0': Permission denied", {"path": "/dev/nvidia0", "error": "permission denied"}),
        ("Operation not permitted: '/dev/nvidia-uvm'", {"path": "/dev/nvidia-uvm"}),
    ),
    "device-node-missing": (
        ('open("/dev/nvidia-uvm") failed: No such file or directory', {"path": "/dev/nvidia-uvm"}),
        ("ls: cannot access '/dev/nvidia0': No such file or directory", {"path": "/dev/nvidia0"}),
    ),
    "driver-mismatch": (
        (
            "E cuda_diagnostics.cc:313] kernel version 470.182.3 does not match DSO version 470.223.2",
            {"kernel": "470.182.3", "library": "470.223.2"},
        ),
        (
            "NVRM: API mismatch: the client has the version 535.161.07, but NVRM: this kernel module has the version 535.129.03.",
            {"kernel": "535.129.03"},
        ),
        ("NVML library version: 535.161", {"library": "535.161"}),
    ),
    "driver-version": (
        ("I cuda_diagnostics.cc:190] libcuda reported version is: 580.159.4", {"library": "580.159.4"}),
        ("I cuda_diagnostics.cc:196] kernel reported version is: 396.64.0", {"kernel": "396.64.0"}),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build", {"kernel": "580.65.06"}),
        ("| NVIDIA-SMI 570.86.15  Driver Version: 570.86.15  CUDA Version: 12.8 |", {"kernel": "570.86.15", "cuda": "12.8"}),
    ),
    "gpu-absent": (
        ("[   12.345678] NVRM: No NVIDIA GPU found.", {}),
        ("kernel: NVRM: No NVIDIA graphics adapter found!", {}),
    ),
    "gpu-init-failed": (
        ("NVRM: GPU 0000:65:00.0: RmInitAdapter failed! (0x26:0x65:1474)", {"device": "0000:65:00.0"}),
        ("[  99.123456] NVRM: rm_init_adapter failed for device bearing minor number 0", {}),
    ),
    "gpu-lost": (
        ("NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", {"device": "0000:18:00.0"}),
        ('it prints "GPU has fallen off the\nbus." and hangs', {}),
        ("NVRM: Rate limiting GSP RPC error prints.  The GPU likely needs to be reset.", {}),
    ),
    "gpu-unsupported-by-driver": (
        (
            "NVRM: The NVIDIA Tesla K80 GPU installed in this system is\nNVRM:  not supported by the NVIDIA 535.54.03 driver release.",
            {},
        ),
        ("NVRM: installed in this system requires use of the NVIDIA open kernel modules.", {"reason": "open-module"}),
        ("[  9.1] NVRM: use of the NVIDIA open kernel modules.", {"reason": "open-module"}),
        ("NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b06) installed in this system is not supported by open nvidia.ko", {}),
    ),
    "kernel-module-failed": (
        ("modprobe: ERROR: could not insert 'nvidia': Required key not available", {"reason": "signature"}),
        ("$ lsmod | grep nvidia_uvm -> nvidia_uvm NOT LOADED", {}),
        ("模块 nvidia-uvm 未加载", {}),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-45-generic", {"reason": "not-built"}),
        (
            "NVRM: This can occur when a driver such as:\n[   9.123456] NVRM: nouveau, rivafb, nvidiafb or rivatv",
            {"reason": "nouveau"},
        ),
    ),
    "nvlink-down": (
        ("NVRM: GPU 0000:65:00.0: NVLink link 2 disabled due to error", {"link": "2"}),
        ("         Link 5: <inactive>", {"link": "5"}),
        ("NVRM: Xid (PCI:0000:65:00): 74, NVLink: fatal error detected on link 2", {}),
        ("nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up", {"code": "20034", "link": "48"}),
        ("nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Severity 1 Engine instance 60 Sub-engine", {"code": "20034"}),
        ("nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20009, Non-fatal, Link 28 RX Short", {"link": "28", "degree": "mild"}),
        ("nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 12028, Severity 0 Engine instance 3", {"code": "12028", "degree": "mild"}),
        ("node-7 reports SXid 24007 since midnight", {"code": "24007", "degree": "mild"}),
    ),
    "pcie-limited": (
        (
            "pci 0000:04:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:01.0 (capable of "
            "126.016 Gb/s with 16.0 GT/s PCIe x8 link)",
            {"device": "0000:04:00.0", "width": "8"},
        ),
        (
            "                Link Width\n                    Max               : 16x\n                    Current           : 4x",
            {"width": "4"},
        ),
        ("\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)", {"width": "8"}),
    ),
    "xid": (
        (
            "[Wed Aug  5 03:12:01 2026] NVRM: Xid (PCI:0000:65:00): 79, pid=1, GPU has fallen off the bus.",
            {"code": "79", "device": "PCI:0000:65:00"},
        ),
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", {"code": "14"}),
        ("health.go:185] XidCriticalError: Xid=48 on Device=GPU-e3dbf294-2783; marking device as unhealthy.", {"code": "48"}),
        ("Detected XID 63 for GPU 3", {"code": "63"}),
    ),
    "gpu-on-bus": (
        (
            "01:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)",
            {"device": "01:00.0", "name": "AD102 [GeForce RTX 4090]"},
        ),
        (
            "0000:19:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB]",
            {"device": "0000:19:00.0", "name": "GH100 [H100 SXM5 80GB]"},
        ),
    ),
    "driver-hung": (
        ("[ 4716.7] INFO: task nvidia-smi:18213 blocked for more than 122 seconds.", {"process": "nvidia-smi", "pid": "18213"}),
        ('time="x" level=error msg="nvidia-smi timed out after 30s"', {"process": "nvidia-smi"}),
        ("timeout: sending signal TERM to command 'nvidia-smi'", {"process": "nvidia-smi"}),
    ),
}

NOT_MEANT = {
    "gpu-driven": ("Kernel driver in use: nouveau", "Kernel driver in use: nvidia-current", "Kernel modules: nvidia"),
    "device-denied": ("/home/me/data: Permission denied", "crw-rw-rw- 1 root root 195, 0 /dev/nvidia0"),
    "device-node-missing": ("/dev/nvidia.txt.bak ok", "ls: cannot access '/dev/sda9': No such file or directory"),
    "driver-mismatch": ("kernel version seems to match DSO: 396.64.0",),
    "driver-version": ("libcuda reported version is: INVALID_ARGUMENT: expected",),
    "gpu-absent": ("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04",),
    "gpu-init-failed": ("NVRM: GPU at PCI:0000:9b:00: GPU-509665ad",),
    "gpu-lost": ("the bus has fallen behind", "GPU reset completed"),
    "gpu-unsupported-by-driver": (
        "option not supported by this compiler",
        "loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05",
        "the NVIDIA open kernel modules are in use",
    ),
    "kernel-module-failed": (
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "blacklist nouveau",
        "nvidia_uvm           5038080  0",
    ),
    "nvlink-down": (
        "GPU 0: NVLink link 2 enabled",
        "         Link 5: 26.562 GB/s",
        "NVLink training started",
        "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Data {0x10000000, 0x10000000}",
        "SXid counter: 0",
    ),
    "pcie-limited": (
        "pci 0000:04:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)",
        "Link Width\n Max : 16x\n Current : 16x",
    ),
    "xid": ('$ dmesg -T | grep -i "xid.*74\\|nvlink"', "Fluxid=12", "Xid errors: none"),
    "gpu-on-bus": (
        "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics",
        "01:00.1 Audio device: NVIDIA Corporation",
    ),
    "driver-hung": ("INFO: task kworker/u8:1:991 blocked for more than 120 seconds.", "nvidia-smi finished in 0.3 s"),
}
