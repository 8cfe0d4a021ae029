"""Installation methods that unit tests can cover; `make dist` builds and tests them for real."""

import pathlib
import re
import runpy
import site
import subprocess
import sys
import venv

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def alone(tmp_path):
    """An environment as pipx or uv creates it for one tool, as a function that runs gpucheck in it."""
    venv.create(tmp_path / "alone", symlinks=True)
    (library,) = tmp_path.glob("alone/lib/python*/site-packages")
    library.joinpath("all.pth").write_text("\n".join([str(ROOT), *site.getsitepackages()]))

    def run(*args, **env):
        argv = [tmp_path / "alone/bin/python", "-m", "gpucheck", *(args or ("--quick", "--allow-cpu"))]
        return subprocess.run(argv, env={"PATH": f"{sys.prefix}/bin", **env}, capture_output=True, text=True, cwd=tmp_path)

    run.folder, run.library = tmp_path / "alone", library
    return run


@pytest.mark.parametrize("mark", ["pipx_metadata.json", "uv-receipt.toml"])
def test_tool_environment_examines_the_active_environment(alone, mark):
    assert "examining" not in alone(VIRTUAL_ENV=sys.prefix).stderr
    (alone.folder / mark).touch()
    done = alone(VIRTUAL_ENV=sys.prefix, PATH="")
    assert f"examining {sys.prefix}/bin/python3, the active environment's (VIRTUAL_ENV)" in done.stderr
    assert f"({pathlib.Path(sys.prefix).name})" in done.stdout
    assert f"examining {sys.prefix}/bin/python3, the first on PATH" in alone().stderr
    assert "examining" not in alone(PATH="").stderr


def test_broken_python_of_the_active_environment_gives_no_verdict(alone, tmp_path):
    (alone.folder / "uv-receipt.toml").touch()
    broken = tmp_path / "active/bin/python3"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    problem = f"gpucheck: no verdict: {broken} did not respond as a Python interpreter: "

    def outcome(*args):
        done = alone(*args, VIRTUAL_ENV=str(tmp_path / "active"), PATH="/usr/bin:/bin")
        assert problem in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr.splitlines()[-1]

    assert outcome("run", "--", "echo", "trained")[:2] == (3, "")
    assert outcome("env", "--uninstall")[:2] == (3, "")
    anyway = "gpucheck: started anyway: the check could not be completed"
    assert outcome("run", "--on-fail", "warn", "--", "echo", "trained") == (0, "trained\n", anyway)


def test_other_package_named_gpucheck_is_reported(alone):
    copy = alone.library / "gpucheck"
    subprocess.run(["cp", "-r", ROOT / "gpucheck", copy], check=True)
    (alone.library / "all.pth").write_text("\n".join(site.getsitepackages()))
    (alone.library / "gpucheck-0.1.0.dist-info").mkdir()
    (alone.library / "keras_gpucheck-0.1.0.dist-info").mkdir()
    (alone.library / "keras_gpucheck-0.1.0.dist-info" / "INSTALLER").write_text("cp\n")  # no comparison with RECORD
    beside = alone()
    assert "another package named gpucheck is installed in the same folder: removing it breaks this one" in beside.stderr
    assert "causes ruled out" in beside.stdout
    (copy / "__init__.py").unlink()
    removed = alone()
    assert (removed.returncode, removed.stdout, removed.stderr.count("\n")) == (3, "", 1)
    assert "another package named gpucheck has overwritten or removed files of this one" in removed.stderr


def test_readme_for_the_package_index_has_absolute_links():
    links = re.findall(r"\]\(([^)]+)", runpy.run_path(str(ROOT / "setup.py"))["readme"]())
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
