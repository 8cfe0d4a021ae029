"""XLA's tools and flags: missed, lying elsewhere, or not needed."""

import pytest
from installed import PYTHON
from one_rule import QUICK, changed, found, roots, status

from gpucheck.logs import causes
from gpucheck.logs.reading import parse
from gpucheck.model import Severity, Status


def test_unknown_flag_is_taken_out_of_the_variable_that_holds_it():
    event = {"kind": "xla-flag-unknown", "line": 1, "text": "Unknown flag", "fields": {"flag": "--tf_xla_bogus=1"}}
    changes = {"log.events": [event], "environment.variables.TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_bogus=1"}
    finding = found("xla-flags-unknown", changed(changes))
    assert finding.fix[0].command == "export TF_XLA_FLAGS=--tf_xla_auto_jit=2"
    alone = {**changes, "environment.variables.TF_XLA_FLAGS": "--tf_xla_bogus=1"}
    assert found("xla-flags-unknown", changed(alone)).fix[0].command == "unset TF_XLA_FLAGS"


def test_flags_alone_prove_nothing():
    plain = changed({"environment.variables.XLA_FLAGS": "--xla_dump_to=/tmp/x"})
    assert status("xla-flags-unknown", plain) is Status.CLEAR
    assert status("xla-flags-unknown", {**plain, "log": None}) is Status.SKIPPED


def test_variable_that_holds_the_flag_is_evidence():
    event = {"kind": "xla-flag-unknown", "line": 1, "text": "Unknown flag", "fields": {"flag": "--xla_bogus=1"}}
    plain = changed({"log.events": [event], "environment.variables.XLA_FLAGS": "--xla_bogus=1"})
    assert [item.field for item in found("xla-flags-unknown", plain).evidence] == ["variables.XLA_FLAGS", "events[0].text"]
    without = {**plain, "environment": None}
    assert [item.field for item in found("xla-flags-unknown", without).evidence] == ["events[0].text"]


NO_TOOLS = {"libraries.ptxas": {}, "libraries.libdevice": {}}


def test_both_tools_come_in_one_package_and_ptxas_is_named():
    plain = changed({**NO_TOOLS, **QUICK, "packages.nvidia": []})
    assert roots(plain) == ["ptxas-missing"]
    command = found("ptxas-missing", plain).fix[0].command
    assert command == f'{PYTHON} -m pip install "nvidia-cuda-nvcc-cu12>=12.5,<13.0"'


@pytest.mark.parametrize("code", ["ptxas-missing", "libdevice-missing"])
def test_tool_is_not_missed_where_a_compiled_step_passed(code):
    assert status(code, changed(NO_TOOLS)) is Status.CLEAR
    uncompiled = {f"training.runs[{place}].xla_verified": None for place in range(2)}
    assert found(code, changed({**NO_TOOLS, **uncompiled}))


def test_tool_lies_where_xla_does_not_look():
    ptxas = {"libraries.ptxas": {"elsewhere": ["/usr/local/cuda-12.5/bin/ptxas"]}, "training.runs": []}
    finding = found("ptxas-missing", changed(ptxas))
    assert finding.fix[0].command == 'export PATH="/usr/local/cuda-12.5/bin${PATH:+:$PATH}"'
    path = "/usr/local/cuda-12.5/nvvm/libdevice/libdevice.10.bc"
    libdevice = {"libraries.libdevice": {"elsewhere": [path]}, "training.runs": []}
    finding = found("libdevice-missing", changed(libdevice))
    assert finding.fix[0].command == ('export XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda-12.5${XLA_FLAGS:+ $XLA_FLAGS}"')


def test_keras_2_compiles_only_on_request():
    plain = changed({**NO_TOOLS, "libraries.tensorflow": "2.15.1", "training.runs": []})
    assert found("ptxas-missing", plain).severity is Severity.WARNING


def test_lost_tools_of_an_installed_package_are_laid_down_again():
    plain = changed({"libraries.libdevice": {}, "training.runs": []})
    command = found("libdevice-missing", plain).fix[0].command
    assert command.endswith("--no-cache-dir nvidia-cuda-nvcc-cu12==12.5.82")
    nightly = changed({"libraries.libdevice": {}, "libraries.tensorflow": "2.22.0.dev1", **QUICK, "packages.nvidia": []})
    finding = found("libdevice-missing", nightly)
    assert finding.severity is None
    assert finding.fix[0].command == f"{PYTHON} -m pip install nvidia-cuda-nvcc-cu12"


@pytest.mark.parametrize(("tool", "codes"), [("ptxas binary", ["ptxas-missing"]), ("libdevice directory", ["libdevice-missing"])])
def test_folders_are_searched_for_the_tool_of_the_line_before(tool, codes):
    lines = [
        f"W nvptx_compiler.cc:70] Can't find {tool} in ${{CUDA_DIR}}.",
        "Searched for CUDA in the following directories:",
        ".",
    ]
    assert list(causes.judge(parse(lines, "train.log"))) == codes
