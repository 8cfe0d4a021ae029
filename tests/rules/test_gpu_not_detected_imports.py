"""TensorFlow is installed and its import fails: what is named, and what to do about it."""

import pytest
from installed import ABSENT, PYTHON
from one_rule import changed, found, log_findings, roots, status

from gpucheck.model import Status

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
    plain = changed({**FAILED, "tensorflow.error": error}, "laptop-cpu")
    assert roots(plain) == ["tensorflow-import-failed"]
    finding = found("tensorflow-import-failed", plain)
    assert because in finding.summary
    assert finding.fix[0].command.endswith(command)


@pytest.mark.parametrize(
    ("ending", "words"),
    [("killed by SIGILL", "AVX"), ("killed by SIGBUS", "cut short"), ("killed by SIGABRT", "aborted itself")],
)
def test_import_that_ends_the_process_is_put_in_words(ending, words):
    plain = changed({**FAILED, "tensorflow": {"imported": None, "ending": ending}}, "laptop-cpu")
    assert words in found("tensorflow-import-failed", plain).summary


def test_slow_import_is_not_called_failed():
    plain = changed({**FAILED, "tensorflow": {"imported": None, "ending": "timed out"}}, "laptop-cpu")
    assert status("tensorflow-import-failed", plain) is Status.SKIPPED


def test_import_of_what_is_not_installed_is_another_diagnosis():
    assert status("tensorflow-import-failed", changed(ABSENT)) is Status.CLEAR


def test_import_error_without_a_name_takes_it_from_the_log():
    event = {"kind": "import-failed", "line": 3, "text": "ImportError", "fields": {"module": "h5py"}}
    other = {"kind": "library-missing", "line": 2, "text": "x", "fields": {"module": "wrong"}}
    changes = {**FAILED, "tensorflow.error": "initialization failed", "log.events": [other, event]}
    assert "because of h5py: initialization failed" in found("tensorflow-import-failed", changed(changes, "laptop-cpu")).summary


def test_ending_may_stand_in_the_error():
    plain = changed({**FAILED, "tensorflow": {"imported": None, "error": "killed by SIGBUS"}}, "laptop-cpu")
    finding = found("tensorflow-import-failed", plain)
    assert [fix.command for fix in finding.fix] == [
        "df -h",
        f"{PYTHON} -m pip install --force-reinstall tensorflow==2.21.0",
        f"{PYTHON} -m pip check",
    ]


def test_fix_follows_what_ended_the_import():
    def commands(ending, **more):
        changes = {**FAILED, "tensorflow": {"imported": None, "ending": ending}, **more}
        return [fix.command for fix in found("tensorflow-import-failed", changed(changes, "laptop-cpu")).fix]

    assert commands("killed by SIGKILL") == ["sudo dmesg | tail -50"]
    assert commands("killed by SIGSEGV")[0].endswith("--force-reinstall tensorflow==2.21.0")
    own_build = {"packages.tensorflow.version": "2.17.0+nv25.2"}
    assert commands("killed by SIGSEGV", **own_build)[0].endswith("--force-reinstall tensorflow")


@pytest.mark.parametrize(
    ("facts", "words", "command"),
    [
        (
            {**FAILED, "tensorflow.shadows": {"random": "/home/u/my job/random.py"}},
            "TensorFlow 2.21.0 can't be imported: /home/u/my job/random.py hides the installed module random.",
            'mv "/home/u/my job/random.py" "/home/u/my job/my_random.py" && rm -rf "/home/u/my job/__pycache__"',
        ),
        (
            {**FAILED, "tensorflow": {"imported": False, "ending": "exited with status 1", "shadows": {"json": "/d/json.py"}}},
            "TensorFlow 2.21.0 can't be imported: /d/json.py hides the installed module json.",
            "mv /d/json.py /d/my_json.py && rm -rf /d/__pycache__",
        ),
        (
            {"keras": {"imported": False, "shadows": {"keras": "/d/keras/__init__.py"}}, "training.runs": []},
            "Keras can't be imported: /d/keras/__init__.py hides the installed module keras.",
            "mv /d/keras /d/my_keras && rm -rf /d/__pycache__",
        ),
        (
            {**FAILED, "tensorflow.keras_settings": '/k/keras.json: floatx is "x" and not one of float32'},
            "TensorFlow 2.21.0 can't be imported: the settings in /k/keras.json can't be used: floatx is \"x\" and not one of float32.",
            "mv /k/keras.json /k/keras.json.old",
        ),
    ],
    ids=["module", "crash", "keras", "settings"],
)
def test_a_file_of_the_users_that_ends_an_import_is_named(facts, words, command):
    plain = changed(facts, "laptop-cpu")
    assert roots(plain) == ["tensorflow-import-failed"]
    finding = found("tensorflow-import-failed", plain)
    assert (finding.summary, finding.fix[0].command) == (words, command)


@pytest.mark.parametrize("frame", [True, False])
def test_a_log_names_the_file_that_hides_tensorflow(frame):
    lines = [
        *(['File "/home/u/proj/tensorflow.py", line 3, in <module>'] if frame else []),
        "AttributeError: partially initialized module 'tensorflow' has no attribute 'constant' (most likely due to a circular import)",
    ]
    (finding,) = log_findings("\n".join(lines))
    assert (finding.code, ("/home/u/proj/tensorflow.py hides" in finding.summary)) == ("tensorflow-import-failed", frame)
    assert "tensorflow.py" in finding.fix[0].command
