"""What a person answered in an issue's form, or says in passing: the system, TensorFlow's version and Python's.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "os-named": (
        ("### OS platform and distribution\n\nWindows 11 23H2\n\n### Mobile device", {"os": "windows", "labelled": "yes"}),
        ("### OS Platform and Distribution\nWSL2 on Windows 11", {"os": "wsl"}),
        ("- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): Windows 10 x64", {"os": "windows", "labelled": "yes"}),
        ("**Operating system**: macOS Ventura 13.4", {"os": "macos"}),
        ("| OS | Ubuntu 24.04 |", {"os": "linux"}),
        ("Platform: Windows-10-10.0.19045-SP0", {"os": "windows"}),
        ("I am on Windows 10 with an RTX 3060", {"os": "windows", "labelled": "no"}),
    ),
    "tensorflow-named": (
        ("### TensorFlow version\n\ntf 2.16.1\n\n### Custom code", {"tensorflow": "2.16.1", "labelled": "yes"}),
        ("- **TensorFlow version (use command below)**: v2.12.0-rc1-12-g0db597d0d75 2.12.0", {"tensorflow": "2.12.0-rc1"}),
        ("TensorFlow: 2.13", {"tensorflow": "2.13"}),
        ("we use tensorflow 2.15.0 there", {"tensorflow": "2.15.0", "labelled": "no"}),
    ),
    "python-named": (
        ("### Python version\n3.13.1", {"python": "3.13"}),
        ("Python: v3.9", {"python": "3.9"}),
    ),
    "gpu-unseen": (
        ("TensorFlow doesn't see my RTX GPU", {}),
        ("the GPU is not detected by tensorflow", {}),
        ("tensorflow cannot find the GPU", {}),
        ("However, TensorFlow is unable to recognize the GPU.", {}),
    ),
}

NOT_MEANT = {
    "os-named": ("- OS Platform and Distribution (e.g., Linux Ubuntu 16.04):", "position: Windows are small"),
    "tensorflow-named": (
        "Downloading tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl",
        "TensorFlow: a system for machine learning",
    ),
    "python-named": ("Requires-Python >=3.9", "/usr/lib/python3.12/site.py"),
    "gpu-unseen": ("TensorFlow sees my GPU", "Could not load dynamic library 'libcudnn.so.8'"),
}
