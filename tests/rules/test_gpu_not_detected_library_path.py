"""Libraries that LD_LIBRARY_PATH puts before pip's: when that is a conflict, and how bad."""

import pytest
from fakes import machine
from installed import CUDNN, CUSOLVER, LISTS_NONE, NCCL, SITE
from one_rule import QUICK, RULES, changed, found, roots, status

from gpucheck.model import Severity, Status


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
    finding = found("library-path-conflict", changed(foreign(0, "12.8.90")))
    assert finding.severity is None
    assert RULES["library-path-conflict"].severity is Severity.WARNING
    assert finding.fix[0].command == f"export LD_LIBRARY_PATH=/usr/local/nvidia/lib64:{SITE}/nvidia/cusolver/lib"


@pytest.mark.parametrize("level", [QUICK, {"training.runs": []}], ids=["quick", "default"])
def test_conflict_that_breaks_cudnn_is_the_root_and_an_error(level):
    plain = changed({**foreign(CUDNN, "9.1.0"), **level})
    assert roots(plain) == ["library-path-conflict"]
    assert found("library-path-conflict", plain).severity is Severity.ERROR


def test_conflict_keeps_the_folder_that_2_21_forgets():
    finding = found("library-path-conflict", changed(foreign(CUSOLVER, "11.7.1.2", folder="/opt/c/lib64")))
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
    assert status("library-path-conflict", changed(changes)) is Status.CLEAR


def test_libraries_that_refuse_each_other_are_an_error():
    changes = foreign(5, "12.3.1", opened=False, open_error="undefined symbol: __nvJitLinkComplete_12_4")
    finding = found("library-path-conflict", changed({**changes, **LISTS_NONE}))
    assert finding.severity is Severity.ERROR
    assert finding.summary.endswith("and the two do not work together.")


def test_worst_of_several_conflicts_leads():
    finding = found("library-path-conflict", changed({**foreign(0, "12.8.90"), **foreign(CUDNN, "9.1.0"), **QUICK}))
    assert "libcudnn.so.9 9.1.0 of /opt/other/lib (and 1 more)" in finding.summary
