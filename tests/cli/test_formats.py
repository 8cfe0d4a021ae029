"""--format, --report, --redact and --exit-style as a user types them."""

import json
import pathlib
import platform
import stat
import sys

import junitparser
import msgspec
import pytest
from command import gpucheck, in_a_process
from reports.cases import CASES
from reports.hostile import leaks, secretive

from gpucheck.cli.formats import FORMATS
from gpucheck.core import reports


@pytest.fixture
def recorded(tmp_path):
    """Return the replay arguments for a report of hostile.py or cases.py."""

    def record(made):
        path = tmp_path / "recorded.json"
        path.write_bytes(msgspec.json.encode(made))
        return ("--replay", str(path))

    return record


def test_every_format_has_a_file():
    files = {path.stem for path in pathlib.Path(reports.__path__[0]).glob("*.py")}
    assert {*FORMATS, "__init__"} == files


@pytest.mark.tensorflow
def test_all_formats_in_one_run(tmp_path):
    wanted = {style: tmp_path / f"report.{style}" for style in FORMATS}
    done = gpucheck("--quick", "--allow-cpu", "--format", "npd", *(f"--report={style}={path}" for style, path in wanted.items()))
    assert (done.returncode, done.stderr) == (0, "")
    assert all(path.stat().st_size for path in wanted.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in wanted.values())  # no other files
    assert done.stdout == wanted["npd"].read_text(encoding="utf-8")
    report = json.loads(wanted["json"].read_text(encoding="utf-8"))
    xml = junitparser.JUnitXml.fromfile(str(wanted["junit"]))
    # No expectations were passed.
    outcomes = [outcome for outcome in report["outcomes"] if not outcome["code"].endswith("-unexpected")]
    assert next(iter(xml)).tests == len(outcomes) == len(report["outcomes"]) - 5


@pytest.mark.tensorflow
@pytest.mark.parametrize(("module", "style"), [("jinja2", "html")])
def test_missing_extra_is_reported_before_the_run(tmp_path, module, style):
    (tmp_path / module).mkdir()
    (tmp_path / module / "__init__.py").write_text(f"raise ModuleNotFoundError('missing', name={module!r})\n")
    for args in (["--format", style], ["--report", f"{style}=file"]):
        done = in_a_process("--quick", *args, env={"PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
        assert done.returncode == 2
        assert f"the format {style} needs {module}: {sys.executable} -m pip install {module}\n" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "file").exists()
    assert in_a_process("--quick", "--allow-cpu", env={"PYTHONPATH": str(tmp_path)}).returncode == 0


@pytest.mark.parametrize("style", ["markdown", "html"])
def test_redaction_is_on_for_public_formats(recorded, style):
    arguments = recorded(secretive())
    assert leaks(gpucheck("--format", style, *arguments).stdout) == []
    assert "uuid" in leaks(gpucheck("--format", style, "--no-redact", *arguments).stdout)


def test_redaction_by_flag_for_other_formats(recorded):
    arguments = recorded(secretive())
    assert "uuid" in leaks(gpucheck("--format", "json", *arguments).stdout)
    assert leaks(gpucheck("--format", "json", "--redact", *arguments).stdout) == []


def test_real_run_reveals_no_secrets(tmp_path):
    """A run on this machine must not reveal the environment, home folder, user or host."""
    home = tmp_path / "home" / "zaphodine"
    home.mkdir(parents=True)
    env = {
        "HOME": str(home),
        "USER": "zaphodine",
        "LOGNAME": "zaphodine",
        "HOSTNAME": "heartofgold-42",
        "HF_TOKEN": "hf_ABCDEFGHIJKLMNOPQRSTUV",
        "MY_SECRET": "open-sesame-9",
        "TF_SOMETHING_UNKNOWN": "open-sesame-8",
        "CUDA_VISIBLE_DEVICES": "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
        "LD_LIBRARY_PATH": f"{home}/lib:/data/zaphodine/lib",
        "TF_CONFIG": '{"cluster": {"worker": ["heartofgold-42:2222", "10.20.30.40:2222"]}, "task": {"type": "worker", "index": 0}}',
    }
    done = gpucheck(
        "--quick", "--allow-cpu", "--format", "markdown", f"--report=html={tmp_path}/x.html", "--timeout", "20", env=env
    )
    for text in (done.stdout, (tmp_path / "x.html").read_text(encoding="utf-8")):
        assert "GPU-uuid-1" in text
        for secret in ("zaphodine", "heartofgold", "hf_ABC", "open-sesame", "8932f937", "10.20.30.40"):
            assert secret not in text
        if len(platform.node()) > 5:
            assert platform.node() not in text


def test_step_summary_is_appended(tmp_path, recorded):
    page = tmp_path / "summary.md"
    page.write_text("before\n", encoding="utf-8")
    done = gpucheck("--format", "github", *recorded(secretive()), env={"GITHUB_STEP_SUMMARY": str(page)})
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n# gpucheck: ")
    assert leaks(text) == []
    assert done.stdout.startswith("::")
    assert gpucheck("--format", "json", *recorded(secretive()), env={"GITHUB_STEP_SUMMARY": str(page)}).returncode is not None
    assert page.read_text(encoding="utf-8") == text  # only with the github format


def test_termination_message_is_written_to_the_mounted_file(tmp_path, recorded):
    log = tmp_path / "termination-log"
    log.write_text("x" * 10_000)
    before = log.stat()
    done = gpucheck("--report", f"termination={log}", *recorded(CASES["fail-gpu-3"]()))
    assert done.returncode == 1
    assert (log.stat().st_ino, stat.S_IMODE(log.stat().st_mode)) == (before.st_ino, stat.S_IMODE(before.st_mode))
    assert 0 < log.stat().st_size <= 4096


def test_wrong_usage_writes_the_termination_message(tmp_path):
    log = tmp_path / "termination-log"
    log.write_text("old")
    assert gpucheck("--quick", "--report", f"termination={log}", "--report", "html=/no/such/folder/x").returncode == 2
    assert log.read_text() == "old"
