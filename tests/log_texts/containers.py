"""GPUs that a container, a scheduler or WSL does not pass in.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

from log_texts._cuda_start import ABSENT, DIAGNOSTICS, DRIVER, NO_DEVICE

NAMED = {
    "container-without-gpu": (
        'docker: Error response from daemon: OCI runtime create failed: exec: "nvidia-smi": executable file not found in $PATH: unknown.',
        "Failed to start plugin: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND\nIf this is a GPU node, did you configure the NVIDIA Container Toolkit?",
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        'Error response from daemon: could not select device driver "nvidia" with capabilities:\n[[gpu]]',
        "docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
        "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all",
        "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\n   Use the NVIDIA Container Toolkit to start this container with GPU support",
        "INFO:    Could not find any nv files on this host!\nRuntimeError: Found no NVIDIA driver on your system.",
        """
        Events:
          Type     Reason            Age   From               Message
          Warning  FailedScheduling  12s   default-scheduler  0/9 nodes are available: 3 node(s) had untolerated taint {nvidia.com/gpu: present}, 6 Insufficient nvidia.com/gpu. preemption: 0/9 nodes are available
        """,
        "Warning  UnexpectedAdmissionError  5s  kubelet  Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected",
        "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown",
        "nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/x/merged/usr/lib/libnvidia-ml.so.1: file exists: unknown.",
        'Failed to create pod sandbox: rpc error: failed to get sandbox runtime: no runtime for "nvidia" is configured',
        f"""
        {DRIVER} UNKNOWN ERROR (34)
        {ABSENT} (0b9f3c2d1e7a): /proc/driver/nvidia/version does not exist
        """,
    ),
    "wsl-misconfigured": (
        """
        I1116 08:11:48.963 2701 dxcore.c:208] Core Nvidia library libnvidia-ml.so.1 not found in /usr/lib/wsl/drivers/nvltwi.inf_amd64_08cf6d9852
        2021/11/16 08:12:01 Failed to initialize NVML: could not load NVML library.
        """,
        "dxcore.c:210] Core Nvidia component libcuda.so.1.1 not found in /usr/lib/wsl/drivers/nv_dispi.inf_amd64_e6610765cda2bce8",
        "nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown",
        "libdxcore.so: cannot open shared object file: No such file or directory\nFailed to initialize NVML: GPU access blocked by the operating system",
        f"""
        Linux DESKTOP-AB12CD 5.15.167.4-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux
        {NO_DEVICE}
        {DIAGNOSTICS}145] kernel driver does not appear to be running on this host (DESKTOP-AB12CD): /proc/driver/nvidia/version does not exist
        """,
    ),
}

WARNED = {
    # nvidia-smi needs it, and training does not
    "wsl-misconfigured": (
        "dxcore.c:208] Core Nvidia library libnvidia-ml.so.1 not found in /usr/lib/wsl/drivers/nvltwi.inf_amd64_08cf6d9852",
    ),
    "container-without-gpu": (
        f"{DRIVER} UNKNOWN ERROR (303)\n{ABSENT} (7c20885796ae): /proc/driver/nvidia/version does not exist",
    ),
}

QUIET = (
    # Intel's graphics beside NVIDIA's
    "dxcore.c:210] Core Nvidia component libcuda.so.1.1 not found in /usr/lib/wsl/drivers/iigd_dch.inf_amd64_e6610765cda2bce8\ndxcore.c:326] dxcore layer initialized successfully",
    # services and schedulers at work
    "Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: 4 Insufficient nvidia.com/gpu.\nEpoch 2/3\nstep 10 loss 2.0",
    "I0101 server.go:165] Registered device plugin for 'nvidia.com/gpu' with Kubelet",
    "slurmstepd: task/cgroup: /slurm/uid_1000/job_771: alloc=0MB mem.limit=65536MB\nEpoch 2/3\n",
)
