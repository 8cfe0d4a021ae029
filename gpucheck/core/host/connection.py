"""TCP connections to other machines, each under one limit for all of it."""

import errno
import socket
import time

UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN}


def connect(address: str, port: int, timeout: float) -> str | None:
    """Open a connection and close it again; None if it stood. See ``Host.connect``."""
    opened = _open(address, port, timeout)
    if isinstance(opened, str):
        return opened
    opened.close()
    return None


def exchange(address: str, port: int, message: bytes, size: int, timeout: float) -> bytes | str:
    """Send a message and read the beginning of the answer. See ``Host.exchange``."""
    deadline = time.monotonic() + timeout
    opened = _open(address, port, timeout)
    if isinstance(opened, str):
        return opened
    got = b""
    with opened:
        try:
            opened.sendall(message)
            while len(got) < size:
                left = deadline - time.monotonic()
                if left <= 0:
                    return got or "silent"
                opened.settimeout(left)
                piece = opened.recv(size - len(got))
                if not piece:
                    break
                got += piece
        except TimeoutError:
            return got or "silent"
        except OSError:  # reset: what came before is all that comes
            pass
    return got


def _open(address: str, port: int, timeout: float) -> socket.socket | str:
    try:
        return socket.create_connection((address, port), timeout=timeout)
    except ConnectionRefusedError:
        return "refused"
    except TimeoutError:
        return "timed out"
    except (socket.gaierror, UnicodeError):
        return "no such name"
    except OSError as error:
        return "unreachable" if error.errno in UNREACHABLE else error.strerror or type(error).__name__
