"""Keras on JAX and PyTorch: what is asked for, what the environment says, and what of TensorFlow's is left out then."""

import pytest
from one_rule import changed, found, roots, severity, status

from gpucheck.engine.plugin import load_rules
from gpucheck.model import Severity, Status

ASKED = {"request.backend": "jax"}
LISTED = [{"name": "GPU:0", "kind": "GPU"}, {"name": "CPU:0", "kind": "CPU"}]
ON_JAX = {
    "backend": {
        "name": "jax",
        "source": "--backend",
        "imported": True,
        "version": "0.10.2",
        "built_with_cuda": True,
        "devices": LISTED,
    },
    "keras.backend": "jax",
    "keras.backend_source": "--backend",
}
JAX = [{"name": name, "version": "0.10.2", "folder": "/x"} for name in ("jax", "jaxlib")]
NO_TENSORFLOW = {
    "packages.tensorflow": None,
    "packages.flavours": [],
    "packages.tensorflow_folder": None,
    "tensorflow": {"imported": False, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"},
}
VARIABLE = {"environment.variables.KERAS_BACKEND": "jax"}


def on(backend="jax", source="KERAS_BACKEND", **fields):
    """Changes to a machine whose Keras runs on another backend."""
    fact = {"name": backend, "source": source, "imported": True, "version": "9.9", "built_with_cuda": True, "devices": LISTED}
    return {"backend": {**fact, **fields}, "keras.backend": backend, "keras.backend_source": source, "packages.others": JAX}


@pytest.mark.parametrize("code", [rule.code for rule in load_rules() if rule.tensorflow])
def test_what_is_about_tensorflow_is_left_out(code):
    judged = changed({**ASKED, **ON_JAX})
    assert status(code, judged) is Status.SKIPPED


def test_a_broken_tensorflow_is_not_what_was_asked_about():
    broken = {
        "packages.keras.version": "3.0.0",
        **on(source="--backend"),
        **ASKED,
        "libraries.libraries[0].path": None,
        "driver.cuda_version": "11.4",
        "cuda.driver_version": "11.4",
        "interpreter.version": "3.14.0",
    }
    plain = changed(broken)
    assert roots({**plain, "tensorflow": None, "libraries": None, "tpu_resolver": None}) == []
    assert roots(plain | {"request": {**plain["request"], "backend": None}}) != []


@pytest.mark.parametrize(
    ("changes", "summary", "commands"),
    [
        ({}, "jax and jaxlib are not installed for /home/user/.venv/bin/python (Python 3.12.3).", ["jax[cuda12]"]),
        ({"packages.keras": None, "packages.others": JAX}, "keras is not installed for", ["keras"]),
        ({"packages.keras": None}, "keras, jax and jaxlib are not installed for", ["jax[cuda12]", "keras"]),
        (
            {"packages.keras.version": "2.15.0", "packages.others": JAX},
            "Keras 2.15.0 is installed, and no release before 3 knows another backend than TensorFlow.",
            ["keras"],
        ),
        ({"request.backend": "torch"}, "Keras can't train on PyTorch: torch is not installed", ["torch --index-url"]),
        ({"cuda.device_count": 0, "pci.gpus": [], "driver.gpu_count": 0}, "jax and jaxlib are not", ["install jax"]),
    ],
    ids=["framework", "keras", "both", "keras-2", "torch", "cpu"],
)
def test_what_is_not_installed_is_named(changes, summary, commands):
    finding = found("keras-backend-not-installed", changed({**ASKED, **changes}, quick=True))
    assert summary in finding.summary
    assert [want in (fix.command or "") for want, fix in zip(commands, finding.fix, strict=True)] == [True] * len(commands)


def test_what_was_imported_is_there_under_whatever_name():
    assert status("keras-backend-not-installed", changed({**ASKED, **ON_JAX})) is Status.CLEAR
    assert status("keras-backend-not-installed", changed({})) is Status.CLEAR


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        ({"backend.imported": False, "backend.error": "no jaxlib."}, "JAX 0.10.2 can't be imported: no jaxlib."),
        ({"backend.imported": False, "backend.error": "killed by SIGILL"}, "JAX 0.10.2 can't be imported: killed by SIGILL."),
        ({"keras.imported": False, "keras.error": "no optree"}, "Keras on JAX can't be imported: no optree."),
    ],
)
def test_an_import_that_fails_is_quoted(changes, summary):
    plain = changed({**ASKED, **on(source="--backend"), **changes, "training.runs": []})
    assert found("keras-backend-import-failed", plain).summary == summary


