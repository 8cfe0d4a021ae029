"""Resolve the path of a file to write, and refuse links and files that another user planted.

In a folder with the sticky bit that every user can write to, such as /tmp, any user can create a link or file of the expected
name beforehand: a link redirects the write to one of the caller's files, and a file stays under its owner's control.
"""

import errno
import os
import stat

LINKS = 40  # maximum to follow, as on Linux


def destination(path: str) -> str:
    """Return the path with all links resolved; the file need not exist.

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
