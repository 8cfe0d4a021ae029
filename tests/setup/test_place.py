"""The folder that the printed commands create is new and can be written to."""

import os

import pytest
from fakes import FakeHost

from gpucheck.commands.setup import here, place
from gpucheck.core.host import Disk
from gpucheck.core.model import Request
from gpucheck.core.solver.machine import Machine, Python, Wishes
from gpucheck.core.solver.solve import solve

HOME = {"HOME": "/home/user"}


def chosen(*, env=HOME, **fields):
    return place.choose(FakeHost(env=env, **{"folders": ("/home/user", os.getcwd()), **fields}))


def test_a_folder_that_exists_is_never_filled():
    assert chosen(disks={"/home/user": Disk(total_bytes=9, free_bytes=5)}) == ("~/tensorflow-env", None, 5)
    found = chosen(folders=("/home/user/tensorflow-env/lib", "/home/user/tensorflow-env-2"))
    assert found[:2] == ("~/tensorflow-env-3", "~/tensorflow-env exists already, and is not changed")
    assert chosen(folders=("/home/user",), links={"/home/user/tensorflow-env": "/nowhere"}).folder == "~/tensorflow-env-2"


@pytest.mark.parametrize("fields", [{"unwritable": ("/home/user",)}, {"env": {}}, {"env": {"HOME": "/missing"}}])
def test_without_a_home_folder_it_is_in_the_current_one(fields):
    assert chosen(**fields)[:2] == (
        f"{os.getcwd()}/tensorflow-env",
        f"the folder is in {os.getcwd()}: there is no home folder that can be written to",
    )


def test_an_unwritable_folder_is_reported():
    assert "cannot be written to: name another folder" in chosen(unwritable=("/home/user", os.getcwd())).remark


@pytest.mark.parametrize(
    ("user", "os_name", "python", "command"),
    [
        (1000, "Debian GNU/Linux 12", Python(version="3.12.3", executable="python3.12", has_venv=False), "sudo apt install"),
        (0, "Ubuntu 24.04", Python(version="3.12.3", executable="python3.12", has_venv=False), "apt install python3.12-venv"),
        (0, "Fedora Linux 43", Python(version="3.12.3", executable="python3.12", has_venv=False), None),
        (1000, "Ubuntu 24.04", Python(version="3.6.3", executable="python3.6"), "curl -LsSf https://astral.sh/uv/install.sh"),
        (1000, "Ubuntu 24.04", Python(version="3.12.3", executable="python3.12"), None),
    ],
)
def test_prerequisites_come_before_the_commands(user, os_name, python, command):
    machine = Machine(os_name=os_name, pythons=(python,), uv=False)
    seen = here.look(FakeHost(user=user, request=Request()), solve(machine), Wishes(), None, (), None)
    assert [line[: len(command or "")] for line in seen.before] == ([command] if command else [])
