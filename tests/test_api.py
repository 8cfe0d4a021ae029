"""gpucheck as a library: the report, the exception that names the root cause, and the view in a notebook."""

import inspect
import os
import re
import subprocess
import sys
import time

import html5lib
import pytest
from case_files import table
from fakes import facts, machine, readings

import gpucheck
from gpucheck import api
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import TIMEOUT_SECONDS, Level, Request, Verdict


def recorded(*changes):
    """The report of a recorded machine with fields changed."""
    plain = machine("h200")
    for probe, field, value in changes:
        plain[probe][field] = value
    given = [one for one in readings(plain) if one.probe != "request"]
    return api.result(assemble(Request(), given, judge(facts(plain), load_rules()), load_rows(), time.monotonic()))


@pytest.mark.tensorflow
def test_check_returns_the_report():
    report = gpucheck.check(level="quick", allow_cpu=True)
    assert (report.verdict, report.exit_code) == (Verdict.PASS, 0)
    assert report.facts["system"].platform == sys.platform


def test_require_names_the_root_cause():
    with pytest.raises(gpucheck.NotReady, match=r"No NVIDIA GPU: .* \[no-nvidia-gpu\]") as caught:
        gpucheck.require(gpus=1)
    assert caught.value.report.findings[0].code == "no-nvidia-gpu"


@pytest.mark.tensorflow
def test_require_of_no_gpus_passes_on_a_cpu():
    assert gpucheck.require(gpus=0).verdict is Verdict.PASS


@table
def test_unmet_requirements_are_described(gpus, memory_gib, problem):
    assert api.unready(recorded(), gpus, memory_gib) == problem


HIDDEN = (
    ("environment", "variables", {"CUDA_VISIBLE_DEVICES": "-1"}),
    ("cuda", "status", "failed"),
    ("cuda", "result", 100),
    ("cuda", "devices", []),
    ("cuda", "device_count", None),
    ("tensorflow", "devices", []),
    ("training", "runs", []),
)
UNMET = ("packages", "unmet", [{"name": "wrapt", "specifier": ">=2"}]), ("tensorflow", "imported", False)


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (
            HIDDEN,
            [
                "Make every GPU visible to CUDA, before TensorFlow is imported:",
                "import os",
                "os.environ.pop('CUDA_VISIBLE_DEVICES', None)",
            ],
        ),
        (
            UNMET,
            ["Install the required versions, in a shell:", '/home/user/.venv/bin/python -m pip install "wrapt>=2"'],
        ),
    ],
)
def test_fixes_are_given_as_python_code(changes, lines):
    report = recorded(*changes)
    error = api.NotReady(api.unready(report, 1, 0), report)
    assert [line.strip() for line in str(error).splitlines()[1:]] == lines
    assert error.repairs[0].splitlines() == str(error).splitlines()[1:]


def test_no_verdict_is_not_ready():
    report = recorded(("training", "runs", []), ("training", "ending", "timed out"))
    assert api.unready(report, 1, 0) == "no verdict: nothing was trained: timed out"


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "deep"},
        {"level": "node"},
        {"level": "QUICK"},
        {"level": 1},
        {"timeout_seconds": 0},
        {"timeout_seconds": "5"},
        {"timeout_seconds": float("nan")},
        {"backend": "theano"},
        {"logical_devices": 65},
        {"strategies": "mirorred"},
        {"strategies": "mirrored", "level": "quick"},
        {"strategies": ["mirrored"], "smoke": False},
    ],
)
def test_wrong_arguments_raise_value_error(wrong):
    with pytest.raises(ValueError, match="Received: "):
        gpucheck.check(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus": "2"},
        {"gpus": -1},
        {"gpus": 1.5},
        {"gpus": True},
        {"memory_gib": "40"},
        {"memory_gib": -1},
        {"gpus": 0, "memory_gib": 1},
    ],
)
def test_wrong_requirements_raise_value_error(wrong):
    with pytest.raises(ValueError, match="Received: "):
        gpucheck.require(**wrong)


