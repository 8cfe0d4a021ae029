"""No file of the current folder affects what `setup --apply` installs: uv reads uv.toml and pyproject.toml, Python its modules."""

import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import venv
import zipfile

import command
import pytest

from gpucheck.core.compat.tensorflow import RELEASES

ROOT = pathlib.Path(__file__).parents[2]
RELEASE = "2.20"
OTHER = "3.12" if sys.version_info[:2] != (3, 12) else "3.13"  # a Python that uv must download
VERSION = RELEASES[RELEASE].latest_patch
UV = shutil.which("uv", path=os.pathsep.join([f"{sys.prefix}/bin", os.environ.get("PATH", "")]))
FAKE_UV = """#!/bin/sh
PATH=/usr/bin:/bin
pwd >> "$0.folders"
case $1 in venv) for last; do :; done; mkdir "$last/bin";; esac
"""
real_uv = pytest.mark.skipif(UV is None, reason="uv is not installed (pip install uv)")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a uv that is a shell script")


@pytest.fixture
def shared(tmp_path):
    """A world-writable current folder such as /tmp, with files of another user if the tests run as root."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def apply(tmp_path, folder, uv, *options, **more):
    """Create an environment for the CPU in a current folder."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    if isinstance(uv, str):
        (programs / "uv").write_text(uv)
        (programs / "uv").chmod(0o755)
    elif uv is not None:
        (programs / "uv").symlink_to(uv)
    env = {
        "PATH": str(programs),
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "PYENV_ROOT": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_OFFLINE": "1",
        **more,
    }
    argv = ("setup", "--cpu", "--tensorflow", RELEASE, "--apply", "env", "--timeout", "120", *options)
    return command.gpucheck(*argv, cwd=folder, env=env)


def given_away(*paths):
    """Give files to another user if root runs the tests."""
    for path in paths if os.geteuid() == 0 else ():
        os.chown(path, 65534, 65534)


def test_every_step_starts_in_the_root_folder(tmp_path, shared):
    apply(tmp_path, shared, FAKE_UV, "--python", OTHER)
    assert (tmp_path / "programs/uv.folders").read_text().split() == ["/", "/"]


def test_programs_on_a_relative_path_are_found(tmp_path, shared):
    apply(tmp_path, tmp_path, FAKE_UV, "--python", OTHER, PATH="programs")
    assert (tmp_path / "programs/uv.folders").read_text().split() == ["/", "/"]


def test_verification_imports_no_module_of_the_current_folder(tmp_path, shared):
    package = shared / "gpucheck"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    given_away(package, *package.iterdir())
    apply(tmp_path, shared, FAKE_UV, PYTHONPATH="")
    assert not (tmp_path / "executed").exists()


@pytest.fixture
def marked(tmp_path):
    """A folder on PATH with a Python whose packages create a file whenever they are loaded."""
    venv.create(tmp_path / "old", symlinks=True)
    (library,) = tmp_path.glob("old/lib/python*/site-packages")
    (library / "zz.pth").write_text(f"import os; open({str(tmp_path / 'executed')!r}, 'w')\n")
    return tmp_path / "old/bin"


@pytest.mark.slow  # pip is installed into the new environment
def test_python_that_creates_an_environment_loads_no_packages(tmp_path, shared, marked):
    done = apply(tmp_path, shared, None, PATH=str(marked), PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)
    assert "the package index cannot be reached" in done.stderr
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("uv", [FAKE_UV, pytest.param(pathlib.Path(UV or "uv"), marks=real_uv)], ids=["fake", "real"])
def test_python_loads_no_packages_if_uv_creates_the_environment(tmp_path, shared, marked, uv):
    done = apply(tmp_path, shared, uv, PATH=f"{marked}:{tmp_path}/programs")
    assert "[2/3] Installing tensorflow" in done.stderr
    assert not (tmp_path / "executed").exists()


def wheel(folder):
    """Create a wheel of a TensorFlow that creates a file at every start of Python; return uv settings for it."""
    folder.mkdir()
    info = f"tensorflow-{VERSION}.dist-info"
    with zipfile.ZipFile(folder / f"tensorflow-{VERSION}-py3-none-any.whl", "w") as file:
        file.writestr("tensorflow.py", "")
        file.writestr("zz.pth", f"import os; open({str(folder / 'executed')!r}, 'w')\n")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {VERSION}\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        names = [*file.namelist(), f"{info}/RECORD"]
        file.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in names))
    return f'no-index = true\nfind-links = ["{folder}"]\n'


@real_uv
@pytest.mark.parametrize("name", ["uv.toml", "pyproject.toml"])
def test_uv_ignores_settings_of_the_current_folder(tmp_path, shared, name):
    settings = wheel(tmp_path / "wheels")
    (shared / name).write_text(settings if name == "uv.toml" else f"[tool.uv.pip]\n{settings}")
    given_away(shared / name)
    done = apply(tmp_path, shared, pathlib.Path(UV))
    assert not (tmp_path / "wheels/executed").exists()
    assert (done.returncode, (shared / "env").exists()) == (1, False), done.stdout + done.stderr  # no network, no packages


@pytest.fixture
def index():
    """The address of a package index, and the requested paths."""
    requested = []

    class Index(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requested.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", requested
        server.shutdown()


@real_uv
@pytest.mark.parametrize("name", ["uv.toml", "pyproject.toml"])
def test_uv_ignores_an_index_set_in_the_current_folder(tmp_path, shared, index, name):
    address, requested = index
    (shared / name).write_text(f'{"" if name == "uv.toml" else "[tool.uv]"}\nindex-url = "{address}"\n')
    given_away(shared / name)
    (tmp_path / "config/uv").mkdir(parents=True)
    (tmp_path / "config/uv/uv.toml").write_text('index-url = "http://127.0.0.1:9/"\n')  # no server: the user's index
    online = {"UV_OFFLINE": "0", "UV_HTTP_RETRIES": "0"}
    apply(tmp_path, shared, pathlib.Path(UV), **online)
    assert requested == []
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), **online}
    argv = [UV, "pip", "install", "--dry-run", "--python", sys.executable, "--target", "x", "tensorflow"]
    subprocess.run(argv, cwd=shared, env=env, capture_output=True, timeout=60)
    assert requested == ["/tensorflow/"], "uv itself does read that file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root: a Python is given away")
@pytest.mark.parametrize(("owner", "executed"), [(0, True), (1234, False), (65534, False)])
def test_root_does_not_run_a_python_of_another_user(tmp_path, owner, executed):
    python = tmp_path / "home/.pyenv/versions/3.12.1/bin/python3"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n: > {tmp_path}/executed\n")
    python.chmod(0o755)
    os.chown(python, owner, owner)
    command.gpucheck("setup", "--cpu", env={"HOME": str(tmp_path / "home"), "PYENV_ROOT": "", "PATH": "/usr/bin:/bin"})
    assert (tmp_path / "executed").exists() is executed


@real_uv
def test_uv_reads_the_settings_of_the_user(tmp_path, shared):
    (tmp_path / "config/uv").mkdir(parents=True)
    (tmp_path / "config/uv/uv.toml").write_text(wheel(tmp_path / "wheels"))
    done = apply(tmp_path, shared, pathlib.Path(UV))
    assert list((shared / "env").glob("lib/python*/site-packages/tensorflow.py")), done.stdout + done.stderr
