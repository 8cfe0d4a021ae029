"""A file system in which only the root responds: python hung_file_system.py FOLDER. While the process is stopped, nothing does."""

import contextlib
import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import time


@contextlib.contextmanager
def mounted(folder):
    """Return a hung folder and None, or None and why it can't be created."""
    try:
        import fuse  # noqa: F401
    except (ImportError, OSError) as error:
        yield None, f"no FUSE for Python ({error}): pip install fusepy, and apt-get install fuse3 libfuse2"
        return
    unmount = shutil.which("fusermount3") or shutil.which("fusermount")
    if unmount is None or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        yield None, "no fusermount (apt-get install fuse3), or no /dev/fuse (docker run --device /dev/fuse --cap-add SYS_ADMIN)"
        return
    server = subprocess.Popen([sys.executable, __file__, str(folder)])
    try:
        deadline = time.monotonic() + 20
        while not os.path.ismount(folder) and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if not os.path.ismount(folder):
            yield None, "FUSE can't mount here"
            return
        os.kill(server.pid, signal.SIGSTOP)
        yield str(folder), None
    finally:
        with contextlib.suppress(OSError):
            server.kill()
        server.wait()
        subprocess.run([unmount, "-u", "-z", str(folder)], capture_output=True)


def serve(folder):
    """Respond only for the root, which is empty."""
    import fuse

    class Silent(fuse.Operations):
        """An empty folder."""

        def getattr(self, path, fh=None):
            if path == "/":
                return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2, "st_uid": os.getuid(), "st_gid": os.getgid()}
            raise fuse.FuseOSError(errno.ENOENT)

    fuse.FUSE(Silent(), folder, foreground=True)


if __name__ == "__main__":
    serve(sys.argv[1])
