"""Installing: pip, conda and uv.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "cuda-package-missing": (
        ("  - nothing provides cuda-cudart >=12.4,<12.5 needed by pytorch-cuda-12.4-h1_0", {"package": "cuda-cudart"}),
        (
            "PackagesNotFoundError: The following packages are not available from current channels:\n\n  - cudatoolkit=11.3",
            {"package": "cudatoolkit"},
        ),
    ),
    "package-installed": (
        (
            "Successfully installed absl-py-2.1.0 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.20.0 wrapt-1.16.0",
            {"package": "tensorflow", "version": "2.20.0", "cuda": "yes"},
        ),
        (
            "Requirement already satisfied: tensorflow in /opt/conda/lib/python3.9/site-packages (2.8.0)",
            {"path": "/opt/conda/lib/python3.9/site-packages", "version": "2.8.0", "cuda": "no"},
        ),
    ),
    "pip-unreachable": (
        ("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<pip._vendor...>')'", {}),
        (
            "urllib3.exceptions.NewConnectionError: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
            {},
        ),
    ),
    "pip-conflict": (
        (
            "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.3.3 which is incompatible.",
            {"package": "tensorflow", "found": "keras 3.3.3"},
        ),
        (
            "tf-keras 2.21.0 requires tensorflow<2.22,>=2.21, but you have tensorflow 2.18.0 which is incompatible.",
            {"package": "tf-keras"},
        ),
    ),
    "pip-no-matching-distribution": (
        (
            "ERROR: Could not find a version that satisfies the requirement tensorflow==2.8.0 (from versions: 2.16.1, 2.17.0)",
            {"package": "tensorflow", "version": "==2.8.0", "available": "2.16.1 to 2.17.0"},
        ),
        ("  Could not find a version that satisfies the requirement tensorflow (from versions: )", {"package": "tensorflow"}),
        ("ERROR: No matching distribution found for tensorflow[and-cuda]>=2.14", {"package": "tensorflow", "version": ">=2.14"}),
        (
            "ERROR: Could not find a version that satisfies the requirement tensorflow-text (from -r req.txt (line 3)) (from versions: none)",
            {"available": "none"},
        ),
    ),
    "pip-python-mismatch": (
        ("ERROR: Package 'keras' requires a different Python: 3.8.10 not in '>=3.9'", {"python": "3.8.10", "needed": ">=3.9"}),
        ("ERROR: Ignored the following versions that require a different python version: 2.16.1 Requires-Python >=3.9", {}),
    ),
    "pip-wheel-unsupported": (
        ("ERROR: tensorflow-2.10.0-cp39-cp39-win_amd64.whl is not a supported wheel on this platform.", {}),
        (
            "ERROR: jaxlib-0.4.1-cp310-none-any.whl is not a supported wheel on this platform.",
            {"file": "jaxlib-0.4.1-cp310-none-any.whl"},
        ),
    ),
    "tensorflow-gpu-package": (
        ('    The "tensorflow-gpu" package has been removed!', {}),
        ('  File "/tmp/pip-install-x/tensorflow-gpu/setup.py", line 37, in <module>', {}),
    ),
}

NOT_MEANT = {
    "cuda-package-missing": ("nothing provides requested pandas 9.9", "cuda-cudart provides nothing new"),
    "package-installed": ("Successfully installed numpy-2.1.0 tensorflow-text-2.18.0",),
    "pip-unreachable": ("a NewConnection was made",),
    "pip-conflict": ("tensorflow 2.21.0 requires keras>=3.12.0",),
    "pip-no-matching-distribution": ("Collecting tensorflow==2.21.0",),
    "pip-python-mismatch": ("Python 3.12 is required",),
    "pip-wheel-unsupported": ("Downloading tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl",),
    "tensorflow-gpu-package": ("pip install tensorflow[and-cuda]", "Requirement already satisfied: tensorflow-gpu==2.10.1"),
}