@pytest.mark.parametrize("changes", [{}, {**ASKED, **on(source="--backend")}, {**ASKED, "packages.others": []}])
def test_nothing_failed_or_another_page_says_it(changes):
    assert status("keras-backend-import-failed", changed(changes)) is Status.CLEAR


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_build_without_cuda(backend):
    other = {**ASKED, **on(backend, "--backend", built_with_cuda=False, devices=LISTED[1:]), "request.backend": backend}
    finding = found("tensorflow-cpu-build", changed(other))
    title = {"jax": "JAX", "torch": "PyTorch"}[backend]
    assert finding.summary == f"{title} 9.9 was built without CUDA, so Keras can't use the NVIDIA GPU of this machine with it."
    assert {"jax": '"jax[cuda12]"', "torch": "whl/cu126"}[backend] in finding.fix[0].command


def test_a_build_without_cuda_explains_what_follows():
    changes = {**ASKED, **on(source="--backend", built_with_cuda=False, devices=LISTED[1:])}
    run = {
        "strategy": "one_device",
        "devices": ["CPU:0"],
        "replicas": 1,
        "backend": "jax",
        "precision": "float32",
        "status": "passed",
    }
    plain = changed({**changes, "training.runs": [run]})
    assert roots({**plain, "tensorflow": None, "libraries": None}) == ["tensorflow-cpu-build"]


def test_a_build_of_the_other_backend_is_judged_beside_tensorflow():
    """Without the option TensorFlow is diagnosed as ever; a fault of the backend that trains is one as well."""
    assert found(
        "tensorflow-cpu-build", changed({**VARIABLE, **on(built_with_cuda=False, devices=LISTED[1:])})
    ).summary.startswith("JAX 9.9")
    assert status("tensorflow-cpu-build", changed({**VARIABLE, **on()})) is Status.CLEAR


@pytest.mark.parametrize(
    ("fields", "summary"),
    [
        ({"devices": LISTED[1:]}, "CUDA counts 1 GPU for this process, and JAX 9.9 lists none."),
        (
            {"devices": LISTED[1:], "problem": "JAX_PLATFORMS=cpu"},
            "CUDA counts 1 GPU for this process, and JAX 9.9 lists none (JAX_PLATFORMS=cpu).",
        ),
    ],
)
def test_a_gpu_that_the_backend_does_not_see(fields, summary):
    plain = changed({**ASKED, **on(source="--backend", **fields)})
    finding = found("gpus-not-listed", {**plain, "tensorflow": None})
    assert finding.summary == summary
    assert (finding.fix[0].command == "unset JAX_PLATFORMS") is ("problem" in fields)


def test_a_backend_that_sees_all_or_was_not_reached():
    plain = {**changed({**ASKED, **on(source="--backend")}), "tensorflow": None}
    assert status("gpus-not-listed", plain) is Status.CLEAR
    assert status("gpus-not-listed", {**plain, "backend": {**plain["backend"], "devices": None}}) is Status.SKIPPED
    assert status("gpus-not-listed", {**plain, "backend": None}) is Status.SKIPPED


