"""Real virtual environments and conda's folders: written files, activation, and complete removal."""

import json
import os
import shutil
import subprocess
import sys
import venv

import pytest
from fakes import assignment

from gpucheck.core.repairs import install

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="activation scripts for sh")

WANTED = (
    assignment("LD_LIBRARY_PATH", '/opt/it\'s "$HOME"/lib', True, "why"),
    assignment("TF_FORCE_GPU_ALLOW_GROWTH", "true", False, "growth"),
)
PRINT = "import json, os; print(json.dumps([os.environ.get(n) for n in ('LD_LIBRARY_PATH', 'TF_FORCE_GPU_ALLOW_GROWTH')]))"
NEW = WANTED[0].value


@pytest.fixture(params=["/", " with blanks/"])
def environment(request, tmp_path):
    folder = f"{tmp_path}{request.param}env"
    venv.EnvBuilder(symlinks=True).create(folder)
    return folder


def activate_script(environment):
    with open(f"{environment}/bin/activate") as file:
        return file.read()


def shell(text, shell="sh", **env):
    text = text.replace("SHOW", f"'{sys.executable}' -c \"{PRINT}\"")
    env = {"PATH": os.environ["PATH"], "OSTYPE": "linux-gnu", **env}  # which the script of Python 3.12's venv takes for set
    done = subprocess.run([shell, "-u", "-c", text], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", ["sh", "bash"])
@pytest.mark.parametrize(("before", "during"), [(None, NEW), ("/old dir", f"{NEW}:/old dir"), ("", NEW)])
def test_activation_sets_and_deactivation_restores(environment, kind, before, during):
    install.install(WANTED, environment, "venv")
    env = {} if before is None else {"LD_LIBRARY_PATH": before}
    got = shell(f". '{environment}/bin/activate'; SHOW; deactivate; SHOW", kind, **env)
    assert got == [[during, "true"], [before, None]]


def test_activating_twice_adds_the_value_once(environment):
    install.install(WANTED, environment, "venv")
    twice = f". '{environment}/bin/activate'; . '{environment}/bin/activate'; SHOW; deactivate; SHOW"
    assert shell(twice, LD_LIBRARY_PATH="/old") == [[f"{NEW}:/old", "true"], ["/old", None]]


def test_second_install_changes_nothing_and_uninstall_restores_the_script(environment):
    before, mode = activate_script(environment), os.stat(f"{environment}/bin/activate").st_mode
    assert not install.installed(environment, "venv")
    assert install.uninstall(environment, "venv") == []
    assert install.install(WANTED, environment, "venv") == [os.path.realpath(f"{environment}/bin/activate")]
    assert install.installed(environment, "venv")
    first = activate_script(environment)
    assert install.install(WANTED, environment, "venv") == []
    assert activate_script(environment) == first
    install.install(WANTED[1:], environment, "venv")  # replaces the assignments
    assert "LD_LIBRARY_PATH" not in activate_script(environment)
    assert install.uninstall(environment, "venv") != []
    assert activate_script(environment) == before
    assert os.stat(f"{environment}/bin/activate").st_mode == mode
    assert not any(name.endswith(".part") for name in os.listdir(f"{environment}/bin"))


@pytest.mark.parametrize("text", ["", "\n", "echo no end", "a\r\nb\r\n", "deactivate () {\n:\n}", "caf\udce9\n"])
@pytest.mark.parametrize("after", ["", "echo added later\n"])
def test_uninstall_restores_any_script(environment, text, after):
    path = f"{environment}/bin/activate"
    data = text.encode("utf-8", "surrogateescape")
    with open(path, "wb") as file:
        file.write(data)
    install.install(WANTED, environment, "venv")
    with open(path, "ab") as file:
        file.write(after.encode())
    install.install(WANTED, environment, "venv")
    install.uninstall(environment, "venv")
    with open(path, "rb") as file:
        left = file.read()
    assert left == (data if not after else data + (b"" if data.endswith(b"\n") or not data else b"\n") + after.encode())


def test_conda_scripts_are_installed_and_removed(tmp_path):
    folder = tmp_path / "conda env"
    (folder / "etc/conda/activate.d").mkdir(parents=True)
    (folder / "etc/conda/activate.d/other.sh").write_text("")
    paths = install.install(WANTED, str(folder), "conda")
    assert paths == [f"{folder}/etc/conda/{when}.d/gpucheck-env.sh" for when in ("activate", "deactivate")]
    assert install.install(WANTED, str(folder), "conda") == []
    got = shell(f". '{paths[0]}'; . '{paths[0]}'; SHOW; . '{paths[1]}'; . '{paths[1]}'; SHOW", LD_LIBRARY_PATH="/old")
    assert got == [[f"{NEW}:/old", "true"], ["/old", None]]
    assert install.uninstall(str(folder), "conda") == paths
    assert os.listdir(folder / "etc/conda/activate.d") == ["other.sh"]
    assert os.listdir(folder / "etc/conda/deactivate.d") == []
    assert install.uninstall(str(folder), "conda") == []


def test_install_requires_an_environment(tmp_path):
    for kind in ("venv", None):
        with pytest.raises(install.NoEnvironment, match="not a virtual or conda environment"):
            install.install(WANTED, str(tmp_path), kind)


def test_linked_activate_script_stays_a_link(environment, tmp_path):
    shared = tmp_path / "shared"
    shutil.move(f"{environment}/bin/activate", shared)
    os.symlink(shared, f"{environment}/bin/activate")
    install.install(WANTED, environment, "venv")
    assert os.path.islink(f"{environment}/bin/activate")
    assert install.BEGIN in shared.read_text()


def test_job_specific_variables_are_not_saved():
    job = (
        assignment("CUDA_VISIBLE_DEVICES"),
        assignment("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
        assignment("CUDA_CACHE_DISABLE"),
        assignment("XLA_FLAGS", "x", True, apply=False),
    )
    assert install.persistent((*job, *WANTED)) == WANTED
