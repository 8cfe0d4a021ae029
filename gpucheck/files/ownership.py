"""Who can have written a file that nobody named: what was found by searching counts only if no other user can have.

Beside files: modules of the current folder, and programs that root would execute.
"""

import os
import stat

_NOBODY = 65534


def why_untrusted(path: str) -> str | None:
    """Why another user may have written a file; None if only this user and root can have.

    What counts is the file and its folder, and where the path is a link, also the file and the folder at its end.

    Args:
        path: a file that was found by searching, not named by the user.

    Raises:
        OSError: it is absent, or can't be looked at.
    """
    if not hasattr(os, "geteuid"):
        return None
    for place in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        file, folder = os.lstat(place), os.stat(os.path.dirname(place))
        # The permission bits of a link mean nothing; in a folder with the sticky bit, as /tmp, nobody replaces another's file.
        reason = _why(file, "it", not stat.S_ISLNK(file.st_mode)) or _why(folder, "its folder", not folder.st_mode & stat.S_ISVTX)
        if reason is not None:
            return reason
    return None


def is_ours(folder: str) -> bool:
    """Whether only this user and root can put files into a folder; False where it can't be looked at."""
    try:
        return not hasattr(os, "geteuid") or _why(os.stat(folder), "it", True) is None
    except OSError:
        return False


def why_not_as_root(program: str) -> str | None:
    """Why root does not execute a program: another user can have written it. None for any other user, and for what is absent.

    A file of nobody's is one of the host's root, as a container without root privileges sees it.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    try:
        status = os.stat(program)
    except OSError:
        return None
    if status.st_uid not in (0, _NOBODY):
        return f"it belongs to user {status.st_uid}, and root executes nothing of other users"
    return "it can be written by every user, and root executes no such file" if status.st_mode & stat.S_IWOTH else None


def _why(status: os.stat_result, name: str, permissions: bool) -> str | None:
    """Why others have a say in a file or folder: its owner, or, where they count, its permissions."""
    if status.st_uid not in (0, os.geteuid()):
        return f"{name} belongs to user {status.st_uid}"
    if permissions and status.st_mode & stat.S_IWOTH:
        return f"{name} can be written by every user"
    if permissions and status.st_mode & stat.S_IWGRP and not _private(status):
        return f"{name} can be written by its group"
    return None


def _private(status: os.stat_result) -> bool:
    """Whether a group is the owner's alone: many systems give each user one with the user's name, and let it write by default."""
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return owner.pw_name == group.gr_name and set(group.gr_mem) <= {owner.pw_name}
