"""Files found by searching are used only if no other user could have written them."""

import os

import pytest

from gpucheck.core.system.ownership import is_ours, why_untrusted

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no file owners on this system")
OTHER = 12345


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    (folder / "file").write_text("")
    (folder / "file").chmod(0o644)
    return folder / "file"


def change(path, mode=None, owner=None, group=None):
    if (owner or group) is not None:
        if os.geteuid() != 0:
            pytest.skip("only root can give files away")
        os.lchown(path, OTHER if owner else -1, OTHER if group else -1)
    if mode is not None:
        os.chmod(path, mode)


def test_files_of_the_user_and_of_root_are_trusted(file):
    assert why_untrusted(str(file)) is None
    file.chmod(0o600)
    assert why_untrusted(str(file)) is None
    if os.path.exists("/etc/hostname"):
        assert why_untrusted("/etc/hostname") is None
    change(file.parent, 0o1777)  # as /tmp: others can't replace it
    assert why_untrusted(str(file)) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_files_of_root_are_trusted_by_other_users():
    os.seteuid(OTHER)
    try:
        assert why_untrusted("/etc/passwd") is None
    finally:
        os.seteuid(0)


CASES = {
    "owner": ("file", {"owner": True}, "it belongs to user 12345"),
    "every user": ("file", {"mode": 0o646}, "it can be written by every user"),
    "group": ("file", {"group": True, "mode": 0o664}, "it can be written by its group"),
    "owner of the folder": ("folder", {"owner": True}, "its folder belongs to user 12345"),
    "folder": ("folder", {"mode": 0o757}, "its folder can be written by every user"),
    "group of the folder": ("folder", {"group": True, "mode": 0o775}, "its folder can be written by its group"),
}


@pytest.mark.parametrize(("place", "changes", "reason"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("link", [False, True])
def test_files_writable_by_others_are_untrusted(file, tmp_path, place, changes, reason, link):
    path = file
    if link:
        path = tmp_path / "link"
        path.symlink_to(file)
    change(file if place == "file" else file.parent, **changes)
    assert why_untrusted(str(path)) == reason


def test_link_of_another_user_is_untrusted(file, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(file)
    change(link, owner=True)
    assert why_untrusted(str(link)) == "it belongs to user 12345"


def test_file_writable_by_the_private_group_of_the_user_is_trusted(file):
    import grp
    import pwd

    user = pwd.getpwuid(os.geteuid())
    group = grp.getgrgid(user.pw_gid)
    if user.pw_name != group.gr_name or group.gr_mem:
        pytest.skip("this user has no group of its own")
    os.chown(file, -1, group.gr_gid)
    file.chmod(0o664)
    assert why_untrusted(str(file)) is None


@pytest.mark.parametrize(("mode", "ours"), [(0o700, True), (0o755, True), (0o777, False), (0o1777, False)])
def test_folder_writable_by_others_is_not_ours(tmp_path, mode, ours):
    tmp_path.chmod(mode)
    assert is_ours(str(tmp_path)) is ours
    assert not is_ours(str(tmp_path / "absent"))
