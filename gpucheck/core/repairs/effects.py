"""The changes that a repair's command makes, and how to undo them, read from the command itself."""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from gpucheck.core.model import Change, Fix

Installed = Mapping[str, str]  # the version of each installed package that is known, by name
_NEW_SHELL = "open a new shell"  # a variable affects only the shell that sets it


class _Effect(msgspec.Struct, frozen=True):
    """What commands of one form change."""

    form: str  # a pattern of the whole command; compiled only if a report has a repair
    change: Change
    undo: Callable[[re.Match[str], Installed], str | None]  # "": nothing is left to undo; None: unknown, or impossible


def _effect(form: str, change: Change, undo: str | None = None) -> _Effect:
    """Describe commands of that form; ``undo`` refers to the form's groups."""
    return _Effect(form, change, lambda match, installed: None if undo is None else match.expand(undo))


def _reinstall(match: re.Match[str], installed: Installed) -> str | None:
    """Return the command that installs the present versions of the packages that pip replaces or removes."""
    arguments = re.sub(r"(?<!\S)--?[\w-]+(?: https?://\S+)?", "", match[2])
    names = [name.lower() for name in re.findall(r"""(?:^|\s)["']?([A-Za-z][\w.-]*)""", arguments)]
    known = bool(names) and all(name in installed for name in names)
    return f"{match[1]} install {' '.join(f'{name}=={installed[name]}' for name in names)}" if known else None


# The first form that matches counts.
_EFFECTS = (
    _effect(r"(?:export|unset) .+|set \w+=.*", "environment variables", _NEW_SHELL),
    _effect(r"%env \w+=.*|os\.environ\.pop.+", "environment variables", "restart the session"),
    _effect(r"ulimit .+", "limits", _NEW_SHELL),
    _effect(r"(?:uv venv(?: --python \S+)?|\S+(?: -3[\d.]*)? -m venv) (\S+)", "new environment", r"rm -r \1"),
    _effect(r"conda create .*-n (\S+).*", "new environment", r"conda env remove -n \1"),
    _effect(r"\S+-env[/\\](?:bin|Scripts)[/\\]python -m pip install .+", "new environment", ""),
    _effect(r"uv pip install --python \S+-env .+|conda run -n .+", "new environment", ""),
    _Effect(r"(.+ -m pip|%pip|pip3?|uv pip) (?:un)?install (.+)", "packages", _reinstall),
    _effect(r"(?:conda|mamba|poetry) .+|\S+ -m ensurepip .*", "packages"),
    _effect(r"mv (\S+) (\S+)", "files", r"mv \2 \1"),
    _effect(r"rm .+", "files"),
    _effect(r"sudo (apt-get|dnf) install (?:-y )?(\S+)", "system packages", r"sudo \1 remove \2"),
    _effect(r"sudo (?:apt-get|dnf|ubuntu-drivers|dkms|dpkg|update-initramfs|ldconfig)\b.*", "system packages"),
    _effect(r"sudo systemctl enable --now (\S+)", "services", r"sudo systemctl disable --now \1"),
    _effect(r"sudo systemctl .+", "services"),
    _effect(r"sudo modprobe (\w+)", "kernel modules", r"sudo modprobe -r \1"),
    _effect(r"sudo (?:modprobe|rmmod|nvidia-modprobe) .+", "kernel modules"),
    _effect(r"sudo usermod -aG (\S+) (\S+)", "system settings", r"sudo gpasswd -d \2 \1"),
    _effect(r"(?:sudo )?nvidia-smi .*(?:--gpu-reset|-r\b|-mig|-c |-pm|-pl|-cgi).*", "GPU"),
    _effect(r"(?:sudo )?kill .+|scancel .+", "processes"),
    _effect(r"sudo reboot|wsl(?:\.exe)? --shutdown", "machine"),
    _effect(r"wsl(?:\.exe)? .+|sudo .+", "system settings"),
)


def described(fix: Fix, installed: Installed) -> Fix:
    """Return a repair with what its command changes and how to undo it, as far as the command shows it.

    Args:
        fix: its own declarations are kept.
        installed: the versions of installed packages by name, for the command that restores them.
    """
    if fix.kind != "repair" or fix.command is None:
        return fix
    effects = list(_effects(fix.command))
    changes = tuple(dict.fromkeys(effect.change for effect, _ in effects))
    steps = [effect.undo(match, installed) for effect, match in reversed(effects)]
    undo = None if None in steps else "; then ".join(dict.fromkeys(filter(None, steps))) or None
    return replace(fix, changes=fix.changes or changes, undo=fix.undo or undo)


def _effects(command: str) -> Iterator[tuple[_Effect, re.Match[str]]]:
    """Yield the effect of each part of a command that has one."""
    for part in re.split(r" && |; | \| ", command):
        matches = ((effect, re.fullmatch(effect.form, part.strip())) for effect in _EFFECTS)
        if (found := next(((effect, match) for effect, match in matches if match), None)) is not None:
            yield found
