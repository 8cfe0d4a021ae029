"""The commands as a user runs them: --expect, snapshot, compare, config, and where settings come from."""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig

import pytest
from command import gpucheck, in_a_process
from fakes import machine, readings

from gpucheck.engine.pipeline import assemble
from gpucheck.engine.plugin import load_rows
from gpucheck.model import Request
from gpucheck.reports import json as json_report


def recorded(folder, name, **changes):
    """A JSON report of a recorded machine, as a file."""
    plain = machine(name)
    plain.pop("request")
    given = [one for one in readings(plain) if one.probe != "request"]
    path = folder / f"{name}.json"
    path.write_text(json_report.render(assemble(Request(**changes), given, [], load_rows(), 0.0)))
    return path


QUICK = ("--quick", "--allow-cpu")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A snapshot of this machine, and a report of it."""
    folder = tmp_path_factory.mktemp("good")
    done = gpucheck("snapshot", "expected.toml", *QUICK, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert gpucheck(*QUICK, "--format", "json", "--output", "good.json", cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def older_keras(tmp_path_factory):
    """Another environment: a folder that is searched first, in which an older Keras lies."""
    folder = tmp_path_factory.mktemp("overlay")
    (folder / "keras-3.4.1.dist-info").mkdir()
    (folder / "keras-3.4.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: keras\nVersion: 3.4.1\n")
    return {"PYTHONPATH": str(folder)}


needs_keras = pytest.mark.skipif(
    not list(pathlib.Path(sysconfig.get_paths()["purelib"]).glob("keras-*.dist-info")), reason="Keras is not installed"
)


def test_the_machine_of_the_snapshot_is_as_expected(good):
    done = gpucheck(*QUICK, "--expect", "expected.toml", cwd=good)
    assert done.returncode == 0, done.stdout
    done = gpucheck("compare", "expected.toml", "--allow-cpu", cwd=good)
    assert (done.returncode, done.stdout) == (0, "")
    done = gpucheck("compare", "good.json", cwd=good)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"# a comment\n", b'{"schema_version": "1.0", "facts": {}}'])
def test_a_baseline_that_expects_nothing_is_refused(good, tmp_path, content):
    empty = tmp_path / "empty"
    empty.write_bytes(content)
    done = [gpucheck("compare", empty, "--allow-cpu", cwd=good), gpucheck("compare", empty, "good.json", cwd=good)]
    if not content.startswith(b"{"):
        done += [
            gpucheck(*QUICK, "--expect", empty, cwd=good),
            gpucheck("run", "--expect", empty, *QUICK, "--", sys.executable, "-c", "print('started')", cwd=good),
        ]
    for one in done:
        assert (one.returncode, one.stdout) == (2, ""), one
        assert "is no baseline" in one.stderr.splitlines()[-1]


@needs_keras
def test_an_older_keras_is_the_drift_and_is_named(good, older_keras):
    done = in_a_process("compare", "good.json", "--format", "json", cwd=good, env=older_keras)
    assert done.returncode == 1
    found = {(one["group"], one["what"]): one for one in json.loads(done.stdout)["changes"]}
    change = found.pop(("TensorFlow and Keras", "Keras"))
    assert change["new"] == "3.4.1"
    assert change["old"].startswith("3.")
    assert found.keys() <= {("environment variables", "PYTHONPATH")}
    done = in_a_process("compare", "expected.toml", cwd=good, env=older_keras)
    assert done.returncode == 1
    assert "TensorFlow and Keras" in done.stdout
    assert "→ 3.4.1" in done.stdout or "-> 3.4.1" in done.stdout
    assert "1 difference between expected.toml and this machine." in done.stdout


@needs_keras
def test_an_older_keras_is_not_what_was_expected(good, older_keras):
    done = in_a_process(*QUICK, "--expect", "expected.toml", "--format", "json", cwd=good, env=older_keras)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert "version-unexpected" in [one["code"] for one in report["findings"]]
    assert report["facts"]["request"]["expectations"]["versions"]["keras"].startswith("==3.")


def test_a_fault_is_no_known_good_machine(tmp_path):
    done = gpucheck("snapshot", "expected.toml", "--quick", cwd=tmp_path, env={"CUDA_VISIBLE_DEVICES": "-1"})
    assert done.returncode == 1
    assert "nothing was written" in done.stderr
    assert os.listdir(tmp_path) == []
    done = gpucheck("snapshot", "expected.toml", "--quick", "--force", cwd=tmp_path, env={"CUDA_VISIBLE_DEVICES": "-1"})
    assert done.returncode == 0
    assert os.listdir(tmp_path) == ["expected.toml"]


def test_a_refused_snapshot_leaves_the_old_file(tmp_path):
    (tmp_path / "expected.toml").write_text("old")
    gpucheck("snapshot", "expected.toml", "--quick", cwd=tmp_path, env={"CUDA_VISIBLE_DEVICES": "-1"})
    assert (tmp_path / "expected.toml").read_text() == "old"
    assert os.listdir(tmp_path) == ["expected.toml"]


def test_snapshot_to_standard_output(tmp_path):
    done = gpucheck("snapshot", "-", *QUICK, cwd=tmp_path)
    assert done.stdout.startswith("# What this machine was on ")
    assert "schema_version = 1" in done.stdout


def test_training_that_is_expected_and_not_looked_at_is_unknown(tmp_path):
    (tmp_path / "e.toml").write_text("[training.min_samples_per_second]\none_device = 1\n")
    done = gpucheck(*QUICK, "--expect", "e.toml", cwd=tmp_path)
    assert done.returncode == 3
    assert "not looked at with --quick" in done.stdout


def test_recorded_machines_are_held_against_expectations(tmp_path):
    path = recorded(tmp_path, "hgx-h200")
    (tmp_path / "e.toml").write_text('[gpu]\ncount = 8\nnames = "NVIDIA H200"\n[training]\nstrategies = ["mirrored"]\n')
    assert gpucheck("--replay", path, "--expect", "e.toml", cwd=tmp_path).returncode == 0
    (tmp_path / "e.toml").write_text("[gpu]\ncount = 4\n")
    done = gpucheck("--replay", path, "--expect", "e.toml", cwd=tmp_path)
    assert done.returncode == 1
    assert "Number of GPUs is 8, where 4 was expected." in done.stdout
    (tmp_path / "e.toml").write_text(
        '[gpu]\ncount = 4\n[[mute]]\ncode = "gpu-count-unexpected"\nreason = "half is lent"\nuntil = 2999-01-01\n'
    )
    done = gpucheck("--replay", path, "--expect", "e.toml", cwd=tmp_path)
    assert done.returncode == 0
    assert "half is lent until 2999-01-01" in done.stdout
    assert "1 muted" in done.stdout


def test_expectations_travel_with_the_report(tmp_path):
    (tmp_path / "e.toml").write_text("[gpu]\ncount = 3\n")
    first = gpucheck(*QUICK, "--expect", "e.toml", "--format", "json", "--output", "r.json", cwd=tmp_path)
    again = gpucheck("--replay", "r.json", cwd=tmp_path)
    assert (first.returncode, again.returncode) == (1, 1)
    assert "gpu-count-unexpected" in again.stdout


def test_two_reports_and_standard_input(tmp_path):
    old, new = recorded(tmp_path, "hgx-h200"), recorded(tmp_path, "h200")
    done = gpucheck("compare", old, new, "--format", "markdown", cwd=tmp_path)
    assert done.returncode == 1
    assert "| GPUs that the driver counts | 8 | 1 |" in done.stdout
    assert gpucheck("compare", old, "-", cwd=tmp_path, input=old.read_text()).stdout == ""


def test_pyproject_variables_and_command_line(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.gpucheck]\nlevel = "quick"\nallow-cpu = true\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    asked = json.loads(gpucheck("--format", "json", cwd=inner).stdout)["facts"]["request"]
    assert (asked["level"], asked["allow_cpu"], asked["timeout_seconds"]) == (0, True, 120.0)
    done = gpucheck("--format", "json", cwd=inner, env={"GPUCHECK_ALLOW_CPU": "0", "GPUCHECK_TIMEOUT": "50"})
    asked = json.loads(done.stdout)["facts"]["request"]
    assert (asked["level"], asked["allow_cpu"], asked["timeout_seconds"]) == (0, False, 50.0)
    done = gpucheck("--format", "json", "--timeout", "40", "--allow-cpu", cwd=inner, env={"GPUCHECK_TIMEOUT": "50"})
    asked = json.loads(done.stdout)["facts"]["request"]
    assert (asked["allow_cpu"], asked["timeout_seconds"]) == (True, 40.0)


def test_expectations_from_pyproject_and_a_variable(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.gpucheck.expectations.gpu]\ncount = 3\n")
    done = gpucheck(*QUICK, cwd=tmp_path)
    assert done.returncode == 1
    assert "gpu-count-unexpected" in done.stdout
    (tmp_path / "other.toml").write_text('[versions]\npython = ">=3"\n')
    assert gpucheck(*QUICK, cwd=tmp_path, env={"GPUCHECK_EXPECT": "other.toml"}).returncode == 0


def test_a_strategy_that_is_configured_gives_way_to_quick(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.gpucheck]\nstrategy = ["mirrored"]\n')
    assert gpucheck(*QUICK, cwd=tmp_path).returncode == 0


def test_config_shows_each_value_and_its_source(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.gpucheck]\ntimeout = 60\nstrict = true\n[tool.gpucheck.expectations.gpu]\ncount = 8\n"
    )
    env = {"GPUCHECK_STRICT": "no", "GPUCHECK_SERVICE_HOST": "10.0.0.1"}
    got = json.loads(gpucheck("config", "--format", "json", cwd=tmp_path, env=env).stdout)
    settings = got["settings"]
    assert settings["timeout"] == {"value": 60, "source": f"{tmp_path}/pyproject.toml:2"}
    assert settings["strict"] == {"value": False, "source": "GPUCHECK_STRICT"}
    assert settings["allow-cpu"] == {"value": False, "source": "default"}
    assert settings["level"] == {"value": "default", "source": "default"}
    assert settings["expectations"] == {"value": {"gpu": {"count": 8}}, "source": f"{tmp_path}/pyproject.toml:4"}
    assert got["unknown_variables"] == ["GPUCHECK_SERVICE_HOST"]
    text = gpucheck("config", cwd=tmp_path, env=env).stdout
    assert "timeout       60" in text
    assert "GPUCHECK_SERVICE_HOST  means nothing to gpucheck" in text


def test_toml_is_not_even_imported_without_settings(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    code = "import sys, gpucheck.cli as c, contextlib\nwith contextlib.suppress(SystemExit): c.cli.main(['--quick', '--allow-cpu'])\n"
    code += "print([m for m in ('tomllib', 'tomli', 'gpucheck.expectations.read', 'gpucheck.expectations.drift') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
