"""Reports on a GPU's health: nvidia-smi -q, dcgmi diag and MIG.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "compute-mode": (
        ("    Compute Mode                          : Exclusive_Process", {"mode": "exclusive-process"}),
        ("| 30%   40C    P8    20W / 300W |      1MiB / 24576MiB |      0%   E. Process |", {"mode": "exclusive-process"}),
    ),
    "dcgm-failed": (
        ("| GPU Memory                | Fail - GPU: 0                                  |", {"test": "GPU Memory"}),
        ("| PCIe                      | Fail - GPUs: 2, 3                              |", {"device": "GPUs: 2, 3"}),
    ),
    "ecc-count": (
        ("|   0  NVIDIA A100-SXM4-40GB    On  | 00000000:07:00.0 Off |                    4 |", {"count": "4"}),
        ("            DRAM Uncorrectable            : 12", {"memory": "DRAM", "count": "12"}),
        ("        Double Bit ECC                    : 2", {"count": "2"}),
        ("            SRAM Uncorrectable Parity     : 1", {"memory": "SRAM"}),
    ),
    "ecc-uncorrectable": (
        ("E cuda_driver.cc:1103] failed to synchronize: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered", {}),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", {}),
        ("| Error | GPU 3 has uncorrectable memory errors and row |", {"device": "3"}),
    ),
    "gpu-throttled": (
        ("        HW Thermal Slowdown               : Active", {"reason": "hw thermal slowdown"}),
        ("GPU 1 Thermal violations totaling 4.2 seconds started at 1.0 seconds", {"seconds": "4.2"}),
        ("            HW Slowdown                       : Active", {"reason": "hw slowdown"}),
    ),
    "mig-shown": (
        ("  MIG 3g.20gb     Device  0: (UUID: MIG-1c22a4c2-30a5-5e3d-9e80-d0c2b7ba1db0)", {}),
        ("  MIG 1g.5gb Device 0: (UUID: MIG-GPU-6482a92e-d06b-dc68-c272-e3d8f7ecabbf/7/0)", {}),
        ("|                               |                      |              Enabled |", {}),
        ("    MIG Mode\n        Current                           : Enabled", {}),
    ),
    "mig-failed": (
        ("Unable to create a GPU instance on GPU  0 using profile 19: Insufficient Resources", {}),
        ("slurmd: fatal: MIG mode is enabled, but no MIG devices were found.", {}),
        ("No MIG-supported devices found.", {}),
    ),
    "pages-retired": (
        ("        Pending Page Blacklist            : Yes", {"state": "pending"}),
        ("    Pending Page Retirement : Yes", {}),
    ),
    "row-remapping": (
        (
            "    Remapped Rows\n        Correctable Error : 0\n        Uncorrectable Error : 1\n        Pending : Yes",
            {"state": "Pending"},
        ),
        ("        Remapping Failure Occurred        : Yes", {}),
        ("NVRM: Row remapper: remapping pending", {"state": "pending"}),
    ),
    "ecc-history": (
        ("Aggregate\n    SRAM Uncorrectable : 0\n    DRAM Uncorrectable : 2", {"count": "2"}),
        ("Aggregate\n  Single Bit\n    Total : 0\n  SRAM Uncorrectable Parity : 1", {"count": "1"}),
    ),
}

NOT_MEANT = {
    "compute-mode": (
        "    Compute Mode                          : Default",
        "of which 2.00 GiB is free. Process 4242 has 1.00 GiB",
    ),
    "dcgm-failed": (
        "|                           | Pass - GPUs: 1, 2                              |",
        "FAILED tests/test_a.py | Failed",
    ),
    "ecc-count": ("            SRAM Uncorrectable            : 0", "            SRAM Correctable              : 7"),
    "ecc-uncorrectable": ("Volatile Uncorr. ECC", "    Uncorrectable ECC errors : 0"),
    "gpu-throttled": ("        HW Slowdown                       : Not Active", "request throttled by API rate limit"),
    "mig-shown": (
        "|                               |                      |             Disabled |",
        "| Persistence | Enabled |",
        "    MIG Mode\n        Current                           : Disabled",
        "GPU 0: NVIDIA A100 (UUID: GPU-5a5b6b1c-3fb6-2c41-bd25-0c5d8b4a0f3e)",
    ),
    "mig-failed": ("MIG M. Disabled", "| GPU instance profiles: |"),
    "pages-retired": ("        Pending Page Blacklist            : No",),
    "row-remapping": (
        "    Remapped Rows\n        Correctable Error : 1\n        Uncorrectable Error : 0\n        Pending : No",
        "Row remapping complete",
    ),
    "ecc-history": ("Aggregate\n    SRAM Uncorrectable : 0\n    DRAM Uncorrectable : 0", "Aggregate throughput : 12"),
}