def test_expectations_are_judged(tmp_path):
    file = tmp_path / "expected.toml"
    file.write_text("[gpu]\ncount = 8\n")
    report = gpucheck.check(level="quick", allow_cpu=True, expect=file)
    assert (report.facts["request"].timeout_seconds, report.facts["request"].expectations.gpu.count) == (120.0, 8)
    assert "gpu-count-unexpected" in [finding.code for finding in report.findings]
    file.write_text("gpus = 8")
    with pytest.raises(ValueError, match=r"expected\.toml.*gpus"):
        gpucheck.check(expect=file)


def test_default_timeouts_match_the_command():
    """`level="full"` has the timeout of `--full`."""
    assert inspect.signature(gpucheck.check).parameters["timeout_seconds"].default is None
    assert TIMEOUT_SECONDS[Level.FULL] == 300.0


def test_report_is_shown_as_a_page_in_a_notebook():
    report = recorded()
    frame, notice = html5lib.HTMLParser(strict=True).parseFragment(report._repr_html_())
    assert "before you share the notebook" in notice.text
    page = html5lib.HTMLParser(strict=True).parse(frame.attrib["srcdoc"])
    assert "NVIDIA H200" in "".join(page.itertext())
    assert str(report).startswith("gpucheck ")


def test_repr_is_one_line_and_str_is_the_report():
    report = gpucheck.check(level="quick")
    codes = ", ".join(finding.code for finding in report.findings)  # one more if TensorFlow is not installed
    assert repr(report) == f"<gpucheck report: {report.verdict.value}, {codes}; print() shows it>"
    assert "(see report.outcomes)" in str(report)
    assert not re.search(r"\(-v|gpucheck --", str(report))


def test_script_prints_no_progress(capsys):
    gpucheck.check(level="quick")
    assert capsys.readouterr().err == ""


def test_dir_lists_the_public_names():
    assert {"check", "require"} <= set(dir(gpucheck))
    assert "TYPE_CHECKING" not in dir(gpucheck)


def test_help_and_completion_do_not_import_keras(tmp_path):
    (tmp_path / "keras.py").write_text("print('Keras was imported')")
    code = "import rlcompleter; help(gpucheck); print(rlcompleter.Completer().attr_matches('gpucheck.'))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])}
    done = subprocess.run([sys.executable, "-c", f"import gpucheck; {code}"], env=env, capture_output=True, text=True, check=True)
    assert "Keras was imported" not in done.stdout
    assert "gpucheck.keras.Watch()" in done.stdout


def test_help_works_without_keras():
    code = "import sys; sys.modules['keras'] = None; import gpucheck; help(gpucheck)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gpucheck.check()" in done.stdout
    code = "import sys; sys.modules['keras'] = None; import gpucheck; gpucheck.keras"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "AttributeError: gpucheck.keras needs Keras" in done.stderr


def test_notebook_page_suggests_python_calls():
    absent = {"path": "/dev/nvidiactl", "present": False}
    report = recorded(
        *[("pci", "gpus", []), ("gpus", "gpus", []), ("container", "inside", False), ("training", "runs", [])],
        *[("driver", "gpu_count", None), ("driver", "result", None), ("cuda", "device_count", None), ("cuda", "devices", [])],
        *[("tensorflow", "devices", [])],
        *[(probe, "status", "library-not-found") for probe in ("driver", "cuda")],
        *[("kernel_module", name, False) for name in ("loaded", "uvm_loaded", "nouveau_loaded", "installed_for_running_kernel")],
        *[("device_nodes", name, absent) for name in ("control", "uvm")],
    )
    assert report.findings[0].code == "no-nvidia-gpu"
    assert "gpucheck.check(allow_cpu=True)" in report._repr_html_()


def test_tensorflow_variant_is_shown_by_its_package_name():
    package = {"name": "tensorflow-cpu", "version": "2.21.0", "folder": "/x"}
    assert "TensorFlow 2.21.0 (tensorflow-cpu)" in str(recorded(("packages", "tensorflow", package))).splitlines()[0]


def test_notebook_shows_plain_text_without_the_html_extra(monkeypatch):
    report = recorded()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "gpucheck.core.reports.html", raising=False)  # another test may have imported it
    assert report._repr_html_().startswith("<pre>gpucheck ")


def test_import_loads_no_other_modules():
    code = "import gpucheck, sys; sys.exit(any(name.startswith(('gpucheck.', 'msgspec', 'click')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = gpucheck.nonsense
