"""TensorFlow, Python, the platform and Keras: which of the neighbouring diagnoses it is, and when to stay quiet."""

import copy

import pytest
from fakes import facts, machine

from gpucheck import manual
from gpucheck.model import Severity, Status
from gpucheck.pipeline import fold, judge
from gpucheck.plugin import load_rows, load_rules

RULES = {rule.code: rule for rule in load_rules()}
PYTHON = "/home/user/.venv/bin/python"
QUICK = {"tensorflow": None, "keras": None, "training": None, "log": None}
LISTS_NONE = {"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}], "training.runs": []}
CPU_BUILD = {"tensorflow.built_with_cuda": False, "tensorflow.compute_capabilities": [], **LISTS_NONE}
ABSENT = {
    "packages": {},
    "libraries": {},
    "tensorflow": {"imported": False, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"},
    "keras": {"imported": False},
    "training.runs": [],
}


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


def status(code, plain):
    return outcome(code, plain).outcome.status


def roots(plain):
    return [item.code for item in fold(judge(facts(plain), RULES.values()), load_rows()) if not item.explained_by]


def test_without_tensorflow_nothing_trains_on_a_cpu_neither():
    plain = changed("laptop-cpu", ABSENT)
    assert roots(plain) == ["tensorflow-not-installed"]
    assert found("tensorflow-not-installed", plain).fix[0].command == f"{PYTHON} -m pip install tensorflow"
    with_gpu = found("tensorflow-not-installed", changed(changes=ABSENT))
    assert with_gpu.fix[0].command == f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.20.*"'


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        (
            {"interpreter.externally_managed": True},
            f"{PYTHON} -m venv ~/tensorflow-env && ~/tensorflow-env/bin/python -m pip install tensorflow",
        ),
        ({"interpreter.pip_version": None}, f"{PYTHON} -m ensurepip --upgrade && {PYTHON} -m pip install tensorflow"),
        ({"interpreter.executable": "/my apps/python"}, '"/my apps/python" -m pip install tensorflow'),
    ],
    ids=["externally-managed", "no-pip", "blank"],
)
def test_pip_command_works_for_this_interpreter(changes, command):
    plain = changed("laptop-cpu", {**ABSENT, **changes})
    assert found("tensorflow-not-installed", plain).fix[0].command == command


def test_source_tree_without_metadata_is_not_called_absent():
    folder = {**ABSENT, "packages.tensorflow_folder": "/src/tensorflow", **QUICK}
    assert status("tensorflow-not-installed", changed("laptop-cpu", folder)) is Status.SKIPPED
    imported = {**ABSENT, "tensorflow": machine("laptop-cpu")["tensorflow"]}
    assert status("tensorflow-not-installed", changed("laptop-cpu", imported)) is Status.CLEAR


OTHERS = [
    {"executable": "/usr/bin/python3.11", "tensorflow": "tensorflow 2.18.0"},
    {"executable": "/home/user/ml/bin/python", "tensorflow": "tensorflow 2.21.0"},
]


def test_other_interpreter_is_the_root_and_the_active_environment_comes_first():
    changes = {**ABSENT, "interpreter.others": OTHERS, "interpreter.active_environment": "/home/user/ml"}
    plain = changed("laptop-cpu", {**changes, "interpreter.version": "3.14.0"})
    assert roots(plain) == ["wrong-environment"]
    finding = found("wrong-environment", plain)
    assert "2.21.0 is installed for /home/user/ml/bin/python (and 1 more)" in finding.summary
    assert finding.fix[0].command == "gpucheck --python /home/user/ml/bin/python"


def test_other_interpreters_do_not_matter_where_tensorflow_is():
    assert status("wrong-environment", changed(changes={"interpreter.others": OTHERS})) is Status.CLEAR


FAILED = {"tensorflow": {"imported": False, "error_type": "ImportError", "error": ""}, "keras": {}, "training.runs": []}