class TestMismatch:
    """KERAS_BACKEND alone: a choice, or a leftover."""

    CODE = "keras-backend-mismatch"

    def test_a_backend_that_trains_is_a_warning_with_both_ways_out(self):
        plain = changed({**VARIABLE, **on(), "training.runs[0].backend": "jax", "training.runs[1].backend": "jax"})
        finding = found(self.CODE, plain)
        assert finding.summary.endswith("trains well on it; TensorFlow, which is installed too, was not trained.")
        assert severity(self.CODE, plain) is Severity.WARNING
        assert [fix.command for fix in finding.fix] == ["export KERAS_BACKEND=tensorflow", "gpucheck --backend jax"]

    def test_a_backend_that_fails_is_no_reason_to_praise_it(self):
        failed = {"training.runs[0].backend": "jax", "training.runs[0].status": "failed"}
        assert "trains well" not in found(self.CODE, changed({**VARIABLE, **on(), **failed})).summary

    def test_a_backend_that_is_missing_is_an_error(self):
        gone = {**on(imported=False, devices=None), "keras.imported": False, "training.runs": []}
        plain = changed({**VARIABLE, **gone, "packages.others": []})
        assert severity(self.CODE, plain) is Severity.ERROR
        assert found(self.CODE, plain).fix[-1].command.endswith("-m pip install jax")

    @pytest.mark.parametrize("backend", ["tensorflow", "jax"])
    def test_what_is_asked_for_is_meant(self, backend):
        assert status(self.CODE, changed({**VARIABLE, **on(), "request.backend": backend})) is Status.CLEAR

    @pytest.mark.parametrize("quick", [False, True])
    def test_without_tensorflow_nothing_can_have_been_forgotten(self, quick):
        plain = changed({**VARIABLE, **on(), **NO_TENSORFLOW}, quick=quick)
        assert status(self.CODE, plain) is Status.CLEAR
        assert status("tensorflow-not-installed", plain) is Status.CLEAR
        others = [{"executable": "/usr/bin/python3", "tensorflow": "tensorflow 2.21.0"}]
        assert status("wrong-environment", {**plain, "interpreter": {**plain["interpreter"], "others": others}}) is Status.CLEAR

    def test_a_told_backend_that_is_not_there_does_not_hide_that_nothing_is(self):
        plain = changed({**VARIABLE, **on(), **NO_TENSORFLOW, "packages.others": []}, quick=True)
        assert status("tensorflow-not-installed", plain) is Status.FOUND


def test_who_lacks_tensorflow_and_has_another_is_told_of_it():
    finding = found("tensorflow-not-installed", changed({**NO_TENSORFLOW, "packages.others": JAX}))
    assert finding.fix[-1].command == "gpucheck --backend jax"


def test_work_of_another_backend_that_went_astray_gets_no_advice_about_tensorflow():
    run = {"backend": "jax", "placement_verified": False, "misplaced_ops": ["kernel on CPU:0"], "status": "failed"}
    plain = changed({**ASKED, **on(source="--backend"), **{f"training.runs[0].{name}": value for name, value in run.items()}})
    finding = found("cpu-fallback", plain)
    assert "kernel on CPU:0" in finding.summary
    assert not any("tf." in fix.text for fix in finding.fix)


def test_only_the_cpu_was_trained_although_the_backend_lists_a_gpu():
    run = {"backend": "jax", "devices": ["CPU:0"]}
    plain = changed({**ASKED, **on(source="--backend"), **{f"training.runs[0].{name}": value for name, value in run.items()}})
    plain["training"]["runs"] = plain["training"]["runs"][:1]
    assert found("cpu-fallback", plain).summary == "JAX lists a GPU, and all that was trained ran on the CPU."


def test_a_run_is_named_with_its_backend():
    plain = changed({"training.runs[0].backend": "torch", "training.runs[0].status": "failed", "training.runs[0].reason": "x"})
    assert found("training-failed", plain).summary.startswith("Training with one_device on GPU:0 with PyTorch failed")
