"""The changes of a repair's command, and how to undo them."""

import pytest

from gpucheck.core.model import Fix
from gpucheck.core.repairs.choice import described

INSTALLED = {"numpy": "2.1.0", "tensorflow": "2.21.0", "nvidia-cudnn-cu12": "9.1.0.70"}
TABLE = [
    ("export LD_LIBRARY_PATH=/a", ("environment variables",), "open a new shell"),
    ("unset TF_CONFIG && export A=1", ("environment variables",), "open a new shell"),
    ('python -m pip install "numpy<2"', ("packages",), "python -m pip install numpy==2.1.0"),
    ("/v/bin/python -m pip install --force-reinstall --no-deps numpy==2.1.0", ("packages",), "/v/bin/python -m pip install numpy==2.1.0"),
    ("python -m pip install h5py", ("packages",), None),
    ("python -m pip install torch --index-url https://example.org/whl", ("packages",), None),
    ("python -m pip uninstall -y tensorflow && python -m pip install nvidia-cudnn-cu12==9.3.*", ("packages",),
     "python -m pip install nvidia-cudnn-cu12==9.1.0.70; then python -m pip install tensorflow==2.21.0"),
    ("python -m pip install numpy==1.26.4 && export KERAS_BACKEND=jax", ("packages", "environment variables"),
     "open a new shell; then python -m pip install numpy==2.1.0"),
    ("python -m venv ~/tensorflow-env && ~/tensorflow-env/bin/python -m pip install tensorflow", ("new environment",), "rm -r ~/tensorflow-env"),
    ("py -3.12 -m venv tensorflow-env && tensorflow-env\\Scripts\\python -m pip install tensorflow", ("new environment",), "rm -r tensorflow-env"),
    ("uv venv --python 3.12 ~/tensorflow-env && uv pip install --python ~/tensorflow-env tensorflow", ("new environment",), "rm -r ~/tensorflow-env"),
    ("conda create -y -n tensorflow python=3.12 && conda run -n tensorflow python -m pip install tensorflow", ("new environment",),
     "conda env remove -n tensorflow"),
    ("mv keras.py my_keras.py", ("files",), "mv my_keras.py keras.py"),
    ("sudo apt-get install -y nvidia-driver-580", ("system packages",), "sudo apt-get remove nvidia-driver-580"),
    ("sudo systemctl enable --now nvidia-persistenced", ("services",), "sudo systemctl disable --now nvidia-persistenced"),
    ("sudo usermod -aG render $USER", ("system settings",), "sudo gpasswd -d $USER render"),
    ("sudo nvidia-smi -i 0 -mig 0", ("GPU",), None),
    ("kill 4711", ("processes",), None),
    ("gpucheck --allow-cpu", (), None),
]  # fmt: skip


@pytest.mark.parametrize(("command", "changes", "undo"), TABLE)
def test_changes_and_undo_of_a_command(command, changes, undo):
    fix = described(Fix(text="x", command=command), INSTALLED)
    assert (fix.changes, fix.undo) == (changes, undo)


def test_declared_undo_is_kept_and_look_commands_change_nothing():
    assert described(Fix(text="x", command="kill 1", undo="start it again"), {}).undo == "start it again"
    look = Fix(text="x", command="sudo dmesg", kind="look")
    assert described(look, {}) == look
