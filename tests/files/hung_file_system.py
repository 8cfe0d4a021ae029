"""A file system of which only the root answers, for tests: python hung_file_system.py FOLDER. Stopped, nothing in it answers."""

import errno
import os
import stat
import sys

import fuse


class Silent(fuse.Operations):
    """An empty folder."""

    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2, "st_uid": os.getuid(), "st_gid": os.getgid()}
        raise fuse.FuseOSError(errno.ENOENT)


fuse.FUSE(Silent(), sys.argv[1], foreground=True)
