"""In a folder with the sticky bit, such as /tmp, nothing is written through links or into files of another user."""

import os

import pytest
from command import gpucheck

from gpucheck.core.system.write import OutputFile

OTHER = 65534
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root: files are given away")


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    target = tmp_path / "target"
    target.mkdir()
    (target / "report.json").write_text("of root")
    return folder


def link_to(target):
    return lambda path: path.symlink_to(target)


def empty_file(path):
    path.touch(0o666)


MADE = {
    "a link to a file": (link_to("../target/report.json"), "report.json"),
    "a link to nothing": (link_to("../target/new"), "report.json"),
    "a link to a link": (link_to("../target/own"), "report.json"),
    "a link to a folder": (link_to("../target"), "report.json/new"),
    "a link to a descriptor": (link_to("/dev/stdout"), "report.json"),
    "a file": (empty_file, "report.json"),
    "a pipe": (os.mkfifo, "report.json"),
}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("make", "path"), MADE.values(), ids=MADE)
def test_files_of_another_user_are_refused(shared, make, path, in_place):
    (shared.parent / "target/own").symlink_to("new")
    make(shared / "report.json")
    os.lchown(shared / "report.json", OTHER, OTHER)
    with pytest.raises(PermissionError, match=f"report.json belongs to user {OTHER}, in a folder that other users can write to"):
        OutputFile(str(shared / path), in_place)
    assert (shared.parent / "target/report.json").read_text() == "of root"
    assert sorted(os.listdir(shared.parent / "target")) == ["own", "report.json"]


def test_command_refuses_a_link_of_another_user_in_one_line(shared):
    (shared / "report.json").symlink_to("../target/report.json")
    os.lchown(shared / "report.json", OTHER, OTHER)
    done = gpucheck("--quick", "--output", "report.json", cwd=shared)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = (line for line in done.stderr.splitlines() if "report.json belongs to" in line)
    assert line.startswith("Error: cannot write report.json: ")


def test_file_created_by_another_user_before_commit_is_refused(shared):
    file = OutputFile(str(shared / "report.json"))
    empty_file(shared / "report.json")
    os.chown(shared / "report.json", OTHER, OTHER)
    with pytest.raises(PermissionError):
        file.commit("ours")
    assert (shared / "report.json").read_text() == ""


def test_link_created_by_another_user_before_commit_is_refused(shared):
    file = OutputFile(str(shared / "report.json"))
    (shared / "report.json").symlink_to("../target/report.json")
    os.lchown(shared / "report.json", OTHER, OTHER)
    with pytest.raises(PermissionError):
        file.commit("ours")
    assert (shared.parent / "target/report.json").read_text() == "of root"


def test_files_and_links_of_the_user_are_written(shared):
    (shared / "link").symlink_to("../target/report.json")
    empty_file(shared / "file")
    for name in ("link", "file", "new"):
        OutputFile(str(shared / name)).commit("whole")
    assert (shared.parent / "target/report.json").read_text() == (shared / "file").read_text() == "whole"


def test_link_of_another_user_in_a_private_folder_is_followed(shared):
    """As in the kernel: only users with write access to the folder could have created it."""
    link = shared.parent / "target/link"
    link.symlink_to("report.json")
    os.lchown(link, OTHER, OTHER)
    OutputFile(str(link)).commit("whole")
    assert (shared.parent / "target/report.json").read_text() == "whole"