@pytest.mark.parametrize(
    ("error", "because", "command"),
    [
        ("Descriptors cannot be created directly.", "because of protobuf 6.33.1:", '"protobuf>=6.31.1,<8.0.0"'),
        ("numpy.core.multiarray failed to import; _ARRAY_API not found", "because of numpy 2.3.5:", '"numpy>=1.26.0"'),
        ("No module named 'absl'", "because of absl-py:", " -m pip check"),
        (
            "libtensorflow_framework.so.2: cannot open shared object file: No such file or directory",
            "because of libtensorflow_framework: libtensorflow_framework.so.2: cannot open",
            " -m pip check",
        ),
    ],
    ids=["protobuf", "numpy", "module", "library"],
)
def test_import_names_what_failed(error, because, command):
    plain = changed("laptop-cpu", {**FAILED, "tensorflow.error": error})
    assert roots(plain) == ["tensorflow-import-failed"]
    finding = found("tensorflow-import-failed", plain)
    assert because in finding.summary
    assert finding.fix[0].command.endswith(command)


@pytest.mark.parametrize(
    ("ending", "words"),
    [("killed by SIGILL", "AVX"), ("killed by SIGBUS", "cut short"), ("killed by SIGABRT", "aborted itself")],
)
def test_import_that_ends_the_process_is_put_in_words(ending, words):
    plain = changed("laptop-cpu", {**FAILED, "tensorflow": {"imported": None, "ending": ending}})
    assert words in found("tensorflow-import-failed", plain).summary


def test_slow_import_is_not_called_failed():
    plain = changed("laptop-cpu", {**FAILED, "tensorflow": {"imported": None, "ending": "timed out"}})
    assert status("tensorflow-import-failed", plain) is Status.SKIPPED


def test_import_of_what_is_not_installed_is_another_diagnosis():
    assert status("tensorflow-import-failed", changed(changes=ABSENT)) is Status.CLEAR


NAMED_CPU = {"packages.tensorflow.name": "tensorflow-cpu", "packages.flavours[0].name": "tensorflow-cpu"}


@pytest.mark.parametrize("level", [QUICK, CPU_BUILD], ids=["quick", "default"])
def test_cpu_build_is_the_root_of_what_it_lacks(level):
    plain = changed(changes={**NAMED_CPU, "libraries.ptxas": {}, "libraries.libdevice": {}, **level})
    assert roots(plain) == ["tensorflow-cpu-build"]
    assert found("tensorflow-cpu-build", plain).fix[0].command == (
        f'{PYTHON} -m pip uninstall -y tensorflow-cpu && {PYTHON} -m pip install "tensorflow[and-cuda]==2.20.*"'
    )


def test_cpu_build_is_right_where_no_gpu_is():
    for allow in (True, False):
        plain = changed("laptop-cpu", {**NAMED_CPU, "tensorflow.built_with_cuda": False, "request.allow_cpu": allow})
        assert status("tensorflow-cpu-build", plain) is Status.CLEAR


def test_cpu_build_under_allow_cpu_is_an_error_beside_a_gpu_unless_it_is_hidden():
    plain = changed(changes={**NAMED_CPU, **CPU_BUILD, "request.allow_cpu": True})
    assert status("tensorflow-cpu-build", plain) is Status.FOUND
    plain["cuda"] = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE"}
    assert status("tensorflow-cpu-build", plain) is Status.CLEAR


def test_builds_of_conda_and_nvidia_are_known_only_once_imported():
    conda = changed(changes={"interpreter.environment": "conda", **QUICK})
    assert status("tensorflow-cpu-build", conda) is Status.SKIPPED
    nvidia = changed(changes={"packages.tensorflow.version": "2.17.0+nv25.2", "system.architecture": "aarch64", **QUICK})
    assert status("tensorflow-cpu-build", nvidia) is Status.SKIPPED
    assert status("platform-unsupported", nvidia) is Status.SKIPPED


@pytest.mark.parametrize("level", [QUICK, CPU_BUILD], ids=["quick", "default"])
def test_arm_with_a_new_gpu_is_a_matter_of_the_platform(level):
    changes = {"system.architecture": "aarch64", "cuda.devices[0].compute_capability": [12, 1], **level}
    assert roots(changed(changes=changes)) == ["platform-unsupported"]


