"""Devices that are lost, faulty, slowed down or badly linked; of the kernel, nvidia-smi and schedulers.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "gpu-lost": (
        "NVRM: GPU at PCI:0000:3b:00: GPU has fallen off the bus.\nNVRM: The NVIDIA probe routine failed for 1 device(s).\n"
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05",
        "[1234567.890123] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        """
        Jul 04 02:11:31 gn113 kernel: NVRM: GPU at PCI:0000:c1:00: GPU-5b2c1a90-0f0e-1d2c-3b4a-596877869504
        Jul 04 02:11:31 gn113 kernel: NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.
        Jul 04 02:11:31 gn113 kernel: NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
        Jul 04 02:11:32 gn113 kernel: NVRM: Xid (PCI:0000:c2:00): 74, NVLink: fatal error detected on link 4(0x0, 0x0, 0x10000)
        """,
        "kernel: NVRM: Xid (PCI:0000:84:00): 119, pid=1, name=dcgmd, Timeout after 6s of waiting for RPC response from GPU7 GSP!",
        "Mar 3 10:00:01 host kernel: NVRM: GPU 0000:05:00.0: RmInitAdapter failed! (0x62:0xffff:2477)\nNo devices were found",
        "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU",
        "Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error",
        "pynvml.NVMLError_GpuIsLost: GPU is lost",
        "E0612 health.go:159] XidCriticalError: Xid=62 on Device=GPU-adb24b25-1db1-436e-d958-ddee5da83d07; marking device as unhealthy.",
        "torch.distributed worker 3: NVML_ERROR_GPU_IS_LOST\nNCCL WARN Cuda failure 'unspecified launch failure'\nNVRM: Xid (PCI:0000:b1:00): 79, GPU has fallen off the bus.",
        """
        [ 4601.100000] NVRM: Xid (PCI:0000:4e:00): 119, pid=991, name=python, Timeout after 45s of waiting for RPC response from GPU3 GSP!
        [ 4716.700000] INFO: task nvidia-smi:18213 blocked for more than 122 seconds.
        """,
    ),
    "ecc-errors": (
        "NVRM: Xid (PCI:0000:17:00): 48, pid=8817, name=python3, DBE (double bit error) ECC",
        "[  991.1] NVRM: Xid (PCI:0000:18:00): 94, pid=771, name=python, Contained: SM (0x1). RST: No, D-RST: No",
        "[Tue May  6 07:00:00 2025] NVRM: Xid (PCI:0000:18:00): 95, pid=771, name=python, Uncontained: FBHUB. RST: Yes",
        "NVRM: Xid (PCI:0000:18:00): 64, pid='<unknown>', name=<unknown>, Row Remapper: Error in updating row remap table",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "F0000 tensorflow/compiler/xla/stream_executor/cuda/cuda_event.cc] CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered",
        """
        ECC Errors
            Volatile
                Single Bit
                    Device Memory           : 0
                Double Bit
                    Device Memory           : 0
                SRAM Uncorrectable Parity   : 0
                SRAM Uncorrectable SEC-DED  : 3
                DRAM Uncorrectable          : 0
        """,
        """
        Remapped Rows
            Correctable Error                 : 0
            Uncorrectable Error               : 8
            Pending                           : No
            Remapping Failure Occurred        : Yes
        """,
        "GPU 2: Detected 3 volatile double-bit ECC error(s) in GPU 2. Drain the GPU and reset it or reboot the node.",
        "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                   12 |",
        "gn1:1:2 [3] NCCL WARN Cuda failure 'uncorrectable ECC error encountered'\nRuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1331, unhandled cuda error",
        "ecc.errors.uncorrected.volatile.total\n7",
    ),
    "nvlink-down": (
        "[Sat Feb  1 00:00:00 2025] NVRM: Xid (PCI:0000:9d:00): 74, NVLink: fatal error detected on link 7(0x0, 0x0)",
        "RuntimeError: CUDA error: CUDA_ERROR_NVLINK_UNCORRECTABLE: uncorrectable NVLink error detected during the execution",
        "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6)\nNCCL WARN Watchdog caught collective operation timeout",
        "[ 81.1] nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 32 LTSSM Fault Up",
        "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=77, name=python3, Ch 00000001 caused by previous Xid 149",
        "[ 5.1] NVRM: Xid (PCI:0000:18:00): 45, pid=12, name=python, Ch 00000008, previous Xid 145",
    ),
}

WARNED = {
    "gpu-lost": (
        "|ERR!   43C    P0    N/A / N/A |      0MiB / 81559MiB |     ERR!      Default |",
        "+----+\nWARNING: infoROM is corrupted at gpu 0000:00:06.0",
    ),
    "ecc-errors": (
        "NVRM: Xid (PCI:0000:18:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping",
    ),
    "gpu-throttled": (
        "| Warning | GPU 3 Thermal violations totaling 42.0 seconds started at 1.1 seconds into the test |",
        "    Clocks Event Reasons\n        HW Thermal Slowdown               : Active",
        "    Clocks Throttle Reasons\n        HW Thermal Slowdown               : Active",
        "- `nvidia-smi` says `SW Power Cap: Active`, and `SW Thermal Slowdown: Active`",
    ),
    "pcie-link-degraded": (
        (
            "pci 0000:17:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:15:01.0"
            " (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)"
        ),
        "LnkSta: Speed 16GT/s, Width x4 (downgraded)",
        "[    2.5] pci 0000:65:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:64:00.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
    ),
}

NO_ERROR = (
    "Uncorrectable Error               : 0",
    "ecc.errors.uncorrected.volatile.total, ecc.errors.uncorrected.aggregate.total\n0, 12",
    "timestamp, name, clocks_throttle_reasons.hw_slowdown, clocks_throttle_reasons.sw_power_cap\n2024/01/01 00:00:00.000, NVIDIA A100, Not Active, Active",
    "    Clocks Event Reasons\n        Idle                              : Active\n        HW Thermal Slowdown               : Not Active\n        SW Power Cap : Active",
    """
        | N/A   34C    P0    52W / 300W |      0MiB / 32510MiB |      0%      Default |
        Error rate 0.0
        """,
    # an error that repaired itself, and a line that only names it
    """
        [ 1.0] NVRM: Xid (PCI:0000:18:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 02 (0x00000024 0x80000000)
        [ 2.0] NVRM: Xid (PCI:0000:18:00): 137, pid='<unknown>', name=<unknown>, previous Xid 145
        """,
)

QUIET = (
    "NVRM: Xid (PCI:0000:65:00): 45, pid=1443, name=python",
    "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 08 (0x004505c6 0x00000000)",
    # a board's history
    "ECC Errors\nVolatile\nSRAM Uncorrectable : 0\nDRAM Uncorrectable : 0\nAggregate\nSRAM Uncorrectable : 0\nDRAM Uncorrectable : 2",
    "Remapped Rows\nCorrectable Error : 1\nUncorrectable Error : 0\nPending : No\nRemapping Failure Occurred : No",
    "Remapped Rows\nCorrectable Error : 0\nUncorrectable Error : 1\nPending : No\nRemapping Failure Occurred : No",
    "clocks_throttle_reasons.hw_thermal_slowdown, temperature.gpu\nNot Active, 61",
    "Retired Pages\nSingle Bit ECC : 0\nDouble Bit ECC : 0\nPending Page Blacklist : No",
    "SW Power Cap                      : Active\n HW Slowdown : Not Active",
)
