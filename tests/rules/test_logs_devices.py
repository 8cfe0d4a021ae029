"""Logs about devices: lost, faulty, hidden, refused, not passed in, kept by a mode; of the kernel, nvidia-smi, containers and
schedulers.
"""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

DRIVER = "E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:268] failed call to cuInit:"
DIAGNOSTICS = "I external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:"
AGREE = f"{DIAGNOSTICS}284] kernel version seems to match DSO: 580.95.5"
NO_DEVICE = f"{DRIVER} CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"

NAMED = [
    # -- lost --
    ("gpu-lost", "[1234567.890123] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
    (
        "gpu-lost",
        """
        Jul 04 02:11:31 gn113 kernel: NVRM: GPU at PCI:0000:c1:00: GPU-5b2c1a90-0f0e-1d2c-3b4a-596877869504
        Jul 04 02:11:31 gn113 kernel: NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.
        Jul 04 02:11:31 gn113 kernel: NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
        Jul 04 02:11:32 gn113 kernel: NVRM: Xid (PCI:0000:c2:00): 74, NVLink: fatal error detected on link 4(0x0, 0x0, 0x10000)
        """,
    ),
    ("gpu-lost", "kernel: NVRM: Xid (PCI:0000:84:00): 119, pid=1, name=dcgmd, Timeout after 6s of waiting for RPC response from GPU7 GSP!"),
    ("gpu-lost", "Mar 3 10:00:01 host kernel: NVRM: GPU 0000:05:00.0: RmInitAdapter failed! (0x62:0xffff:2477)\nNo devices were found"),
    ("gpu-lost", "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU"),
    ("gpu-lost", "Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error"),
    ("gpu-lost", "pynvml.NVMLError_GpuIsLost: GPU is lost"),
    ("gpu-lost", "E0612 health.go:159] XidCriticalError: Xid=62 on Device=GPU-adb24b25-1db1-436e-d958-ddee5da83d07; marking device as unhealthy."),
    ("gpu-lost", "torch.distributed worker 3: NVML_ERROR_GPU_IS_LOST\nNCCL WARN Cuda failure 'unspecified launch failure'\nNVRM: Xid (PCI:0000:b1:00): 79, GPU has fallen off the bus."),
    # -- faulty memory --
    ("ecc-errors", "NVRM: Xid (PCI:0000:17:00): 48, pid=8817, name=python3, DBE (double bit error) ECC"),
    ("ecc-errors", "[  991.1] NVRM: Xid (PCI:0000:18:00): 94, pid=771, name=python, Contained: SM (0x1). RST: No, D-RST: No"),
    ("ecc-errors", "[Tue May  6 07:00:00 2025] NVRM: Xid (PCI:0000:18:00): 95, pid=771, name=python, Uncontained: FBHUB. RST: Yes"),
    ("ecc-errors", "NVRM: Xid (PCI:0000:18:00): 64, pid='<unknown>', name=<unknown>, Row Remapper: Error in updating row remap table"),
    ("ecc-errors", "RuntimeError: CUDA error: uncorrectable ECC error encountered"),
    ("ecc-errors", "F0000 tensorflow/compiler/xla/stream_executor/cuda/cuda_event.cc] CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered"),
    (
        "ecc-errors",
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
    ),
    (
        "ecc-errors",
        """
        Remapped Rows
            Correctable Error                 : 0
            Uncorrectable Error               : 8
            Pending                           : No
            Remapping Failure Occurred        : Yes
        """,
    ),
    ("ecc-errors", "GPU 2: Detected 3 volatile double-bit ECC error(s) in GPU 2. Drain the GPU and reset it or reboot the node."),
    ("ecc-errors", "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                   12 |"),
    # -- links --
    ("nvlink-down", "[Sat Feb  1 00:00:00 2025] NVRM: Xid (PCI:0000:9d:00): 74, NVLink: fatal error detected on link 7(0x0, 0x0)"),
    ("nvlink-down", "RuntimeError: CUDA error: CUDA_ERROR_NVLINK_UNCORRECTABLE: uncorrectable NVLink error detected during the execution"),
    ("nvlink-down", "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6)\nNCCL WARN Watchdog caught collective operation timeout"),
    ("nvlink-down", "[ 81.1] nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 32 LTSSM Fault Up"),
    ("ecc-errors", "gn1:1:2 [3] NCCL WARN Cuda failure 'uncorrectable ECC error encountered'\nRuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1331, unhandled cuda error"),
    # -- hidden --
    ("devices-hidden", f"{NO_DEVICE}\n{DIAGNOSTICS}190] libcuda reported version is: 580.95.5\n{AGREE}"),
    ("devices-hidden", f'{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES="7"\n{AGREE}'),
    ("devices-hidden", "RuntimeError: No CUDA GPUs are available"),
    ("devices-hidden", "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: No visible GPU devices."),
    ("devices-hidden", "RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported"),
    (
        "devices-hidden",
        f"""
        slurm: CUDA_VISIBLE_DEVICES=NoDevFiles
        {NO_DEVICE}
        RuntimeError: a GPU is needed
        """,
    ),
    # -- files --
    ("device-nodes-missing", f"ls: cannot access '/dev/nvidia-uvm': No such file or directory\n{DRIVER} CUDA_ERROR_UNKNOWN: unknown error\n{AGREE}"),
    ("device-nodes-missing", "docker: Error response from daemon: error gathering device information while adding custom device \"/dev/nvidia-uvm\": no such file or directory."),
    ("device-permission-denied", "Failed to initialize NVML: Insufficient Permissions"),
    ("device-permission-denied", "root@host:/# nvidia-smi\nFailed to initialize NVML: Unknown Error"),
    ("device-permission-denied", f"open(\"/dev/nvidiactl\"): Permission denied\n{NO_DEVICE}"),
    ("device-permission-denied", "cat: /dev/nvidia0: Operation not permitted\nRuntimeError: No CUDA GPUs are available"),
    # -- modes --
    ("compute-mode-exclusive", "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable"),
    ("compute-mode-exclusive", "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable"),
    ("compute-mode-exclusive", "Compute Mode : Exclusive_Process\nE cuda_driver.cc:1] failed call to cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable"),
    ("mig-misconfigured", "No MIG-supported devices found."),
    ("mig-misconfigured", "Unable to create a GPU instance on GPU  0 using profile 19: Insufficient Resources"),
    ("mig-misconfigured", "E0101 main.go:115] error starting plugins: error creating resources: invalid MIG strategy: At least one device with migEnabled=true was not configured correctly"),
    ("compute-mode-exclusive", "gpu4:771:802 [0] NCCL WARN Cuda failure 'all CUDA-capable devices are busy or unavailable'"),
    # -- the fabric --
    ("fabric-manager-down", "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)"),
    ("fabric-manager-down", "E0000 00:00:1760000000.1 31 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized"),
    ("fabric-manager-down", "cudaErrorSystemNotReady (error 802) due to \"system not yet initialized\" on CUDA API call to cudaMalloc"),
    ("fabric-manager-down", "systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\ncuInit failed: CUDA_ERROR_SYSTEM_NOT_READY"),
    # -- WSL --
    ("wsl-misconfigured", "nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown"),
    ("wsl-misconfigured", "libdxcore.so: cannot open shared object file: No such file or directory\nFailed to initialize NVML: GPU access blocked by the operating system"),
    (
        "wsl-misconfigured",
        f"""
        Linux DESKTOP-AB12CD 5.15.167.4-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux
        {NO_DEVICE}
        {DIAGNOSTICS}145] kernel driver does not appear to be running on this host (DESKTOP-AB12CD): /proc/driver/nvidia/version does not exist
        """,
    ),
    # -- containers and schedulers --
    ("container-without-gpu", 'docker: Error response from daemon: OCI runtime create failed: exec: "nvidia-smi": executable file not found in $PATH: unknown.'),
    ("container-without-gpu", "Failed to start plugin: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND\nIf this is a GPU node, did you configure the NVIDIA Container Toolkit?"),
    ("container-without-gpu", 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'),
    ("container-without-gpu", 'Error response from daemon: could not select device driver "nvidia" with capabilities:\n[[gpu]]'),
    ("container-without-gpu", "docker: Error response from daemon: unknown or invalid runtime name: nvidia."),
    ("container-without-gpu", "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all"),
    ("container-without-gpu", "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\n   Use the NVIDIA Container Toolkit to start this container with GPU support"),
    ("container-without-gpu", "INFO:    Could not find any nv files on this host!\nRuntimeError: Found no NVIDIA driver on your system."),
    (
        "container-without-gpu",
        """
        Events:
          Type     Reason            Age   From               Message
          Warning  FailedScheduling  12s   default-scheduler  0/9 nodes are available: 3 node(s) had untolerated taint {nvidia.com/gpu: present}, 6 Insufficient nvidia.com/gpu. preemption: 0/9 nodes are available
        """,
    ),
    ("container-without-gpu", "Warning  UnexpectedAdmissionError  5s  kubelet  Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"),
    ("container-without-gpu", "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown"),
    ("container-without-gpu", "nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/x/merged/usr/lib/libnvidia-ml.so.1: file exists: unknown."),
    ("no-nvidia-gpu", "$ nvidia-smi\nNo devices were found"),
    ("no-nvidia-gpu", "kernel: NVRM: No NVIDIA GPU found."),
    # -- the cause that another message points to; other spellings and tools --
    ("nvlink-down", "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=77, name=python3, Ch 00000001 caused by previous Xid 149"),
    ("device-nodes-missing", "Jul  8 15:11:23 gpu slurmd[5421]: fatal: can't stat gres.conf file /dev//nvidia0: No such file or directory"),
    ("container-without-gpu", "Failed to create pod sandbox: rpc error: failed to get sandbox runtime: no runtime for \"nvidia\" is configured"),
    ("mig-misconfigured", "$ nvidia-smi mig -lgi\nNo MIG-enabled devices found."),
    ("fabric-manager-down", "level=INFO source=gpu.go:612 msg=\"Unable to load cudart library /usr/lib/libcuda.so.570: cuda driver library init failure: 802\""),
]  # fmt: skip

WARNINGS = [
    ("gpu-throttled", "| Warning | GPU 3 Thermal violations totaling 42.0 seconds started at 1.1 seconds into the test |"),
    ("gpu-throttled", "    Clocks Event Reasons\n        HW Thermal Slowdown               : Active"),
    (
        "pcie-link-degraded",
        "pci 0000:17:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:15:01.0"
        " (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
    ),
    ("pcie-link-degraded", "LnkSta: Speed 16GT/s, Width x4 (downgraded)"),
    ("gpu-lost", "|ERR!   43C    P0    N/A / N/A |      0MiB / 81559MiB |     ERR!      Default |"),
    ("ecc-errors", "NVRM: Xid (PCI:0000:18:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping"),
    # what programs do to themselves
    ("training-failed", "NVRM: Xid (PCI:0000:65:00): 31, pid=1443, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"),
    ("training-failed", "NVRM: Xid (PCI:0000:65:00): 43, pid=1443, name=python, Ch 00000010\nNVRM: Xid (PCI:0000:65:00): 45, pid=1443, name=python"),
    ("training-failed", "[ 10.5] NVRM: Xid (PCI:0000:65:00): 13, pid=1443, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Out Of Range Address"),
    ("devices-hidden", f'{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES="-1"\n{AGREE}\nEpoch 3/10'),
    ("devices-hidden", f'{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES=""\n{AGREE}'),
]  # fmt: skip

QUIET = [
    "NVRM: Xid (PCI:0000:65:00): 45, pid=1443, name=python",
    "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Nonfatal XC0 i0 Link 08 (0x004505c6 0x00000000)",
    # a board's history
    "ECC Errors\nVolatile\nSRAM Uncorrectable : 0\nDRAM Uncorrectable : 0\nAggregate\nSRAM Uncorrectable : 0\nDRAM Uncorrectable : 2",
    "Remapped Rows\nCorrectable Error : 1\nUncorrectable Error : 0\nPending : No\nRemapping Failure Occurred : No",
    "Remapped Rows\nCorrectable Error : 0\nUncorrectable Error : 1\nPending : No\nRemapping Failure Occurred : No",
    "clocks_throttle_reasons.hw_thermal_slowdown, temperature.gpu\nNot Active, 61",
    "Retired Pages\nSingle Bit ECC : 0\nDouble Bit ECC : 0\nPending Page Blacklist : No",
    "SW Power Cap                      : Active\n HW Slowdown : Not Active",
    # modes and variables alone
    "Compute Mode                          : Exclusive_Process",
    "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:19:00.0 Off |                    0 |\n| N/A   31C    P0   72W / 700W |  1MiB / 81559MiB |      0%      E. Process |\n|                               |                      |             Disabled |",
    "+ export CUDA_VISIBLE_DEVICES=-1\nCollecting tensorflow\nSuccessfully installed tensorflow-2.17.0",
    "NVIDIA_VISIBLE_DEVICES=void",
    # services and schedulers at work
    "Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: 4 Insufficient nvidia.com/gpu.\nEpoch 2/3\nstep 10 loss 2.0",
    "Unable to set persistence mode for GPU 00000000:01:00.0: Insufficient Permissions",
    "I0101 server.go:165] Registered device plugin for 'nvidia.com/gpu' with Kubelet",
    "systemd[1]: Started nvidia-fabricmanager.service - NVIDIA fabric manager service.\nFabric : State : Completed",
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-x)\n  MIG 3g.20gb     Device  0: (UUID: MIG-y)",
    "crw-rw-rw- 1 root root 195,   0 Mar  3 09:00 /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 255 Mar  3 09:00 /dev/nvidiactl",
    "slurmstepd: task/cgroup: /slurm/uid_1000/job_771: alloc=0MB mem.limit=65536MB\nEpoch 2/3\n",
]  # fmt: skip


@pytest.mark.parametrize(("code", "text"), NAMED)
def test_the_cause_is_named(code, text):
    assert_named(code, text)


@pytest.mark.parametrize(("code", "text"), WARNINGS)
def test_what_may_be_meant_so_is_a_warning(code, text):
    assert [(item.code, item.severity) for item in told_by(text)] == [(code, Severity.WARNING)]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_harmless_is_quiet(text):
    assert [item.code for item in told_by(text)] == []


def test_an_xid_is_decoded_and_names_its_gpu():
    (lost,) = told_by("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.")
    assert lost.summary == "The GPU at 0000:3b:00 no longer answers: the GPU has fallen off the bus (Xid 79)."
    assert lost.fix[0].text.startswith("Xid 79 means")
    assert lost.affects == ("0000:3b:00",)


def test_a_container_is_recognised_by_its_host_name():
    absent = "kernel driver does not appear to be running on this host ({}): /proc/driver/nvidia/version does not exist"
    inside = told_by(f"{NO_DEVICE}\n{absent.format('9f8e7d6c5b4a')}")
    outside = told_by(f"{NO_DEVICE}\n{absent.format('workstation-1')}")
    assert [item.code for item in (*inside, *outside)] == ["container-without-gpu", "no-nvidia-gpu"]