def test_arm_without_a_gpu_trains_on_its_cpu():
    for allow in (True, False):
        plain = changed("laptop-cpu", {"system.architecture": "aarch64", "request.allow_cpu": allow})
        assert status("platform-unsupported", plain) is Status.CLEAR


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"system.musl": True, "system.glibc": None, "system.os_name": "Alpine Linux v3.22"}, "Alpine Linux v3.22 uses the musl"),
        ({"interpreter.bits": 32}, "32-bit"),
        ({"system.architecture": "ppc64le"}, "none for ppc64le"),
        ({"system.glibc": "2.12"}, "every one needs glibc 2.17 or newer"),
    ],
)  # fmt: skip
def test_platform_without_any_package_is_why_it_is_not_installed(changes, words):
    plain = changed("laptop-cpu", {**ABSENT, **changes})
    assert roots(plain) == ["platform-unsupported"]
    assert words in found("platform-unsupported", plain).summary


def test_shared_environment_on_an_old_system():
    plain = changed("laptop-cpu", {"system.glibc": "2.17", **QUICK})
    assert "TensorFlow 2.21.0 needs glibc 2.27 or newer" in found("platform-unsupported", plain).summary


@pytest.mark.parametrize("level", [{}, QUICK], ids=["default", "quick"])
def test_tensorflow_built_for_musl_is_left_alone(level):
    changes = {"system.musl": True, "system.glibc": None, **level}
    assert status("platform-unsupported", changed("laptop-cpu", changes)) is Status.CLEAR


def test_other_systems_have_their_own_pages():
    for platform in ("darwin", "win32"):
        plain = changed("laptop-cpu", {"system.platform": platform, "system.architecture": "arm64"})
        assert status("platform-unsupported", plain) is Status.CLEAR


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({**ABSENT, "interpreter.implementation": "pypy"}, "needs CPython"),
        ({**ABSENT, "interpreter.version": "3.6.9"}, "2.21 is for Python 3.10 to 3.13"),
        ({"interpreter.version": "3.9.2", **QUICK}, "tensorflow 2.21.0 needs Python >=3.10, and this is Python 3.9.2."),
    ],
)
def test_python_outside_the_range(changes, words):
    plain = changed("laptop-cpu", changes)
    assert roots(plain) == ["python-unsupported"]
    assert words in found("python-unsupported", plain).summary


def test_python_that_imports_it_is_supported():
    assert status("python-unsupported", changed("laptop-cpu", {"interpreter.version": "3.9.2"})) is Status.CLEAR
    assert status("python-unsupported", changed("laptop-cpu", {**ABSENT, "interpreter.version": "3.9.2"})) is Status.CLEAR


def two_gpus(capability):
    plain = machine("h200")
    gpu, device = plain["gpus"]["gpus"][0], plain["cuda"]["devices"][0]
    more = {"index": 1, "pci_address": "0000:00:07.0", "name": "NVIDIA GeForce GT 710", "minor": 1}
    second = {"ordinal": 1, "pci_address": "0000:00:07.0", "name": "NVIDIA GeForce GT 710"}
    return {
        "gpus.gpus": [gpu, {**gpu, **more, "compute_capability": capability}],
        "cuda.device_count": 2,
        "cuda.devices": [device, {**device, **second, "compute_capability": capability}],
        "driver.gpu_count": 2,
    }


IGNORED = {
    "kind": "gpu-ignored",
    "line": 7,
    "text": "Ignoring visible gpu device (device: 1, ...)",
    "fields": {"device": "1", "reason": "capability", "capability": "3.5", "minimum": "6.0"},
}


def test_display_card_beside_the_gpu_that_trains_is_a_warning_only():
    plain = changed(changes={**two_gpus([3, 5]), "log.events": [IGNORED]})
    finding = found("gpu-too-old", plain)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ("GPU 1",))
    assert status("gpus-not-listed", plain) is Status.CLEAR


@pytest.mark.parametrize(
    ("capability", "changes", "expected"),
    [
        ([6, 1], {}, Status.CLEAR),
        ([5, 2], {}, Status.FOUND),
        ([5, 2], {"tensorflow.compute_capabilities": ["sm_50", "sm_60", "compute_90"]}, Status.CLEAR),
        ([5, 2], {"packages.tensorflow.version": "2.16.2", **QUICK}, Status.CLEAR),
        ([5, 2], QUICK, Status.FOUND),
        ([5, 2], {"packages.tensorflow.name": "tf-nightly", **QUICK}, Status.SKIPPED),
        ([5, 2], {"cuda": {"status": "failed", "result": 100}}, Status.CLEAR),
    ],
    ids=["pascal", "maxwell", "own-build", "older-release", "quick", "nightly", "hidden"],
)
def test_lowest_capability(capability, changes, expected):
    plain = changed(changes={"cuda.devices[0].compute_capability": capability, **changes})
    assert status("gpu-too-old", plain) is expected


