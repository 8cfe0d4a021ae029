"""TCP connections to other machines, each with one timeout for all its steps."""

import errno
import socket
import time

UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN}


def connect(address: str, port: int, timeout: float) -> str | None:
    """Open a connection and close it again; None on success. See ``Host.connect``."""
    opened = _open(address, port, timeout)
    if isinstance(opened, str):
        return opened
    opened.close()
    return None


def exchange(address: str, port: int, message: bytes, size: int, timeout: float) -> bytes | str:
    """Send a message and read the start of the answer. See ``Host.exchange``."""
    deadline = time.monotonic() + timeout
    opened = _open(address, port, timeout)
    if isinstance(opened, str):
        return opened
    received = b""
    with opened:
        try:
            opened.sendall(message)
            while len(received) < size:
                left = deadline - time.monotonic()
                if left <= 0:
                    return received or "silent"
                opened.settimeout(left)
                piece = opened.recv(size - len(received))
                if not piece:
                    break
                received += piece
        except TimeoutError:
            return received or "silent"
        except OSError:  # reset: nothing more will arrive
            pass
    return received


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
