"""The cache of passed checks: its key, and the stored files."""

import os
import subprocess
import sys

import pytest

from gpucheck.commands.run import pass_cache
from gpucheck.core.model import Level, Request

REQUEST = Request(level=Level.QUICK)


@pytest.fixture
def interpreter(tmp_path):
    site = tmp_path / "site"
    (site / "keras-3.15.0.dist-info").mkdir(parents=True)
    return {"executable": sys.executable, "version": "3.12.3", "prefix": "/usr", "path": [str(site), "/nowhere"]}


def test_key_is_stable(interpreter):
    assert pass_cache.key(REQUEST, {"PATH": "/bin"}, interpreter) == pass_cache.key(REQUEST, {"PATH": "/bin"}, dict(interpreter))


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "TF_SOMETHING_NEW", "LD_LIBRARY_PATH", "XLA_FLAGS", "PATH", "HOME"])
def test_key_depends_on_these_variables(interpreter, name):
    assert pass_cache.key(REQUEST, {name: "1"}, interpreter) != pass_cache.key(REQUEST, {name: "2"}, interpreter)
    assert pass_cache.key(REQUEST, {name: ""}, interpreter) != pass_cache.key(REQUEST, {}, interpreter)


def test_key_is_the_same_in_each_job(interpreter):
    assert pass_cache.key(REQUEST, {"SLURM_JOB_ID": "1"}, interpreter) == pass_cache.key(REQUEST, {}, interpreter)


def test_key_ignores_other_variables(interpreter):
    assert pass_cache.key(REQUEST, {"SHLVL": "1", "OLDPWD": "/"}, interpreter) == pass_cache.key(REQUEST, {}, interpreter)


def test_key_depends_on_packages_interpreter_and_request(interpreter, tmp_path):
    keys = [pass_cache.key(REQUEST, {}, interpreter)]
    keys.append(pass_cache.key(Request(level=Level.FULL), {}, interpreter))
    keys.append(pass_cache.key(Request(level=Level.QUICK, allow_cpu=True), {}, interpreter))
    keys.append(pass_cache.key(REQUEST, {}, {**interpreter, "executable": "/usr/bin/env"}))
    keys.append(pass_cache.key(REQUEST, {}, interpreter, "repair"))
    (tmp_path / "site/nvidia_cudnn_cu12-9.3.0.dist-info").mkdir()
    keys.append(pass_cache.key(REQUEST, {}, interpreter))
    os.utime(tmp_path / "site/keras-3.15.0.dist-info", (1, 1))  # reinstalled
    keys.append(pass_cache.key(REQUEST, {}, interpreter))
    (tmp_path / "site/tensorflow").mkdir()
    keys.append(pass_cache.key(REQUEST, {}, interpreter))
    (tmp_path / "site/numpy.py").write_text("")  # shadows the package
    keys.append(pass_cache.key(REQUEST, {}, interpreter))
    assert len(set(keys)) == len(keys)
    (tmp_path / "site/notes.txt").write_text("")
    assert pass_cache.key(REQUEST, {}, interpreter) == keys[-1]


def test_environment_changes_are_stored(tmp_path):
    env = {"XDG_CACHE_HOME": str(tmp_path / "a cache")}
    changes = [("LD_LIBRARY_PATH", "/a b"), ("CUDA_VISIBLE_DEVICES", None)]
    assert pass_cache.recall("x", 60, env) is None
    pass_cache.remember("x", env, changes)
    assert pass_cache.recall("x", 60, env) == changes
    assert pass_cache.recall("y", 60, env) is None
    assert pass_cache.recall("x", 0.0, env) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
def test_invalid_file_is_ignored(tmp_path):
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    pass_cache.remember("key", env, [])
    (file,) = (tmp_path / "gpucheck").iterdir()
    good = file.read_bytes()
    assert pass_cache.recall("key", 60, env) == []
    for bad in (b"", b"\xff{", b"[]", b'{"format": 1}', good.replace(b'"at":', b'"at":9'), good[:-3]):
        file.write_bytes(bad)
        assert pass_cache.recall("key", 60, env) is None, bad


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no file owners on this system")
def test_file_writable_by_others_is_ignored_and_replaced(tmp_path):
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    folder, file = tmp_path / "gpucheck", tmp_path / "gpucheck/passed-key"
    pass_cache.remember("key", env, [])
    assert pass_cache.recall("key", 60, env) == []
    file.chmod(0o666)
    assert pass_cache.recall("key", 60, env) is None
    pass_cache.remember("key", env, [])
    assert file.stat().st_mode & 0o777 == 0o600
    folder.chmod(0o777)
    assert pass_cache.recall("key", 60, env) is None
    file.unlink()
    pass_cache.remember("key", env, [])
    assert not file.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root: folders are given away")
@pytest.mark.parametrize("link", [False, True])
def test_no_write_into_a_folder_or_link_of_another_user(tmp_path, link):
    env, folder, target = {"XDG_CACHE_HOME": str(tmp_path)}, tmp_path / "gpucheck", tmp_path / "target"
    target.mkdir()
    if link:
        folder.symlink_to("target")
    else:
        folder.mkdir()
    os.lchown(folder, 65534, 65534)
    pass_cache.remember("key", env, [])
    assert (os.listdir(folder), os.listdir(target)) == ([], [])
    assert pass_cache.recall("key", 60, env) is None


def test_cache_folder(tmp_path):
    home = {"HOME": str(tmp_path)}
    for env in (home, {**home, "XDG_CACHE_HOME": "relative"}):
        pass_cache.remember("x", env, [])
        assert pass_cache.recall("x", 60, env) == []
    assert os.listdir(tmp_path / ".cache/gpucheck") == ["passed-x"]
    pass_cache.remember("x", {}, [])
    assert pass_cache.recall("x", 60, {}) is None


def test_unused_files_are_removed_after_a_month(tmp_path):
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    pass_cache.remember("old", env, [])
    os.utime(tmp_path / "gpucheck/passed-old", (1, 1))
    pass_cache.remember("new", env, [])
    assert os.listdir(tmp_path / "gpucheck") == ["passed-new"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_pipe_does_not_block(tmp_path):
    pass_cache.remember("x", {"XDG_CACHE_HOME": str(tmp_path)}, [])
    os.unlink(tmp_path / "gpucheck/passed-x")
    os.mkfifo(tmp_path / "gpucheck/passed-x", 0o600)
    code = "import sys; from gpucheck.commands.run import pass_cache; print(pass_cache.recall('x', 60, {'XDG_CACHE_HOME': sys.argv[1]}))"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("None\n", "")


@pytest.mark.parametrize(
    "content",
    [
        "[" * 10_000,
        '{"format": 1, "at": 1e999, "changes": []}',
        '{"format": 1, "at": 0, "changes": [["A=B", "c"]]}',
        '{"format": 1, "at": 0, "changes": [["A", "\\u0000"]]}',
        '{"format": 1, "at": 0, "changes": [["", "c"]]}',
        '{"format": 1, "at": 0, "changes": "none"}',
        "\ud800",
    ],
)
def test_damaged_file_is_ignored(tmp_path, content):
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    pass_cache.remember("name", env, [])
    assert pass_cache.recall("name", 1e12, env) == []
    (tmp_path / "gpucheck/passed-name").write_bytes(content.encode("utf-8", "surrogatepass"))
    assert pass_cache.recall("name", 1e12, env) is None
