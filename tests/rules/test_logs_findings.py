"""What the finding of a log says: the log's own values, the command that fits them, and one cause told from its neighbour."""

import pytest
from log_texts._cuda_start import DIAGNOSTICS, NO_DEVICE
from one_rule import assert_named, told_by

from gpucheck.model import Severity


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


def test_versions_are_the_logs_own():
    (old,) = told_by("The NVIDIA driver on your system is too old (found version 11040).")
    assert "knows CUDA up to 11.4" in old.summary
    (apart,) = told_by(f"{DIAGNOSTICS}303] kernel version 470.182.3 does not match DSO version 470.223.2 -- cannot find")
    assert "module is version 470.182.3 and the driver's libraries are 470.223.2" in apart.summary
    (needed,) = told_by("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update")
    assert "too old for CUDA 12.8" in needed.summary


def test_what_was_asked_for_is_named_and_the_python_that_has_it():
    (finding,) = told_by(
        "ERROR: Could not find a version that satisfies the requirement tensorflow==2.12.0 (from versions: 2.20.0)"
    )
    assert "tensorflow==2.12.0" in finding.summary
    assert any("uv venv --python 3.11" in (fix.command or "") for fix in finding.fix)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8)", "12.4"),
        ("Could not load dynamic library 'libcufft.so.10'\nSkipping registering GPU devices...", "libcufft.so.10"),
        ("Loaded runtime CuDNN library: 9.0.0 but source was compiled with: 9.3.0.", "9.0.0 is loaded"),
        (
            "Ignoring visible gpu device (device: 0, name: Quadro P400, compute capability: 6.1) with core count: 2.",
            "Quadro P400",
        ),
        ("libdevice not found at ./libdevice.10.bc", "libdevice.10.bc"),
        ("Unknown flags in XLA_FLAGS: --xla_gpu_frobnicate", "--xla_gpu_frobnicate"),
    ],
)
def test_values_are_the_logs_own(text, said):
    assert said in told_by(text)[0].summary


def test_the_command_names_the_cudnn_that_is_missed():
    (finding,) = told_by("ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory")
    assert any('"nvidia-cudnn-cu12==8.*"' in (fix.command or "") for fix in finding.fix)


def test_a_dll_is_missed_whatever_line_follows():
    (found,) = told_by(
        "dso_loader.cc:64] Could not load dynamic library 'cudnn64_8.dll'; dlerror: cudnn64_8.dll not found\nSkipping registering GPU devices..."
    )
    assert found.code == "cudnn-missing"


def test_a_log_of_pytorch_gets_its_command_first():
    words = "no kernel image is available for execution on the device"
    (torch,) = told_by(f"torch.AcceleratorError: CUDA error: {words}")
    (other,) = told_by(
        f"NVIDIA GeForce RTX 5090, compute capability: 12.0\nptxas fatal   : Value 'sm_120' is not defined for option\n{words}"
    )
    assert "torch" in torch.fix[0].command
    assert "tensorflow" in other.fix[0].command


def test_a_crash_is_only_told_where_nothing_else_is():
    text = "ResourceExhaustedError: OOM when allocating tensor with shape[64,512,112,112]\nSegmentation fault (core dumped)"
    assert "training-crashed" not in [item.code for item in told_by(text)]


def test_a_removed_name_comes_with_what_took_its_place():
    (removed,) = told_by("AttributeError: module 'tensorflow' has no attribute 'set_random_seed'")
    assert "tf.random.set_seed" in removed.fix[0].text
    imported = next(
        item for item in told_by("ModuleNotFoundError: No module named 'tensorflow.contrib'") if not item.explained_by
    )
    assert "tf_keras" in imported.fix[0].text


def test_a_ptxas_that_is_too_old_is_not_said_to_be_absent():
    text = "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'"
    (too_old,) = (item for item in told_by(text) if item.code == "ptxas-missing")
    assert too_old.summary == "ptxas, with which XLA compiles for the GPU, is too old: it reads PTX 8.4, not 8.7."


def test_what_nccl_warned_of_in_another_process_still_stands():
    text = """
        gpu-1:88:90 [0] transport/net_ib.cc:100 NCCL WARN NET/IB : Failed to open device mlx5_0
        gpu-1:89:91 [1] NCCL INFO Using network Socket
        """
    assert_named("nccl-failed", text)


def test_packages_that_pip_says_do_not_fit_are_worth_a_look():
    (clash,) = told_by("tensorflow requires protobuf<5.0.0, but you have protobuf 6.31.1")
    assert (clash.code, clash.severity) == ("tensorflow-import-failed", Severity.WARNING)
    assert clash.summary == "tensorflow needs protobuf<5.0.0, and pip installed protobuf 6.31.1."