def test_old_gpu_where_the_cpu_is_enough_is_a_warning():
    plain = changed(changes={"cuda.devices[0].compute_capability": [5, 2], "request.allow_cpu": True})
    assert found("gpu-too-old", plain).severity is Severity.WARNING


BLACKWELL = {"cuda.devices[0].compute_capability": [12, 0], "training.runs": []}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (BLACKWELL, Status.FOUND),
        ({**BLACKWELL, **QUICK}, Status.FOUND),
        ({"cuda.devices[0].compute_capability": [12, 0], "training.runs[0].xla_verified": True}, Status.CLEAR),
        ({**BLACKWELL, "tensorflow.compute_capabilities": ["sm_80", "sm_120", "compute_120"]}, Status.CLEAR),
        ({**BLACKWELL, "tensorflow.version": "2.23.0"}, Status.SKIPPED),
        ({"packages.tensorflow.version": "2.15.1", **QUICK}, Status.CLEAR),  # Hopper from PTX: slow at first, and well
    ],
    ids=["default", "quick", "trained", "native", "unknown-release", "hopper-from-ptx"],
)
def test_newer_than_the_kernels(changes, expected):
    assert status("gpu-too-new", changed(changes=changes)) is expected


def test_older_release_is_told_to_upgrade():
    changes = {**BLACKWELL, "packages.tensorflow.version": "2.19.1", "tensorflow.version": "2.19.1"}
    finding = found("gpu-too-new", changed(changes=changes))
    assert "CUDA_ERROR_INVALID_PTX" in finding.summary
    assert finding.fix[1].command == f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.21.*"'


def test_retired_package_alone():
    old = [{"name": "tensorflow-gpu", "version": "2.10.1", "folder": "/x"}]
    assert found("tensorflow-gpu-package-removed", changed(changes={"packages.flavours": old})).severity is None
    empty = {**ABSENT, "packages.flavours": old}
    finding = found("tensorflow-gpu-package-removed", changed(changes=empty))
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(("listed", "expected"), [(1, Status.FOUND), (2, Status.CLEAR)])
def test_fewer_gpus_than_cuda_counts(listed, expected):
    devices = [{"name": f"GPU:{place}", "kind": "GPU"} for place in range(listed)]
    plain = changed(changes={**two_gpus([9, 0]), "tensorflow.devices": devices})
    assert status("gpus-not-listed", plain) is expected


def test_listing_that_was_not_reached_is_no_answer():
    assert status("gpus-not-listed", changed(changes={"tensorflow.devices": None})) is Status.SKIPPED


def test_unknown_flag_is_taken_out_of_the_variable_that_holds_it():
    event = {"kind": "xla-flag-unknown", "line": 1, "text": "Unknown flag", "fields": {"flag": "--tf_xla_bogus=1"}}
    changes = {"log.events": [event], "environment.variables.TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_bogus=1"}
    finding = found("xla-flags-unknown", changed(changes=changes))
    assert finding.fix[0].command == 'export TF_XLA_FLAGS="--tf_xla_auto_jit=2"'
    alone = {**changes, "environment.variables.TF_XLA_FLAGS": "--tf_xla_bogus=1"}
    assert found("xla-flags-unknown", changed(changes=alone)).fix[0].command == "unset TF_XLA_FLAGS"


def test_flags_alone_prove_nothing():
    plain = changed(changes={"environment.variables.XLA_FLAGS": "--xla_dump_to=/tmp/x"})
    assert status("xla-flags-unknown", plain) is Status.CLEAR
    assert status("xla-flags-unknown", {**plain, "log": None}) is Status.SKIPPED


JSON_FILE = {"keras.backend": "torch", "keras.backend_source": "/home/user/.keras/keras.json"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"environment.variables.KERAS_BACKEND": "jax", **QUICK}, Status.FOUND),
        ({"environment.variables.KERAS_BACKEND": "tensorflow", **QUICK}, Status.CLEAR),
        (QUICK, Status.SKIPPED),  # keras.json is not looked at
        (JSON_FILE, Status.FOUND),
        ({"packages.keras": None, "keras": {}, "environment.variables.KERAS_BACKEND": "jax"}, Status.CLEAR),
        ({"packages.keras.version": "2.15.0", "environment.variables.KERAS_BACKEND": "jax", **QUICK}, Status.CLEAR),
    ],
    ids=["variable-quick", "tensorflow-quick", "unset-quick", "file", "no-keras", "keras-2"],
)
def test_keras_backend(changes, expected):
    assert status("keras-backend-mismatch", changed(changes=changes)) is expected


