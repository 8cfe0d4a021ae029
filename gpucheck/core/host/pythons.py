"""Where a shell finds Python interpreters, and the version in their file names."""

import re

from gpucheck.core.host import Host

_NAME = r"python(?:3(?:\.(\d+))?)?(?:\.exe)?"


def path_folders(host: Host) -> list[str]:
    """The folders on PATH, in order."""
    return [folder for folder in host.env.get("PATH", "").split(";" if host.platform == "win32" else ":") if folder]


def is_shims(folder: str) -> bool:
    """Whether it holds pyenv's shims: each asks pyenv which of its versions to start."""
    return folder.rstrip("/").endswith("/shims")


def minor(name: str) -> str | None:
    """The version in an interpreter's file name: "3.12"; "" for python and python3; None for any other file."""
    match = re.fullmatch(_NAME, name)
    return None if match is None else f"3.{match[1]}" if match[1] else ""
