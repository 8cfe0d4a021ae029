"""CUDA's libraries and tools: which of the neighbouring diagnoses it is, what to type, and when to stay quiet."""

import copy

import pytest
from fakes import facts, machine

from gpucheck import manual
from gpucheck.model import Severity, Status
from gpucheck.pipeline import fold, judge
from gpucheck.plugin import load_rows, load_rules

RULES = {rule.code: rule for rule in load_rules()}
LIBRARY_RULES = (
    "cuda-libraries-missing",
    "cuda-libraries-unreachable",
    "cuda-version-mismatch",
    "cudnn-missing",
    "cudnn-version-mismatch",
    "library-corrupt",
    "library-path-conflict",
    "libdevice-missing",
    "ptxas-missing",
)
SITE = "/home/user/.venv/lib/python3.12/site-packages"
PYTHON = "/home/user/.venv/bin/python"
CUSOLVER, CUDNN, NCCL = 4, 6, 7
LISTS_NONE = {"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}], "training.runs": []}
QUICK = {"tensorflow": None, "keras": None, "training": None, "log": None}


def changed(name="h200", changes=None, **more):
    return manual.apply(machine(name), tuple(copy.deepcopy({**(changes or {}), **more}).items()))


def outcome(code, plain):
    (judgement,) = judge(facts(plain), [RULES[code]])
    assert judgement.outcome.status is not Status.CRASHED, judgement.outcome.reason
    return judgement


def found(code, plain):
    finding = outcome(code, plain).finding
    assert finding is not None, f"{code} was not found"
    return finding


def roots(plain):
    return [item.code for item in fold(judge(facts(plain), RULES.values()), load_rows()) if not item.explained_by]


def lost(place, **fields):
    """The library at that place is found nowhere, unless ``fields`` say otherwise."""
    one = machine("h200")["libraries"]["libraries"][place]
    plain = {"soname": one["soname"], "required": one["required"], "package": one["package"], **fields}
    return {f"libraries.libraries[{place}]": plain}


def everything_lost():
    return {key: value for place in range(8) for key, value in lost(place).items()}


DEFECT = lost(CUSOLVER, elsewhere=[f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11"])


@pytest.mark.parametrize("level", [QUICK, LISTS_NONE], ids=["quick", "default"])
def test_defect_of_2_21_is_recognised_on_sight_with_the_one_missing_folder(level):
    plain = changed(changes={**DEFECT, **level})
    assert roots(plain) == ["cuda-libraries-unreachable"]
    finding = found("cuda-libraries-unreachable", plain)
    assert "built without looking into the folder" in finding.summary
    assert finding.fix[0].command == (
        f'export LD_LIBRARY_PATH="{SITE}/nvidia/cusolver/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    )
    assert finding.fix[-1].command == f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.20.*"'


def test_unreachable_prefers_the_copy_that_pip_installed():
    copies = ["/usr/local/cuda/lib64/libcusolver.so.11", f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11"]
    finding = found("cuda-libraries-unreachable", changed(changes={**lost(CUSOLVER, elsewhere=copies), **QUICK}))
    assert f'"{SITE}/nvidia/cusolver/lib$' in finding.fix[0].command


def test_unreachable_in_a_toolkit_names_its_folder_once():
    changes = {
        "packages.nvidia": [],
        **lost(0, elsewhere=["/opt/cuda/lib64/libcudart.so.12"]),
        **lost(1, elsewhere=["/opt/cuda/lib64/libcublas.so.12"]),
        **QUICK,
    }
    finding = found("cuda-libraries-unreachable", changed(changes=changes))
    assert "libcudart.so.12 and libcublas.so.12 are installed, but not where its loader looks" in finding.summary
    assert '"/opt/cuda/lib64$' in finding.fix[0].command


def test_library_that_another_one_needs_is_named():
    changes = {
        f"libraries.libraries[{CUSOLVER}].opened": False,
        f"libraries.libraries[{CUSOLVER}].open_error": "libnvJitLink.so.12: cannot open shared object file: No such file or directory",
        **LISTS_NONE,
    }
    finding = found("cuda-libraries-missing", changed(changes=changes))
    assert finding.summary.endswith("its CUDA library is not installed: libnvJitLink.so.12.")


@pytest.mark.parametrize("code", LIBRARY_RULES)
@pytest.mark.parametrize(
    "changes",
    [
        {"request.allow_cpu": True},
        {"request.allow_cpu": False},
        # A container that was given no GPU still sees its host's bus.
        {"container.inside": True, "pci.gpus": machine("h200")["pci"]["gpus"]},
        # A GPU that is handed to a virtual machine is not ours.
        {"pci.gpus": [{**machine("h200")["pci"]["gpus"][0], "kernel_driver": "vfio-pci"}]},
        # Every GPU was hidden on purpose.
        {"driver": machine("h200")["driver"], "cuda": {"status": "failed", "result": 100}},
    ],
    ids=["allow-cpu", "no-gpu", "container", "passthrough", "hidden"],
)
def test_without_a_gpu_to_use_no_library_is_missed(code, changes):
    assert outcome(code, changed("laptop-cpu", changes)).outcome.status is Status.CLEAR


@pytest.mark.parametrize("code", LIBRARY_RULES)
def test_driver_that_hangs_leaves_open_whether_there_is_a_gpu(code):
    changes = {"container.inside": True, "driver": {"status": "hung"}, "cuda": {"status": "hung"}}
    assert outcome(code, changed("laptop-cpu", changes)).outcome.status is Status.SKIPPED


def test_gpu_on_the_bus_needs_its_libraries_even_before_the_driver_is_there():
    changes = {"pci.gpus": machine("h200")["pci"]["gpus"], "request.allow_cpu": False}
    assert found("cuda-libraries-missing", changed("laptop-cpu", changes))


def test_gpu_that_tensorflow_lists_proves_its_libraries():
    plain = changed(changes={**everything_lost(), "libraries.other_versions": ["/usr/lib64/libcudart.so.13"]})
    for code in ("cuda-libraries-missing", "cuda-libraries-unreachable", "cuda-version-mismatch", "cudnn-missing"):
        assert outcome(code, plain).outcome.status is Status.CLEAR


def test_unknown_release_is_not_clear():
    plain = changed(changes={"libraries.libraries": [], **LISTS_NONE})
    assert outcome("cuda-libraries-missing", plain).outcome.status is Status.SKIPPED


def test_lost_files_of_an_installed_package_are_laid_down_again():
    finding = found("cuda-libraries-missing", changed(changes={**lost(0), **LISTS_NONE}))
    assert finding.fix[0].command == (
        f"{PYTHON} -m pip install --force-reinstall --no-deps --no-cache-dir nvidia-cuda-runtime-cu12==12.5.82"
    )


def test_install_of_2_21_comes_with_the_folder_it_forgets():
    finding = found("cuda-libraries-missing", changed(changes={**lost(0), "packages.nvidia": [], **LISTS_NONE}))
    assert finding.fix[0].command == (
        f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.21.0" && export'
        f' LD_LIBRARY_PATH="{SITE}/nvidia/cusolver/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    )


def test_only_cudnn_is_missing():
    plain = changed(changes={**lost(CUDNN), **LISTS_NONE})
    assert roots(plain) == ["cudnn-missing"]
    plain = changed(changes={**lost(CUDNN), **lost(0), **LISTS_NONE})
    assert roots(plain) == ["cuda-libraries-missing"]


def test_part_of_cudnn_is_missing_though_the_gpu_is_listed():
    parts = {"libraries.cudnn_parts_missing": ["libcudnn_engines_precompiled.so.9"]}
    finding = found("cudnn-missing", changed(changes={**parts, "training.runs": []}))
    assert "libcudnn_engines_precompiled.so.9 is missing beside" in finding.summary
    assert finding.severity is None
    assert found("cudnn-missing", changed(changes=parts)).severity is Severity.WARNING  # it trained


def test_cudnn_of_another_major_explains_why_it_is_missing():
    changes = {**lost(CUDNN), "packages.nvidia[5].version": "8.9.7.29", **LISTS_NONE}
    plain = changed(changes=changes)
    assert roots(plain) == ["cudnn-version-mismatch"]
    assert "opens only cuDNN 9" in found("cudnn-version-mismatch", plain).summary


@pytest.mark.parametrize(("cudnn", "wrong"), [("9.10.2.21", False), ("9.11.0.98", True)])
def test_cudnn_without_code_for_volta(cudnn, wrong):
    changes = {
        f"libraries.libraries[{CUDNN}].version": cudnn,
        "packages.nvidia[5].version": cudnn,
        "cuda.devices[0].compute_capability": [7, 0],
        "training.runs": [],
    }
    judgement = outcome("cudnn-version-mismatch", changed(changes=changes))
    assert (judgement.finding is not None) is wrong
    if wrong:
        assert judgement.finding.affects == ("GPU 0",)
        assert judgement.finding.fix[0].command.endswith('"nvidia-cudnn-cu12>=9.3,<9.11"')


def test_older_cudnn_that_trained_is_no_fault():
    old = changed(changes={f"libraries.libraries[{CUDNN}].version": "9.1.0"})
    assert outcome("cudnn-version-mismatch", old).outcome.status is Status.CLEAR
    untold = changed(changes={f"libraries.libraries[{CUDNN}].version": None, "training.runs": []})
    assert outcome("cudnn-version-mismatch", untold).outcome.status is Status.SKIPPED


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"packages.nvidia": [{"name": "nvidia-cublas", "version": "13.1.0.3", "folder": SITE}]}, "cuda-version-mismatch"),
        ({"packages.nvidia": [{"name": "nvidia-cublas-cu11", "version": "11.11.3.6", "folder": SITE}]}, "cuda-version-mismatch"),
        ({"packages.nvidia": [], "libraries.other_versions": ["/usr/local/cuda-13.0/lib64/libcudart.so.13"]}, "cuda-version-mismatch"),
        ({"packages.nvidia": [{"name": "nvidia-cublas-cu12", "version": "12.5.3.2", "folder": SITE}]}, "cuda-libraries-missing"),
        ({"packages.nvidia": [], "libraries.ptxas": {}, "libraries.libdevice": {}}, "cuda-libraries-missing"),
    ],
    ids=["cu13-wheel", "cu11-wheel", "toolkit-13", "both", "none"],
)  # fmt: skip
@pytest.mark.parametrize("level", [QUICK, LISTS_NONE], ids=["quick", "default"])
def test_other_cuda_major_or_nothing_at_all(changes, code, level):
    assert roots(changed(changes={**everything_lost(), **changes, **level})) == [code]


def foreign(place, version, folder="/opt/other/lib", **fields):
    """A copy that LD_LIBRARY_PATH puts before pip's."""
    one = machine("h200")["libraries"]["libraries"][place]
    name = one["soname"]
    return {
        f"libraries.libraries[{place}]": {
            **one,
            "path": f"{folder}/{name}",
            "source": "LD_LIBRARY_PATH",
            "version": version,
            "elsewhere": [one["path"]],
            **fields,
        },
        "libraries.library_path": [folder, "/usr/local/nvidia/lib64", f"{SITE}/nvidia/cusolver/lib"],
    }


def test_conflict_is_a_warning_while_the_versions_go_together():
    finding = found("library-path-conflict", changed(changes=foreign(0, "12.8.90")))
    assert finding.severity is None
    assert RULES["library-path-conflict"].severity is Severity.WARNING
    assert finding.fix[0].command == (f'export LD_LIBRARY_PATH="/usr/local/nvidia/lib64:{SITE}/nvidia/cusolver/lib"')


@pytest.mark.parametrize("level", [QUICK, {"training.runs": []}], ids=["quick", "default"])
def test_conflict_that_breaks_cudnn_is_the_root_and_an_error(level):
    plain = changed(changes={**foreign(CUDNN, "9.1.0"), **level})
    assert roots(plain) == ["library-path-conflict"]
    assert found("library-path-conflict", plain).severity is Severity.ERROR


def test_conflict_keeps_the_folder_that_2_21_forgets():
    finding = found("library-path-conflict", changed(changes=foreign(CUSOLVER, "11.7.1.2", folder="/opt/c/lib64")))
    assert f"{SITE}/nvidia/cusolver/lib" in finding.fix[0].command
    assert "/opt/c/lib64" not in finding.fix[0].command


@pytest.mark.parametrize(
    "changes",
    [
        foreign(0, "12.5.82"),
        foreign(0, "12.5"),
        foreign(0, None),
        foreign(NCCL, "2.29.3"),  # another NCCL is often put first on purpose
        foreign(0, "12.8.90", elsewhere=[]),  # no copy of pip's to be hidden
        {"packages.nvidia": [], **foreign(0, "12.8.90")},
    ],
    ids=["same", "same-in-fewer-places", "unknown", "optional", "alone", "toolkit-only"],
)
def test_no_conflict(changes):
    assert outcome("library-path-conflict", changed(changes=changes)).outcome.status is Status.CLEAR


def test_libraries_that_refuse_each_other_are_an_error():
    changes = foreign(5, "12.3.1", opened=False, open_error="undefined symbol: __nvJitLinkComplete_12_4")
    finding = found("library-path-conflict", changed(changes={**changes, **LISTS_NONE}))
    assert finding.severity is Severity.ERROR
    assert finding.summary.endswith("and the two do not work together.")


def test_damaged_optional_library_is_a_warning_and_outside_pip_no_package_is_laid_down():
    problem = {f"libraries.libraries[{NCCL}].problem": "empty"}
    assert found("library-corrupt", changed(changes=problem)).severity is Severity.WARNING
    elsewhere = {"libraries.libraries[0].path": "/opt/x/libcudart.so.12", "libraries.libraries[0].problem": "built for aarch64"}
    finding = found("library-corrupt", changed(changes={**elsewhere, **LISTS_NONE}))
    assert finding.summary.endswith("libcudart.so.12 is built for aarch64 (/opt/x/libcudart.so.12).")
    assert "/opt/x" in finding.fix[0].text


@pytest.mark.parametrize("error", ["libcublas.so.12: file too short", "killed by SIGBUS", "invalid ELF header"])
def test_damage_that_only_opening_shows(error):
    changes = {"libraries.libraries[1].opened": False, "libraries.libraries[1].open_error": error, **LISTS_NONE}
    assert roots(changed(changes=changes)) == ["library-corrupt"]


def test_required_library_that_tensorflow_opened_is_sound():
    changes = {"libraries.libraries[1].problem": "truncated"}
    assert outcome("library-corrupt", changed(changes=changes)).outcome.status is Status.CLEAR


NO_TOOLS = {"libraries.ptxas": {}, "libraries.libdevice": {}}


def test_both_tools_come_in_one_package_and_ptxas_is_named():
    plain = changed(changes={**NO_TOOLS, **QUICK, "packages.nvidia": []})
    assert roots(plain) == ["ptxas-missing"]
    command = found("ptxas-missing", plain).fix[0].command
    assert command == f'{PYTHON} -m pip install "nvidia-cuda-nvcc-cu12>=12.5,<13.0"'


@pytest.mark.parametrize("code", ["ptxas-missing", "libdevice-missing"])
def test_tool_is_not_missed_where_a_compiled_step_passed(code):
    assert outcome(code, changed(changes=NO_TOOLS)).outcome.status is Status.CLEAR
    uncompiled = {f"training.runs[{place}].xla_verified": None for place in range(2)}
    assert found(code, changed(changes={**NO_TOOLS, **uncompiled}))


def test_tool_lies_where_xla_does_not_look():
    ptxas = {"libraries.ptxas": {"elsewhere": ["/usr/local/cuda-12.5/bin/ptxas"]}, "training.runs": []}
    finding = found("ptxas-missing", changed(changes=ptxas))
    assert finding.fix[0].command == 'export PATH="/usr/local/cuda-12.5/bin:$PATH"'
    path = "/usr/local/cuda-12.5/nvvm/libdevice/libdevice.10.bc"
    libdevice = {"libraries.libdevice": {"elsewhere": [path]}, "training.runs": []}
    finding = found("libdevice-missing", changed(changes=libdevice))
    assert finding.fix[0].command == ('export XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda-12.5${XLA_FLAGS:+ $XLA_FLAGS}"')


def test_keras_2_compiles_only_on_request():
    plain = changed(changes={**NO_TOOLS, "libraries.tensorflow": "2.15.1", "training.runs": []})
    assert found("ptxas-missing", plain).severity is Severity.WARNING


def test_cudnn_is_installed_in_the_version_of_the_release():
    plain = changed(changes={**lost(CUDNN), "packages.nvidia": [], **LISTS_NONE})
    assert found("cudnn-missing", plain).fix[0].command == f'{PYTHON} -m pip install "nvidia-cudnn-cu12>=9.3,<10"'
    again = found("cudnn-missing", changed(changes={**lost(CUDNN), **LISTS_NONE})).fix[0].command
    assert again.endswith("--force-reinstall --no-deps --no-cache-dir nvidia-cudnn-cu12==9.3.0.75")


def test_tensorflows_own_word_on_cudnn_outweighs_the_version_on_disk():
    event = {"kind": "cudnn-version-mismatch", "line": 9, "text": "Loaded runtime CuDNN library: 9.1.0", "fields": {}}
    plain = changed(changes={"log.events": [event], "training.runs": []})
    finding = found("cudnn-version-mismatch", plain)
    assert "does not fit TensorFlow 2.21.0, which says so itself" in finding.summary
    assert finding.evidence[-1].value == event["text"]


def test_worst_of_several_conflicts_leads():
    finding = found("library-path-conflict", changed(changes={**foreign(0, "12.8.90"), **foreign(CUDNN, "9.1.0"), **QUICK}))
    assert "libcudnn.so.9 9.1.0 of /opt/other/lib (and 1 more)" in finding.summary


def test_worst_of_several_damages_leads():
    problems = {f"libraries.libraries[{NCCL}].problem": "empty", "libraries.libraries[3].problem": "truncated"}
    plain = changed(changes={**problems, **LISTS_NONE})
    finding = found("library-corrupt", plain)
    assert "libcufft.so.11 is truncated" in finding.summary
    assert finding.summary.endswith(", and 1 more.")


def test_lost_tools_of_an_installed_package_are_laid_down_again():
    plain = changed(changes={"libraries.libdevice": {}, "training.runs": []})
    command = found("libdevice-missing", plain).fix[0].command
    assert command.endswith("--no-cache-dir nvidia-cuda-nvcc-cu12==12.5.82")
    nightly = changed(changes={"libraries.libdevice": {}, "libraries.tensorflow": "2.22.0.dev1", **QUICK, "packages.nvidia": []})
    finding = found("libdevice-missing", nightly)
    assert finding.severity is None
    assert finding.fix[0].command == f"{PYTHON} -m pip install nvidia-cuda-nvcc-cu12"


def test_driver_that_counts_no_gpu_is_another_diagnosis():
    plain = changed(changes={"cuda.device_count": 0, **LISTS_NONE})
    assert outcome("gpus-not-listed", plain).outcome.status is Status.CLEAR
    plain = changed(changes={"cuda": {"status": "hung"}, **LISTS_NONE})
    assert outcome("gpus-not-listed", plain).outcome.status is Status.SKIPPED