def test_backend_of_keras_json_quotes_the_file_and_is_a_valid_way():
    finding = found("keras-backend-mismatch", changed(changes=JSON_FILE))
    assert '"backend": "torch" in /home/user/.keras/keras.json), which is a valid way to train' in finding.summary
    assert finding.severity is None
    assert RULES["keras-backend-mismatch"].severity is Severity.WARNING


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"environment.variables.KERAS_BACKEND": "theano", **QUICK}, "no backend named theano"),
        (
            {"environment.variables.KERAS_BACKEND": "torch", "keras": {"imported": False, "error": "No module named 'torch'"}},
            "can't be imported: it was told to run on torch",
        ),
    ],
)  # fmt: skip
def test_backend_that_keras_cannot_load_is_an_error(changes, words):
    finding = found("keras-backend-mismatch", changed(changes=changes))
    assert words in finding.summary
    assert finding.severity is Severity.ERROR


LEGACY = {"environment.variables.TF_USE_LEGACY_KERAS": "1", "training.runs": []}
OLD_KERAS = {"name": "tf-keras", "version": "2.19.0", "folder": "/x"}


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        (
            {"packages.keras.version": "3.10.0", "keras.version": "3.10.0"},
            "Keras 3.10.0 is installed, and TensorFlow 2.21.0 asks for keras>=3.12.0.",
        ),
        (
            {"packages.keras": None, "keras": {"imported": False}},
            "Keras is not installed, and TensorFlow 2.21.0 asks for keras>=3.12.0.",
        ),
        (
            LEGACY,
            "TF_USE_LEGACY_KERAS asks for Keras 2, but tf_keras is not installed, and TensorFlow 2.21.0 needs tf_keras 2.21.",
        ),
        (
            {**LEGACY, "packages.tf_keras": OLD_KERAS},
            "TF_USE_LEGACY_KERAS asks for Keras 2, but tf_keras 2.19.0 is installed, and TensorFlow 2.21.0 needs tf_keras 2.21.",
        ),
    ],
    ids=["older", "absent", "no-tf-keras", "other-tf-keras"],
)
def test_keras_versions(changes, summary):
    assert found("keras-version-conflict", changed(changes=changes)).summary == summary


def test_keras_that_trained_is_a_warning():
    older = {"packages.keras.version": "2.15.0", "keras.version": "2.15.0"}
    assert found("keras-version-conflict", changed(changes=older)).severity is Severity.WARNING
    assert found("keras-version-conflict", changed(changes={**older, "training.runs": []})).severity is None


@pytest.mark.parametrize(
    "changes",
    [
        {"packages.tf_keras": OLD_KERAS},  # nobody asked for Keras 2
        {**LEGACY, "environment.variables.TF_USE_LEGACY_KERAS": "yes"},  # TensorFlow ignores this value
        {**LEGACY, "packages.tf_keras": {**OLD_KERAS, "version": "2.21.0"}},
        {"packages.tensorflow": None, "packages.keras": None},
    ],
    ids=["unused", "ignored-value", "fitting", "no-tensorflow"],
)
def test_keras_is_left_alone(changes):
    assert status("keras-version-conflict", changed(changes=changes)) is Status.CLEAR


def test_import_error_without_a_name_takes_it_from_the_log():
    event = {"kind": "import-failed", "line": 3, "text": "ImportError", "fields": {"module": "h5py"}}
    other = {"kind": "library-missing", "line": 2, "text": "x", "fields": {"module": "wrong"}}
    changes = {**FAILED, "tensorflow.error": "initialization failed", "log.events": [other, event]}
    assert "because of h5py: initialization failed" in found("tensorflow-import-failed", changed("laptop-cpu", changes)).summary


