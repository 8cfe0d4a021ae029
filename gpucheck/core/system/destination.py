"""Where a path leads that something is to be written to, if no other user has a say in that.

In a folder that every user can write to and that has the sticky bit, as /tmp, any user can make a link or a file of the expected
name beforehand: a link leads to a file of the caller's, and a file stays its maker's, who can change what was written.
"""

import errno
import os
import stat

LINKS = 40  # followed at most, as Linux does


def destination(path: str) -> str:
    """The path with every link resolved; what is at its end need not exist.

    As Linux does with fs.protected_symlinks and fs.protected_regular (proc_sys_fs(5)), which never see a link that was resolved
    here, and which are off on some systems.

    Args:
        path: as the user named it.

    Raises:
        PermissionError: a link on the way, or the file, was made by another user than this one and root, in such a folder.
        OSError: a folder on the way can't be looked at, or links lead in a circle.
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
    """Where a link leads; None for what is no link, or absent."""
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
