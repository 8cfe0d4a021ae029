import pathlib
import subprocess
import sys

import pytest
from fakes import FakeHost

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import interpreter
from gpucheck.probes.interpreter import OtherInterpreter

SITE = "/venv/lib/python3.12/site-packages"
VENV = {
    "executable": "/venv/bin/python",
    "version": "3.12.3",
    "implementation": "cpython",
    "prefix": "/venv",
    "base_prefix": "/usr",
    "path": ["/usr/lib/python3.12", SITE, SITE],
    "bits": 64,
    "stdlib": "/usr/lib/python3.12",
}
SYSTEM = {**VENV, "executable": "/usr/bin/python3", "prefix": "/usr", "path": ["/usr/lib/python3/dist-packages"]}
MARKER = {"/usr/lib/python3.12/EXTERNALLY-MANAGED": "[externally-managed]\n"}


def tensorflow(site, name="tensorflow-2.21.0"):
    return {f"{site}/{name}.dist-info/METADATA": ""}


def read(files=(), answer=VENV, **settings):
    return interpreter.read(FakeHost(dict(files), interpreter=answer, **settings))


def others(*files, **settings):
    merged = {path: text for part in files for path, text in part.items()}
    return read(merged, **settings).others


def test_a_virtual_environment():
    found = read({f"{SITE}/pip-25.2.dist-info/METADATA": "", **MARKER}, env={"VIRTUAL_ENV": "/venv"})
    assert (found.environment, found.externally_managed, found.pip_version) == ("venv", False, "25.2")
    assert (found.version, found.bits, found.active_environment) == ("3.12.3", 64, "/venv")
    assert found.path == ("/usr/lib/python3.12", SITE)


def test_the_systems_own():
    found = read(MARKER, SYSTEM, env={"CONDA_PREFIX": "/opt/conda"})
    assert (found.environment, found.externally_managed, found.pip_version) == (None, True, None)
    assert found.active_environment == "/opt/conda"
    assert read({}, SYSTEM).externally_managed is False


def test_the_marker_is_found_without_the_folder_of_the_standard_library():
    answer = {key: value for key, value in SYSTEM.items() if key != "stdlib"}
    assert read(MARKER, answer).externally_managed is True


def test_conda():
    conda = {**VENV, "prefix": "/opt/conda", "base_prefix": "/opt/conda", "path": []}
    assert read({"/opt/conda/conda-meta/history": ""}, conda).environment == "conda"


def test_no_account():
    with pytest.raises(Exception, match="the interpreter could not be examined: killed by SIGSEGV"):
        read(answer="killed by SIGSEGV")


def test_another_interpreter_on_path():
    files = {"/opt/py/bin/python3.11": "", **tensorflow("/opt/py/lib/python3.11/site-packages")}
    links = {"/usr/local/bin/python3": "/opt/py/bin/python3.11", "/usr/local/bin/python": "python3"}
    found = others(files, links=links, env={"PATH": "/nowhere:/usr/local/bin"})
    assert found == (OtherInterpreter(executable="/usr/local/bin/python", tensorflow="tensorflow 2.21.0"),)


def test_of_several_versions_in_one_prefix_each_has_its_own():
    files = {"/usr/bin/python3.11": "", "/usr/bin/python3.9": "", "/usr/bin/python3-config": "", "/usr/bin/pythonw": ""}
    held = tensorflow("/usr/lib/python3.9/site-packages", "tensorflow_cpu-2.20.0")
    found = others(files, held, env={"PATH": "/usr/bin"})
    assert found == (OtherInterpreter(executable="/usr/bin/python3.9", tensorflow="tensorflow-cpu 2.20.0"),)


def test_debian_and_user_packages():
    files = {"/usr/bin/python3.12": ""}
    env = {"PATH": "/usr/bin", "HOME": "/home/user"}
    for site in ("/usr/local/lib/python3.12/dist-packages", "/home/user/.local/lib/python3.12/site-packages"):
        assert [one.executable for one in others(files, tensorflow(site), env=env)] == ["/usr/bin/python3.12"]


def test_virtual_environments_are_not_followed_out_of():
    files = {"/project/env/pyvenv.cfg": "home = /usr/bin\n", **tensorflow("/project/env/lib/python3.12/site-packages")}
    links = {"/project/env/bin/python": "/usr/bin/python3.12"}
    for env in ({"VIRTUAL_ENV": "/project/env"}, {"PATH": "/project/env/bin"}):
        assert [one.executable for one in others(files, env=env, links=links)] == ["/project/env/bin/python"]


def test_conda_and_this_folder():
    conda = {"/opt/conda/bin/python": "", **tensorflow("/opt/conda/lib/python3.11/site-packages")}
    assert [one.executable for one in others(conda, env={"CONDA_PREFIX": "/opt/conda"})] == ["/opt/conda/bin/python"]
    here = {".venv/pyvenv.cfg": "", ".venv/bin/python": "", **tensorflow(".venv/lib/python3.12/site-packages")}
    assert [one.executable for one in others(here)] == ["./.venv/bin/python"]


def test_pyenvs_shims_lead_to_its_versions():
    files = {
        "/h/.pyenv/shims/python": "#!/bin/sh",
        "/h/.pyenv/versions/3.10.1/bin/python": "",
        "/h/.pyenv/versions/3.11.7/bin/python": "",
    }
    held = tensorflow("/h/.pyenv/versions/3.11.7/lib/python3.11/site-packages")
    found = others(files, held, env={"PATH": "/h/.pyenv/shims"})
    assert [one.executable for one in found] == ["/h/.pyenv/versions/3.11.7/bin/python"]


def test_the_examined_one_is_no_other():
    files = {"/venv/pyvenv.cfg": "", "/venv/bin/python": "", **tensorflow(SITE)}
    assert others(files, env={"PATH": "/venv/bin", "VIRTUAL_ENV": "/venv"}) == ()


def test_only_so_many_are_looked_into():
    files, path = {}, []
    for number in range(interpreter.HOMES_MAX + 10):
        files |= {f"/opt/{number}/bin/python": "", **tensorflow(f"/opt/{number}/lib/python3.12/site-packages")}
        path.append(f"/opt/{number}/bin")
    found = others(files, env={"PATH": ":".join(path)})
    assert len(path) - 15 < len(found) <= interpreter.HOMES_MAX


def test_this_interpreter():
    with LocalHost(Request()) as host:
        found = interpreter.read(host)
    assert found.executable == sys.executable
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert (found.environment == "venv") == (sys.prefix != sys.base_prefix)


@pytest.mark.skipif(not pathlib.Path("/usr/bin/python3").exists(), reason="no /usr/bin/python3")
def test_the_systems_python_is_examined_in_a_child():
    version = subprocess.run(["/usr/bin/python3", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    with LocalHost(Request(python="/usr/bin/python3")) as host:
        found = interpreter.read(host)
    assert version.startswith(found.version)
    assert found.prefix == "/usr"


def test_a_program_that_is_no_interpreter():
    with LocalHost(Request(python="/bin/false")) as host, pytest.raises(Exception, match=r"^/bin/false could not be examined"):
        interpreter.read(host)
