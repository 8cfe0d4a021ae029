"""The assignments that findings carry: the fewest, none on a healthy machine, and the same that their fixes print."""

import pytest
from fakes import MACHINES, assignment, facts
from one_rule import changed

from gpucheck.advice.shells import applied, statement
from gpucheck.engine.pipeline import judge
from gpucheck.engine.plugin import load_rules
from gpucheck.repair.prove import growth

SITE = "/home/user/.venv/lib/python3.12/site-packages"
CUSOLVER = {
    "soname": "libcusolver.so.11",
    "required": True,
    "package": "nvidia-cusolver-cu12",
    "elsewhere": [f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11"],
}
NO_XLA_TOOLS = {"libraries.ptxas": {}, "libraries.libdevice": {}}


def planned(changes=None, name="h200"):
    """Of every finding of the quick checks, each once. What a fix prints for a shell is what is assigned."""
    judged = judge(facts(changed(changes, name=name, quick=True)), load_rules())
    carried = [judgement.finding for judgement in judged if judgement.finding is not None and judgement.finding.assignments]
    for finding in carried:
        commands = " ".join(fix.command or "" for fix in finding.fix)
        assert all(statement(one) in commands for one in finding.assignments)
    return list(dict.fromkeys(one for finding in carried for one in finding.assignments))


def brief(assignments):
    return [(one.variable, one.operation.value, one.value, one.apply) for one in assignments]


@pytest.mark.parametrize("name", sorted(path.stem for path in MACHINES.glob("*.json")))
def test_a_recorded_machine_needs_nothing(name):
    assert planned(name=name) == []


def test_only_the_missing_folder():
    (one,) = planned({"libraries.libraries[4]": CUSOLVER})
    assert brief([one]) == [("LD_LIBRARY_PATH", "prepend", f"{SITE}/nvidia/cusolver/lib", True)]
    assert "libcusolver.so.11" in one.reason


@pytest.mark.parametrize("folder", ["/a:b", "/a;b", "/a\nb"])
def test_a_folder_that_the_loader_cannot_be_told(folder):
    assert planned({"libraries.libraries[4]": {**CUSOLVER, "elsewhere": [f"{folder}/libcusolver.so.11"]}}) == []


def test_a_library_that_is_nowhere_is_no_matter_of_variables():
    assert planned({"libraries.libraries[4]": {**CUSOLVER, "elsewhere": []}}) == []


def tools(*folders):
    return {**NO_XLA_TOOLS, "libraries.xla_folders": [{"path": path, "version": version} for path, version in folders]}


def test_the_toolkit_that_fits():
    wanted = ("XLA_FLAGS", "prepend", "--xla_gpu_cuda_data_dir=/usr/local/cuda-12.5", True)
    found = planned(
        tools(("/usr/local/cuda-14.0", "14.0.1"), ("/usr/local/cuda-13.0", "13.0.1"), ("/usr/local/cuda-12.5", "12.5.82"))
    )
    assert brief(found) == [wanted]
    assert planned(tools(("/usr/local/cuda-14.0", "14.0.1"))) == []  # this driver can't follow it
    assert planned(tools()) == []
    (newer,) = planned(tools(("/usr/local/cuda-13.0", "13.0.1")))
    assert newer.value == "--xla_gpu_cuda_data_dir=/usr/local/cuda-13.0"


def test_blanks_in_a_folder_and_a_flag_that_is_there_already():
    named = {"environment.variables.XLA_FLAGS": '--xla_a=1 --xla_gpu_cuda_data_dir="/no where" --xla_b=2'}
    (one,) = planned({**tools(("/opt/cuda 12", "12.5.82")), **named})
    assert brief([one]) == [("XLA_FLAGS", "set", '--xla_gpu_cuda_data_dir="/opt/cuda 12" --xla_a=1 --xla_b=2', True)]
    (other,) = planned({**tools(("/opt/cuda", "12.5.82")), "environment.variables.XLA_FLAGS": "--xla_a=1"})
    assert applied([other], {"XLA_FLAGS": "--xla_a=1"}) == {"XLA_FLAGS": "--xla_gpu_cuda_data_dir=/opt/cuda --xla_a=1"}


def test_the_kernel_cache_only_where_kernels_are_compiled():
    """TensorFlow 2.21 has no native code for an H200, and has some for an A100."""
    unwritable = {"limits.kernel_cache_writable": False, "limits.kernel_cache_other": "/var/tmp/cuda-cache-1000"}
    assert brief(planned(unwritable)) == [("CUDA_CACHE_PATH", "set", "/var/tmp/cuda-cache-1000", True)]
    native = {"gpus.gpus[0].compute_capability": [8, 0], "cuda.devices[0].compute_capability": [8, 0]}
    assert planned({**unwritable, **native}) == []
    assert planned({**unwritable, "limits.kernel_cache_other": None}) == []
    assert brief(planned({"limits.kernel_cache_disabled": True})) == [("CUDA_CACHE_DISABLE", "unset", "", True)]


HIDDEN = {"cuda": {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}}


@pytest.mark.parametrize("value", ["-1", "", "7", "all", "NoDevFiles", "GPU-deadbeef"])
def test_hidden_devices_are_shown(value):
    changes = {"environment.variables": {"CUDA_VISIBLE_DEVICES": value}, **HIDDEN}
    assert brief(planned(changes)) == [("CUDA_VISIBLE_DEVICES", "unset", "", True)]
    slurm = {**changes, "environment.variables": {"CUDA_VISIBLE_DEVICES": value, "SLURM_JOB_ID": "1"}}
    assert brief(planned(slurm)) == [("CUDA_VISIBLE_DEVICES", "unset", "", False)]
    assert planned({**changes, "request.allow_cpu": True}) == []


def test_a_list_that_stops_early_is_only_told():
    (one,) = planned({"environment.variables": {"CUDA_VISIBLE_DEVICES": "0,9"}})
    assert brief([one]) == [("CUDA_VISIBLE_DEVICES", "unset", "", False)]
    assert "(0,9)" in one.reason
    assert applied([one], {"CUDA_VISIBLE_DEVICES": "0,9"}) == {"CUDA_VISIBLE_DEVICES": "0,9"}


def test_a_choice_of_gpus_is_left_alone():
    assert planned({"environment.variables": {"CUDA_VISIBLE_DEVICES": "0"}}) == []


@pytest.mark.parametrize(("value", "meant"), [("FOO", "PCI_BUS_ID"), ("fastest_first", "FASTEST_FIRST")])
def test_a_malformed_order(value, meant):
    refused = {"cuda": {"status": "failed", "result": 101, "result_name": "CUDA_ERROR_INVALID_DEVICE", "driver_version": "13.0"}}
    assert brief(planned({"environment.variables": {"CUDA_DEVICE_ORDER": value}, **refused})) == [
        ("CUDA_DEVICE_ORDER", "set", meant, True)
    ]


def test_reasons_are_one_printable_line():
    """They end up in scripts."""
    nasty = {"environment.variables": {"CUDA_VISIBLE_DEVICES": "a\nrm -rf /", "CUDA_DEVICE_ORDER": "x\ny"}, **HIDDEN}
    both = {**nasty, "cuda": {**HIDDEN["cuda"], "result": 101}}
    assert sorted(one.variable for one in planned(both)) == ["CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES"]
    assert all(one.reason.isprintable() for one in planned(both))


def test_growth():
    (one,) = growth({})
    assert (one.variable, one.value) == ("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    assert growth({"TF_FORCE_GPU_ALLOW_GROWTH": "True"}) == ()
    assert growth({"TF_FORCE_GPU_ALLOW_GROWTH": "false"}) != ()


def test_applied_leaves_the_original():
    env = {"A": "1", "B": "2"}
    made = applied([assignment("A"), assignment("B", "0", prepend=True), assignment("C", "3", prepend=True)], env)
    assert (made, env) == ({"B": "0:2", "C": "3"}, {"A": "1", "B": "2"})
