"""The choice of a diagnosis's repairs that can work on this machine, with what their commands change and how to undo it.

Live checks and logs both use it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from gpucheck.core.model import Change, Fix, repairs_first
from gpucheck.core.repairs.context import Context

_EXPORT = r"export (\w+)=(\S+)"
_UNSET = r"unset (\w+)"
_FOR_ONE = r"(\w+=\S*) (\S.*)"  # a variable for one command
_POSIX = (
    r"\bexport |\bunset |/bin/|~/|\$\(|\$\{|\bgrep\b|\bldconfig\b|\bls |\brm |\bmv |\bmkdir |\bdf |\bLD_LIBRARY_PATH|/dev/|/proc/"
)
# A command in a shell -> in a notebook's cell; None: it affects only the shell that runs it.
_IN_CELLS = (
    (r"%pip (.+) && %pip (.+)", r"!pip \1 && pip \2"),  # a magic takes the whole line
    (_EXPORT, r"%env \1=\2"),
    (_UNSET, r'import os; os.environ.pop("\1", None)'),
    (r"(?:export|ulimit) .*", None),
    (r"[^%].*", r"!\g<0>"),
)
# A command in a shell -> at a Windows prompt; None: it only works on Linux.
_ON_WINDOWS = (
    (_EXPORT, r"set \1=\2"),
    (_UNSET, r"set \1="),
    (rf".*(?:{_POSIX}).*", None),
    (_FOR_ONE, r'set "\1" && \2'),
)
_IN_POWERSHELL = (
    (r"(?:export|set) (\w+)=(\S+)", r'$env:\1 = "\2"'),
    (r"unset (\w+)|set (\w+)=", r"Remove-Item Env:\1\2"),
    *_ON_WINDOWS[2:3],
    (_FOR_ONE, r'$env:\1 = "\2"; \3'),
)
Installed = Mapping[str, str]  # the version of each installed package that is known, by name
_NEW_SHELL = "open a new shell"  # a variable affects only the shell that sets it


def _reinstall(match: re.Match[str], installed: Installed) -> str | None:
    """Return the command that installs the current versions of the packages that pip replaces or removes."""
    arguments = re.sub(r"(?<!\S)--?[\w-]+(?: https?://\S+)?", "", match[2])
    names = [name.lower() for name in re.findall(r"""(?:^|\s)["']?([A-Za-z][\w.-]*)""", arguments)]
    known = bool(names) and all(name in installed for name in names)
    return f"{match[1]} install {' '.join(f'{name}=={installed[name]}' for name in names)}" if known else None


Undo = str | Callable[[re.Match[str], Installed], str | None] | None
# What commands of one form change: the form of the whole command, the change, and how to undo it, with the form's groups ("":
# nothing is left to undo; None: unknown, or impossible). The first matching form applies; compiled only for a repair.
_EFFECTS: tuple[tuple[str, Change, Undo], ...] = (
    (r"(?:export|unset) .+|set \w+=.*", "environment variables", _NEW_SHELL),
    (r"%env \w+=.*|os\.environ\.pop.+", "environment variables", "restart the session"),
    (r"ulimit .+", "limits", _NEW_SHELL),
    (r"(?:uv venv(?: --python \S+)?|\S+(?: -3[\d.]*)? -m venv) (\S+)", "new environment", r"rm -r \1"),
    (r"conda create .*-n (\S+).*", "new environment", r"conda env remove -n \1"),
    (r"\S+-env[/\\](?:bin|Scripts)[/\\]python -m pip install .+", "new environment", ""),
    (r"uv pip install --python \S+-env .+|conda run -n .+", "new environment", ""),
    (r"(.+ -m pip|%pip|pip3?|uv pip) (?:un)?install (.+)", "packages", _reinstall),
    (r"(?:conda|mamba|poetry) .+|\S+ -m ensurepip .*", "packages", None),
    (r"mv (\S+) (\S+)", "files", r"mv \2 \1"),
    (r"rm .+", "files", None),
    (r"sudo (apt-get|dnf) install (?:-y )?(\S+)", "system packages", r"sudo \1 remove \2"),
    (r"sudo (?:apt-get|dnf|ubuntu-drivers|dkms|dpkg|update-initramfs|ldconfig)\b.*", "system packages", None),
    (r"sudo systemctl enable --now (\S+)", "services", r"sudo systemctl disable --now \1"),
    (r"sudo systemctl .+", "services", None),
    (r"sudo modprobe (\w+)", "kernel modules", r"sudo modprobe -r \1"),
    (r"sudo (?:modprobe|rmmod|nvidia-modprobe) .+", "kernel modules", None),
    (r"sudo usermod -aG (\S+) (\S+)", "system settings", r"sudo gpasswd -d \2 \1"),
    (r"(?:sudo )?nvidia-smi .*(?:--gpu-reset|-r\b|-mig|-c |-pm|-pl|-cgi).*", "GPU", None),
    (r"(?:sudo )?kill .+|scancel .+", "processes", None),
    (r"sudo reboot|wsl(?:\.exe)? --shutdown", "machine", None),
    (r"wsl(?:\.exe)? .+|sudo .+", "system settings", None),
)


