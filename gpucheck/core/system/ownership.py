"""Who can have written a file that nobody named: what was found by searching counts only if no other user can have.

Beside files: modules of the current folder, and programs that root would execute.
"""

import os
import stat

_NOBODY = 65534
_ALL_IDS = 2**32 - 1


def why_untrusted(path: str, also: int | None = None) -> str | None:
    """Why another user may have written a file; None if only this user and root can have.

    What counts is the file and its folder, and where the path is a link, also the file and the folder at its end.

    Args:
        path: a file that was found by searching, not named by the user.
        also: another user whose files count as well.

    Raises:
        OSError: it is absent, or can't be looked at.
    """
    if not hasattr(os, "geteuid"):
        return None
    for place in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        file, folder = os.lstat(place), os.stat(os.path.dirname(place))
        # The permission bits of a link mean nothing; in a folder with the sticky bit, as /tmp, nobody replaces another's file.
        reason = _why(file, "it", not stat.S_ISLNK(file.st_mode), also) or _why(
            folder, "its folder", not folder.st_mode & stat.S_ISVTX, also
        )
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

    A container without root privileges shows files of the host's root as nobody's: there nobody's programs are executed.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    try:
        for place in dict.fromkeys((os.path.abspath(program), os.path.realpath(program))):
            folder = os.stat(os.path.dirname(place))
            reason = _why_of_others(os.stat(place), "it") or _why_of_others(folder, "its folder")
            if reason is not None:
                return f"{reason}, and root executes nothing that others can have put there"
    except OSError:
        return None
    return None


def _why_of_others(status: os.stat_result, name: str) -> str | None:
    """As ``_why``, for programs of root: groups of administrators may write to folders of the system."""
    if status.st_uid != 0 and not (status.st_uid == _NOBODY and _leaves_ids_out()):
        return f"{name} belongs to user {status.st_uid}"
    return f"{name} can be written by every user" if status.st_mode & stat.S_IWOTH else None


def _leaves_ids_out() -> bool:
    """Whether this user namespace lacks some of the host's users, whose files it shows as nobody's (user_namespaces(7))."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return sum(int(line.split()[2]) for line in file) < _ALL_IDS
    except (OSError, ValueError, IndexError):  # a system without user namespaces
        return False


def _why(status: os.stat_result, name: str, permissions: bool, also: int | None = None) -> str | None:
    """Why others have a say in a file or folder: its owner, or, where they count, its permissions."""
    if status.st_uid not in (0, os.geteuid(), also):
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
