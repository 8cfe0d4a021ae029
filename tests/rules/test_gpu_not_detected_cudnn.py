"""cuDNN: missing, in part or as a whole, and versions that do not fit."""

import pytest
from installed import CUDNN, LISTS_NONE, PYTHON, lost
from one_rule import changed, found, outcome, roots, status

from gpucheck.model import Severity, Status


def test_only_cudnn_is_missing():
    plain = changed({**lost(CUDNN), **LISTS_NONE})
    assert roots(plain) == ["cudnn-missing"]
    plain = changed({**lost(CUDNN), **lost(0), **LISTS_NONE})
    assert roots(plain) == ["cuda-libraries-missing"]


def test_part_of_cudnn_is_missing_though_the_gpu_is_listed():
    parts = {"libraries.cudnn_parts_missing": ["libcudnn_engines_precompiled.so.9"]}
    finding = found("cudnn-missing", changed({**parts, "training.runs": []}))
    assert "libcudnn_engines_precompiled.so.9 is missing beside" in finding.summary
    assert finding.severity is None
    assert found("cudnn-missing", changed(parts)).severity is Severity.WARNING  # it trained


def test_cudnn_of_another_major_explains_why_it_is_missing():
    changes = {**lost(CUDNN), "packages.nvidia[5].version": "8.9.7.29", **LISTS_NONE}
    plain = changed(changes)
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
    judgement = outcome("cudnn-version-mismatch", changed(changes))
    assert (judgement.finding is not None) is wrong
    if wrong:
        assert judgement.finding.affects == ("GPU 0",)
        assert judgement.finding.fix[0].command.endswith('"nvidia-cudnn-cu12>=9.3,<9.11"')


def test_older_cudnn_that_trained_is_no_fault():
    old = changed({f"libraries.libraries[{CUDNN}].version": "9.1.0"})
    assert status("cudnn-version-mismatch", old) is Status.CLEAR
    untold = changed({f"libraries.libraries[{CUDNN}].version": None, "training.runs": []})
    assert status("cudnn-version-mismatch", untold) is Status.SKIPPED


def test_cudnn_is_installed_in_the_version_of_the_release():
    plain = changed({**lost(CUDNN), "packages.nvidia": [], **LISTS_NONE})
    assert found("cudnn-missing", plain).fix[0].command == f'{PYTHON} -m pip install "nvidia-cudnn-cu12>=9.3,<10"'
    again = found("cudnn-missing", changed({**lost(CUDNN), **LISTS_NONE})).fix[0].command
    assert again.endswith("--force-reinstall --no-deps --no-cache-dir nvidia-cudnn-cu12==9.3.0.75")


def test_tensorflows_own_word_on_cudnn_outweighs_the_version_on_disk():
    event = {"kind": "cudnn-version-mismatch", "line": 9, "text": "Loaded runtime CuDNN library: 9.1.0", "fields": {}}
    plain = changed({"log.events": [event], "training.runs": []})
    finding = found("cudnn-version-mismatch", plain)
    assert "does not fit TensorFlow 2.21.0, which says so itself" in finding.summary
    assert finding.evidence[-1].value == event["text"]
