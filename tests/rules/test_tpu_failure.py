"""TPUs: which layer is missing, and silence on machines that have none."""

import pytest
from one_rule import RULES, changed, found, named, roots, status

from gpucheck.model import Status

TPU_RULES = tuple(code for code, rule in RULES.items() if rule.row == "tpu-failure")
TPU = "tpu-v5e"
REFUSED = {"tpu_resolver": {"tried": True, "connected": False, "error": "NotFoundError: TPU system not found"}}
PLAIN = {
    "packages.tensorflow": {"name": "tensorflow", "version": "2.21.0", "folder": "/site"},
    "tpu.tensorflow_tpu": None,
    "tpu.libtpu": None,
    "tpu.libtpu_path": None,
}
NO_CHIP = {"tpu.generations": [], "tpu.nodes": []}


@pytest.mark.parametrize("code", TPU_RULES)
@pytest.mark.parametrize("name", ["h200", "laptop-cpu", "hgx-h200"])
def test_silent_without_any_sign_of_a_tpu(code, name):
    assert status(code, changed(name=name)) is Status.CLEAR
    assert status(code, changed(name=name, quick=True)) is Status.CLEAR


@pytest.mark.parametrize("code", TPU_RULES)
def test_a_connection_proves_everything_below(code):
    trouble = {**PLAIN, **NO_CHIP, "tpu.holder_pid": 4242, "tpu.lock_owner": "eve"}
    assert status(code, changed(trouble, TPU)) in (Status.CLEAR, Status.SKIPPED)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (PLAIN, "tpu-runtime-missing"),
        ({"tpu.libtpu": None, "tpu.libtpu_path": None}, "tpu-runtime-missing"),
        ({"tpu.libtpu": "0.0.51"}, "tpu-version-mismatch"),
        (NO_CHIP, "tpu-not-found"),
        ({**NO_CHIP, **PLAIN}, "tpu-not-found"),
        ({"tpu.nodes": []}, "tpu-not-found"),
        ({"tpu.generations": ["tpu7x"], **PLAIN}, "tpu-generation-unsupported"),
        ({"tpu.holder_pid": 4242}, "tpu-busy"),
        ({"tpu.lock_owner": "eve", "tpu.lock_file": "/tmp/libtpu_lockfile"}, "tpu-busy"),
        ({}, "tpu-unreachable"),
    ],
)
def test_which_cause(changes, expected):
    absent = {"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}], "training.runs[1].status": "skipped"}
    plain = changed({**REFUSED, **absent, **changes}, TPU)
    assert [code for code in roots(plain) if code in TPU_RULES] == [expected]
    quick = changed(changes, TPU, quick=True)
    wanted = [] if expected == "tpu-unreachable" else [expected]
    assert [code for code in roots(quick) if code in TPU_RULES] == wanted


def test_a_tpu_elsewhere_is_not_looked_for_here():
    remote = {**NO_CHIP, **PLAIN, **REFUSED, "environment.variables": {"TPU_NAME": "my-tpu"}}
    assert status("tpu-not-found", changed(remote, TPU)) is Status.CLEAR
    assert status("tpu-runtime-missing", changed(remote, TPU)) is Status.CLEAR
    assert status("tpu-unreachable", changed(remote, TPU)) is Status.FOUND


@pytest.mark.parametrize("name", ["laptop-cpu", "h200"])
@pytest.mark.parametrize("quick", [True, False])
def test_a_tpu_that_was_asked_for(name, quick):
    plain = changed({"request.strategies": ["tpu"], "request.allow_cpu": False}, name, quick=quick)
    assert roots(plain) == ["tpu-not-found"]
    finding = found("tpu-not-found", plain)
    assert finding.summary.startswith("No TPU found: --strategy tpu asks for one, and nothing on this machine announces one")
    assert "Use a machine with a TPU" in finding.fix[0].text
    assert all(fix.command != "unset TPU_NAME" for fix in finding.fix)


def test_a_tpu_that_was_asked_for_beside_a_gpu_that_is_missing():
    plain = changed({"request.strategies": ["tpu", "one_device"], "request.allow_cpu": False}, "laptop-cpu")
    assert set(roots(plain)) == {"tpu-not-found", "no-nvidia-gpu"}


def test_an_image_of_google_has_its_own_tensorflow():
    image = {**PLAIN, "packages.tensorflow": {"name": "tensorflow", "version": "2.18.0", "folder": "/site"}}
    assert status("tpu-runtime-missing", changed(image, TPU, quick=True)) is Status.SKIPPED
    assert status("tpu-runtime-missing", changed({**image, **REFUSED}, TPU)) is Status.FOUND


def test_a_pair_that_aborts_the_import_is_found_without_a_tpu():
    pair = {"tpu.tensorflow_tpu": "2.20.0", "tpu.libtpu": "0.0.51"}
    assert status("tpu-version-mismatch", changed(pair, "laptop-cpu", quick=True)) is Status.FOUND
    assert status("tpu-version-mismatch", changed(pair, "laptop-cpu")) is Status.CLEAR  # the import survived
    died = {
        "tensorflow": {"error": "killed by SIGABRT", "ending": "killed by SIGABRT"},
        "training": {"ending": "killed by SIGABRT"},
    }
    assert status("tpu-version-mismatch", changed({**pair, **died}, "laptop-cpu")) is Status.FOUND


def test_libtpu_of_old_releases_is_not_on_pypi():
    old = {"tpu.tensorflow_tpu": "2.18.0", "tpu.libtpu": "0.0.14", **REFUSED}
    command = found("tpu-version-mismatch", changed(old, TPU)).fix[0].command
    assert "libtpu==2.18.0 -f https://storage.googleapis.com/" in command


def test_the_pid_in_the_refusal_is_enough():
    busy = {"tpu_resolver": {"tried": True, "connected": False, "error": "The TPU is already in use by process with pid 77."}}
    assert "process 77" in found("tpu-busy", changed(busy, TPU)).summary


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("not-found", "tpu-not-found"),
        ("busy", "tpu-busy"),
        ("version", "tpu-version-mismatch"),
        ("unreachable", "tpu-unreachable"),
        ("runtime-missing", "tpu-runtime-missing"),
        ("generation", "tpu-generation-unsupported"),
    ],
)
def test_log_lines(reason, code):
    assert list(named(("tpu-failed", "a line", {"reason": reason}))) == [code]
    assert status(code, {}) is Status.SKIPPED


def test_a_variable_alone_has_no_runtime_to_miss():
    plain = changed({**NO_CHIP, **PLAIN, **REFUSED, "tpu.variables": ["TPU_NAME"]}, TPU)
    assert status("tpu-not-found", plain) is Status.FOUND
    assert status("tpu-runtime-missing", plain) is Status.CLEAR
    assert status("tpu-runtime-missing", changed({**NO_CHIP, **PLAIN}, TPU, quick=True)) is Status.CLEAR
    assert status("tpu-runtime-missing", changed({"tpu.generations": [], **PLAIN, **REFUSED}, TPU)) is Status.FOUND
