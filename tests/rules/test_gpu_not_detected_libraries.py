"""CUDA's libraries: which of the neighbouring diagnoses it is, what to type, and when to stay quiet."""

import pytest
from fakes import machine
from installed import CUSOLVER, LISTS_NONE, NCCL, PYTHON, SITE, everything_lost, lost
from one_rule import QUICK, changed, found, roots, status

from gpucheck.model import Severity, Status

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
DEFECT = lost(CUSOLVER, elsewhere=[f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11"])


@pytest.mark.parametrize("level", [QUICK, LISTS_NONE], ids=["quick", "default"])
def test_defect_of_2_21_is_recognised_on_sight_with_the_one_missing_folder(level):
    plain = changed({**DEFECT, **level})
    assert roots(plain) == ["cuda-libraries-unreachable"]
    finding = found("cuda-libraries-unreachable", plain)
    assert "built without looking into the folder" in finding.summary
    assert finding.fix[0].command == (
        f'export LD_LIBRARY_PATH="{SITE}/nvidia/cusolver/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    )
    assert finding.fix[-1].command == f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.20.*"'


def test_unreachable_prefers_the_copy_that_pip_installed():
    copies = ["/usr/local/cuda/lib64/libcusolver.so.11", f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11"]
    finding = found("cuda-libraries-unreachable", changed({**lost(CUSOLVER, elsewhere=copies), **QUICK}))
    assert f'"{SITE}/nvidia/cusolver/lib$' in finding.fix[0].command


def test_unreachable_in_a_toolkit_names_its_folder_once():
    changes = {
        "packages.nvidia": [],
        **lost(0, elsewhere=["/opt/cuda/lib64/libcudart.so.12"]),
        **lost(1, elsewhere=["/opt/cuda/lib64/libcublas.so.12"]),
        **QUICK,
    }
    finding = found("cuda-libraries-unreachable", changed(changes))
    assert "libcudart.so.12 and libcublas.so.12 are installed, but not where its loader looks" in finding.summary
    assert '"/opt/cuda/lib64$' in finding.fix[0].command


def test_library_that_another_one_needs_is_named():
    changes = {
        f"libraries.libraries[{CUSOLVER}].opened": False,
        f"libraries.libraries[{CUSOLVER}].open_error": "libnvJitLink.so.12: cannot open shared object file: No such file or directory",
        **LISTS_NONE,
    }
    finding = found("cuda-libraries-missing", changed(changes))
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
    assert status(code, changed(changes, "laptop-cpu")) is Status.CLEAR


@pytest.mark.parametrize("code", LIBRARY_RULES)
def test_driver_that_hangs_leaves_open_whether_there_is_a_gpu(code):
    changes = {"container.inside": True, "driver": {"status": "hung"}, "cuda": {"status": "hung"}}
    assert status(code, changed(changes, "laptop-cpu")) is Status.SKIPPED


def test_gpu_on_the_bus_needs_its_libraries_even_before_the_driver_is_there():
    changes = {"pci.gpus": machine("h200")["pci"]["gpus"], "request.allow_cpu": False}
    assert found("cuda-libraries-missing", changed(changes, "laptop-cpu"))


def test_gpu_that_tensorflow_lists_proves_its_libraries():
    plain = changed({**everything_lost(), "libraries.other_versions": ["/usr/lib64/libcudart.so.13"]})
    for code in ("cuda-libraries-missing", "cuda-libraries-unreachable", "cuda-version-mismatch", "cudnn-missing"):
        assert status(code, plain) is Status.CLEAR


def test_unknown_release_is_not_clear():
    plain = changed({"libraries.libraries": [], **LISTS_NONE})
    assert status("cuda-libraries-missing", plain) is Status.SKIPPED


def test_lost_files_of_an_installed_package_are_laid_down_again():
    finding = found("cuda-libraries-missing", changed({**lost(0), **LISTS_NONE}))
    assert finding.fix[0].command == (
        f"{PYTHON} -m pip install --force-reinstall --no-deps --no-cache-dir nvidia-cuda-runtime-cu12==12.5.82"
    )


def test_install_of_2_21_comes_with_the_folder_it_forgets():
    finding = found("cuda-libraries-missing", changed({**lost(0), "packages.nvidia": [], **LISTS_NONE}))
    assert finding.fix[0].command == (
        f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.21.0" && export'
        f' LD_LIBRARY_PATH="{SITE}/nvidia/cusolver/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    )


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
    assert roots(changed({**everything_lost(), **changes, **level})) == [code]


def test_damaged_optional_library_is_a_warning_and_outside_pip_no_package_is_laid_down():
    problem = {f"libraries.libraries[{NCCL}].problem": "empty"}
    assert found("library-corrupt", changed(problem)).severity is Severity.WARNING
    elsewhere = {"libraries.libraries[0].path": "/opt/x/libcudart.so.12", "libraries.libraries[0].problem": "built for aarch64"}
    finding = found("library-corrupt", changed({**elsewhere, **LISTS_NONE}))
    assert finding.summary.endswith("libcudart.so.12 is built for aarch64 (/opt/x/libcudart.so.12).")
    assert "/opt/x" in finding.fix[0].text


@pytest.mark.parametrize("error", ["libcublas.so.12: file too short", "killed by SIGBUS", "invalid ELF header"])
def test_damage_that_only_opening_shows(error):
    changes = {"libraries.libraries[1].opened": False, "libraries.libraries[1].open_error": error, **LISTS_NONE}
    assert roots(changed(changes)) == ["library-corrupt"]


def test_required_library_that_tensorflow_opened_is_sound():
    changes = {"libraries.libraries[1].problem": "truncated"}
    assert status("library-corrupt", changed(changes)) is Status.CLEAR


def test_worst_of_several_damages_leads():
    problems = {f"libraries.libraries[{NCCL}].problem": "empty", "libraries.libraries[3].problem": "truncated"}
    plain = changed({**problems, **LISTS_NONE})
    finding = found("library-corrupt", plain)
    assert "libcufft.so.11 is truncated" in finding.summary
    assert finding.summary.endswith(", and 1 more.")
