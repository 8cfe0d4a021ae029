"""Check that no other user could have written a file that was found by searching, not named by the user.

Also for modules in the current folder, for programs that root would execute, and for files to write: in a folder with the sticky
bit that every user can write to, such as /tmp, any user can create a link or file of the expected name beforehand. A link
redirects the write to one of the caller's files, and a file stays under its owner's control.
"""

import errno
import os
import stat

_OVERFLOW_UID = 65534
_ALL_IDS = 2**32 - 1
LINKS = 40  # maximum to follow, as on Linux


def why_untrusted(path: str, also: int | None = None) -> str | None:
    """Return why another user may have written a file; None if only this user and root could have.

    Checks the file and its folder, and for a link also the target and the target's folder.

    Args:
        path: a file that was found by searching.
        also: another user to trust.

    Raises:
        OSError: it is missing or can't be read.
    """
    if not hasattr(os, "geteuid"):
        return None
    for place in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        file, folder = os.lstat(place), os.stat(os.path.dirname(place))
        # A link's permission bits mean nothing; in a folder with the sticky bit, as /tmp, users can't replace others' files.
        reason = _why(file, "it", not stat.S_ISLNK(file.st_mode), also) or _why(
            folder, "its folder", not folder.st_mode & stat.S_ISVTX, also
        )
        if reason is not None:
            return reason
    return None


def is_ours(folder: str) -> bool:
    """Whether only this user and root can write to a folder; False if it can't be read."""
    try:
        return not hasattr(os, "geteuid") or _why(os.stat(folder), "it", True) is None
    except OSError:
        return False


def of_another_user(path: str) -> bool:
    """Whether a file belongs to another user, for root too. Raises OSError."""
    return hasattr(os, "geteuid") and os.lstat(path).st_uid != os.geteuid()


def why_not_as_root(program: str) -> str | None:
    """Return why root must not execute a program: another user may have written it. None for other users or a missing file.

    A rootless container shows files of the host's root as owned by nobody (65534): there, programs of nobody are trusted.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    try:
        for place in dict.fromkeys((os.path.abspath(program), os.path.realpath(program))):
            folder = os.stat(os.path.dirname(place))
            reason = _why_untrusted_program(os.stat(place), "it") or _why_untrusted_program(folder, "its folder")
            if reason is not None:
                return f"{reason}, and root executes nothing that others may have put there"
    except OSError:
        return None
    return None


def _why_untrusted_program(status: os.stat_result, name: str) -> str | None:
    """Like ``_why``, for programs that root executes: groups of administrators may write to system folders."""
    if status.st_uid != 0 and not (status.st_uid == _OVERFLOW_UID and _maps_only_some_users()):
        return f"{name} belongs to user {status.st_uid}"
    return f"{name} can be written by every user" if status.st_mode & stat.S_IWOTH else None


def _maps_only_some_users() -> bool:
    """Whether this user namespace maps only some users; files of the others appear as nobody's (user_namespaces(7))."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return sum(int(line.split()[2]) for line in file) < _ALL_IDS
    except (OSError, ValueError, IndexError):  # a system without user namespaces
        return False


def _why(status: os.stat_result, name: str, permissions: bool, also: int | None = None) -> str | None:
    """Return why others can change a file or folder: its owner or, if ``permissions`` count, its mode."""
    if status.st_uid not in (0, os.geteuid(), also):
        return f"{name} belongs to user {status.st_uid}"
    if permissions and status.st_mode & stat.S_IWOTH:
        return f"{name} can be written by every user"
    if permissions and status.st_mode & stat.S_IWGRP and not _private(status):
        return f"{name} can be written by its group"
    return None


def _private(status: os.stat_result) -> bool:
    """Whether the owner is the only member of the group: many systems create one per user, writable by default."""
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return owner.pw_name == group.gr_name and set(group.gr_mem) <= {owner.pw_name}


def destination(path: str) -> str:
    """Return the path of a file to write with all links resolved; the file need not exist.

    The check is that of fs.protected_symlinks and fs.protected_regular (proc_sys_fs(5)), which are off on some systems, and
    which do not see the links that are resolved here.

    Args:
        path: as the user named it.

    Raises:
        PermissionError: a link in the path, or the file, belongs to a user other than this one and root, in such a folder.
        OSError: a folder in the path can't be read, or links form a loop.
    """
    if not hasattr(os, "geteuid"):
        return os.path.realpath(path)
    place = "/" if path.startswith("/") else os.getcwd()
    left = path.split("/")[::-1]
    links = 0
    while left:
        name = left.pop()
        if name == "..":
            place = os.path.dirname(place)
        elif name not in ("", "."):
            target = _target(place, name)
            if target is None:
                place = os.path.join(place, name)
                continue
            links += 1
            if links > LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            place = "/" if target.startswith("/") else place
            left += target.split("/")[::-1]
    return place


def _target(folder: str, name: str) -> str | None:
    """Return the target of a link; None if the file is not a link or is missing."""
    entry = os.path.join(folder, name)
    try:
        status = os.lstat(entry)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        return None
    mode = os.stat(folder).st_mode
    if status.st_uid not in (0, os.geteuid()) and mode & stat.S_ISVTX and mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = f"{entry} belongs to user {status.st_uid}, in a folder that other users can write to"
        raise PermissionError(errno.EACCES, reason, entry)
    return os.readlink(entry) if stat.S_ISLNK(status.st_mode) else None
