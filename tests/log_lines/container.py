"""Containers and their schedulers: a GPU that was asked for and not given.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "container-gpu-denied": (
        (
            'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
            {"reason": "runtime"},
        ),
        ("nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.", {"reason": "hook"}),
        ("WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.", {"reason": "not-passed"}),
        ("0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", {"reason": "scheduler"}),
        ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", {"reason": "runtime"}),
    ),
}

NOT_MEANT = {
    "container-gpu-denied": ("nvidia-container-cli version 1.14.3", "docker run --gpus all nvidia/cuda nvidia-smi"),
}