def choose(fixes: Iterable[Fix], context: Context) -> tuple[Fix, ...]:
    """Return the fixes that can be applied there, each once: repairs before commands that only show more.

    Args:
        fixes: the diagnosis's fixes, best first.
        context: the machine that they are for.
    """
    parts = [part for fix in fixes for part in (_cells(fix) if context.notebook else [fix])]
    chosen = dict.fromkeys(fix for part in parts if (fix := _adapted(part, context)) is not None)
    new = [fix for fix in chosen if fix.command is None or _words(fix.command) not in {_words(line) for line in context.tried}]
    return repairs_first(described(fix, context.installed) for fix in new or chosen)


def _adapted(fix: Fix, context: Context) -> Fix | None:
    if "sudo" in fix.needs:
        if context.windows or context.notebook:
            return None  # a command for Linux, and for an administrator
        if context.in_container and fix.command is not None:
            return fix.after("On the host:")
        if context.scheduler and fix.command is not None:
            return fix.after("As the cluster's administrator:")
    if context.notebook:
        return _translated(fix, _IN_CELLS)
    if context.windows and context.powershell and fix.command is not None and " && " in fix.command:
        steps = [_translated(replace(fix, command=step), _IN_POWERSHELL) for step in fix.command.split(" && ")]
        whole = "; ".join(step.command or "" for step in steps if step is not None)  # Windows PowerShell 5.1 has no &&
        return None if None in steps else replace(fix, command=whole)
    return _translated(fix, _IN_POWERSHELL if context.powershell else _ON_WINDOWS) if context.windows else fix


def _cells(fix: Fix) -> list[Fix]:
    """Return the fixes for a notebook: a variable that a command sets at its end is set in another cell."""
    match = re.fullmatch(r"(.+) && export (\w+)=([\w.-]+)", fix.command or "")
    if match is None:
        return [fix]
    text = f"Then set {match[2]}={match[3]} before the framework is imported"
    return [replace(fix, command=match[1]), Fix(text=text, command=f"export {match[2]}={match[3]}")]


def _translated(fix: Fix, forms: Iterable[tuple[str, str | None]]) -> Fix | None:
    """Return the fix with its command in the first form that matches; None if it is impossible there."""
    for form, translation in forms:
        if fix.command is not None and (match := re.fullmatch(form, fix.command)):
            return None if translation is None else replace(fix, command=match.expand(translation))
    return fix


def _words(command: str) -> tuple[str, ...]:
    """Return the words of a command that determine what it does."""
    command = re.sub(r"\bpython3?(?:\.\d+)? -m pip\b|%pip\b|\bpip3\b", "pip", command.removeprefix("sudo "))
    return tuple(word.strip("\"'") for word in command.split() if word not in ("-q", "--upgrade", "-U", "--quiet"))


def described(fix: Fix, installed: Installed) -> Fix:
    """Return a repair with what its command changes and how to undo it, if the command shows that.

    Args:
        fix: its own declarations are kept.
        installed: the versions of installed packages by name, for the command that restores them.
    """
    if fix.kind != "repair" or fix.command is None:
        return fix
    effects = list(_effects(fix.command, installed))
    changes = tuple(dict.fromkeys(change for change, _ in effects))
    steps = [undo for _, undo in reversed(effects)]
    undo = None if None in steps else "; then ".join(dict.fromkeys(filter(None, steps))) or None
    return replace(fix, changes=fix.changes or changes, undo=fix.undo or undo)


def _effects(command: str, installed: Installed) -> Iterator[tuple[Change, str | None]]:
    """Yield what each part of a command changes and how to undo it, if it changes anything."""
    for part in re.split(r" && |; | \| ", command):
        for form, change, undo in _EFFECTS:
            if (match := re.fullmatch(form, part.strip())) is not None:
                yield change, undo(match, installed) if callable(undo) else undo and match.expand(undo)
                break
