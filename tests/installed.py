"""What is installed on the recorded machines, and changes that take some of it away."""

from fakes import machine

PYTHON = "/home/user/.venv/bin/python"
SITE = "/home/user/.venv/lib/python3.12/site-packages"
CUSOLVER, CUDNN, NCCL = 4, 6, 7  # places among the libraries
LISTS_NONE = {"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}], "training.runs": []}
ABSENT = {
    "packages": {},
    "libraries": {},
    "tensorflow": {"imported": False, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"},
    "keras": {"imported": False},
    "training.runs": [],
}


def lost(place, **fields):
    """The library at that place is found nowhere, unless ``fields`` say otherwise."""
    one = machine("h200")["libraries"]["libraries"][place]
    plain = {"soname": one["soname"], "required": one["required"], "package": one["package"], **fields}
    return {f"libraries.libraries[{place}]": plain}


def everything_lost():
    return {key: value for place in range(8) for key, value in lost(place).items()}