def test_ending_may_stand_in_the_error():
    plain = changed("laptop-cpu", {**FAILED, "tensorflow": {"imported": None, "error": "killed by SIGBUS"}})
    finding = found("tensorflow-import-failed", plain)
    assert [fix.command for fix in finding.fix] == [
        "df -h",
        f"{PYTHON} -m pip install --force-reinstall tensorflow==2.21.0",
        f"{PYTHON} -m pip check",
    ]


def test_fix_follows_what_ended_the_import():
    def commands(ending, **more):
        changes = {**FAILED, "tensorflow": {"imported": None, "ending": ending}, **more}
        return [fix.command for fix in found("tensorflow-import-failed", changed("laptop-cpu", changes)).fix]

    assert commands("killed by SIGKILL") == ["sudo dmesg | tail -50"]
    assert commands("killed by SIGSEGV")[0].endswith("--force-reinstall tensorflow==2.21.0")
    own_build = {"packages.tensorflow.version": "2.17.0+nv25.2"}
    assert commands("killed by SIGSEGV", **own_build)[0].endswith("--force-reinstall tensorflow")


@pytest.mark.parametrize(
    ("capability", "python", "text", "command"),
    [
        ([5, 2], "3.12.3", "TensorFlow 2.16 is the last", f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.16.2"'),
        ([5, 2], "3.13.0", "it needs Python 3.9 to 3.12", None),
        ([3, 5], "3.12.3", "TensorFlow 2.14 is the last with code for it; it needs Python 3.9 to 3.11", None),
        ([3, 0], "3.12.3", "Use a newer GPU", None),
    ],
)
def test_old_gpu_is_offered_the_last_release_for_it(capability, python, text, command):
    changes = {"cuda.devices[0].compute_capability": capability, "interpreter.version": python}
    first = found("gpu-too-old", changed(changes=changes)).fix[0]
    assert text in first.text
    assert first.command == command


def test_new_gpu_outside_a_container_and_a_build_without_ptx():
    inside = found("gpu-too-new", changed(changes=BLACKWELL))
    assert inside.fix[0].command is None
    outside = found("gpu-too-new", changed(changes={**BLACKWELL, "container": {"inside": False}}))
    assert outside.fix[0].command.startswith("docker run --gpus all")
    without = {"cuda.devices[0].compute_capability": [9, 0], "training.runs": []}
    bare = changed(changes={**without, "tensorflow.compute_capabilities": ["sm_80", "sm_86"]})
    assert "neither native code nor PTX" in found("gpu-too-new", bare).summary
    ada = {**without, "cuda.devices[0].compute_capability": [8, 9], "tensorflow.compute_capabilities": ["sm_80"]}
    assert status("gpu-too-new", changed(changes=ada)) is Status.CLEAR


def test_only_the_cpu_package_is_taken_away():
    both = [{"name": name, "version": "2.21.0", "folder": "/x"} for name in ("tensorflow", "tensorflow-cpu")]
    plain = changed(changes={**CPU_BUILD, "packages.flavours": both})
    assert " uninstall -y tensorflow-cpu && " in found("tensorflow-cpu-build", plain).fix[0].command
    system = changed(changes={**CPU_BUILD, **NAMED_CPU, "interpreter.externally_managed": True})
    assert "uninstall" not in found("tensorflow-cpu-build", system).fix[0].command


def test_build_for_tpus_needs_no_gpu_code():
    plain = changed(changes={**CPU_BUILD, "tpu.expected": True})
    assert status("tensorflow-cpu-build", plain) is Status.CLEAR


def test_keras_is_judged_from_its_package_at_quick():
    plain = changed(changes={"packages.keras.version": "2.15.0", "packages.keras_requirement": None, **QUICK})
    finding = found("keras-version-conflict", plain)
    assert finding.summary == "Keras 2.15.0 is installed, and TensorFlow 2.21.0 asks for keras>=3.12.0."
    assert finding.severity is None


def test_variable_that_holds_the_flag_is_evidence():
    event = {"kind": "xla-flag-unknown", "line": 1, "text": "Unknown flag", "fields": {"flag": "--xla_bogus=1"}}
    plain = changed(changes={"log.events": [event], "environment.variables.XLA_FLAGS": "--xla_bogus=1"})
    assert [item.field for item in found("xla-flags-unknown", plain).evidence] == ["variables.XLA_FLAGS", "events[0].text"]
    without = {**plain, "environment": None}
    assert [item.field for item in found("xla-flags-unknown", without).evidence] == ["events[0].text"]
