"""The NVIDIA driver's messages in the kernel log since it was loaded: Xid messages, and other errors.

A finding from this log drains a node, so only lines that no user can forge are used. dmesg and `journalctl -k` show only the
kernel's messages (journald sets _TRANSPORT=kernel itself). The files of the syslog daemon are not read: rsyslogd accepts
facility kern and program "kernel" from every user, so a forged line in messages, syslog or kern.log looks like the kernel's. A
kernel message may also quote a user's text over several lines, so a line is used only if it begins with the driver's mark.

Sources: NVIDIA's Xid documentation (form of the lines; leptonai/gpud's test data for "Xid (0000:03:00)"), dmesg(1),
journalctl(1), systemd.journal-fields(7), and the sysctl kernel.dmesg_restrict. WSL2's kernel writes none of these lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec

from gpucheck.core.host import Completed, Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe

START_ONLY = "/var/log/dmesg"  # a copy that some distributions make once, at the end of the boot
START_BYTES = 4 << 20
START_SECONDS = 1.0  # after the boot; the first message is later only if earlier ones are lost
LIMIT_SECONDS = 3.0
LOG_BYTES = 32 << 20  # the kernel allows a ring buffer of this size
_CUT = f"it is longer than {LOG_BYTES >> 20} MiB, and its middle was not kept"
JOURNAL = ["journalctl", "-k", "-b", "-n", "50000", "--no-pager", "-q", "-o", "short-iso"]  # the newest lines
KEPT = 50
KEPT_PER_KIND = 3  # kept with the same code from the same GPU
LINE = 300  # characters of a line that are kept

# Patterns are compiled on demand: most machines have no line that needs them.
_MARKS = ("NVRM: ", "nvidia-nvswitch")
_MARK = r"NVRM: |nvidia-nvswitch\d{1,3}: SXid "
_OF_DEVICE = r"\((?:PCI:)?([0-9a-fA-F]{1,8}(?::[0-9a-fA-F]{1,4}){1,2}(?:\.\d)?)[^)]*\): (\d+)"
_XID = rf"NVRM: Xid {_OF_DEVICE}"
_SXID = rf"nvidia-nvswitch\d+: SXid {_OF_DEVICE}, (?!Data\b)(Fatal|Severity 1\b)?"  # "Data" repeats the line before it
_LOADED = "NVRM: loading NVIDIA"  # earlier messages are from a previous load of the module
_ERROR = r"(?i)fail|error|fatal|fallen off|not supported|mismatch|timeout|timed out|needs to be reset|has been reset|unable|can't"
_ISO = r"(?P<day>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?P<zone>[+-]\d\d:?\d\d)"
_UPTIME = r"\[ *(?P<uptime>\d{1,9}\.\d{1,9})\](?: ?\[ *[CT]\d+\])?"  # and, with CONFIG_PRINTK_CALLER, the thread or processor
_DATE = r"\[(?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\]"  # dmesg -T
_WHEN = rf"{_ISO}|{_UPTIME}|{_DATE}"
_FACILITY = r"<[0-7]>|kern *:\w+ *: "  # dmesg -r, dmesg -x; those of programs differ in number and name
_BEGINNING = rf"(?:{_ISO} \S+ kernel: |(?:{_FACILITY})?(?:{_UPTIME}|{_DATE}) (?:kernel: )?)(?={_MARK})"


class XidEvent(Fact, frozen=True, kw_only=True):
    """One Xid message."""

    code: int
    device: str | None = None  # "0000:3b:00.0", as in gpus; the line names no function
    time: str | None = None  # RFC 3339, UTC; None if the line has no time
    text: str = ""


class SxidEvent(Fact, frozen=True, kw_only=True):
    """One message of an NVSwitch's driver."""

    code: int
    device: str | None = None  # of the switch: "0000:05:00.0"
    fatal: bool = False  # the links that it names are down until a reset
    time: str | None = None  # as of an Xid message
    text: str = ""


class KernelLog(Fact, frozen=True, kw_only=True):
    """The lines since the last boot and the last load of the driver's module."""

    readable: bool
    source: str | None = None  # the file or the program that it was read from
    problem: str | None = None  # why it can't be read, or what is missing from it
    complete: bool = True  # False: recent lines are missing, because a program hung or failed, or only a copy was found
    events: tuple[XidEvent, ...] = ()  # the latest 50, three of a kind
    sxids: tuple[SxidEvent, ...] = ()  # those of NVSwitches, with the same limits
    nvrm: tuple[str, ...] = ()  # errors of the driver without an Xid, with the same limits

    @property
    def unread(self) -> str | None:
        """Why recent messages may be missing; None if only the oldest may."""
        return None if self.readable and self.complete else self.problem


Item = TypeVar("Item")


class _Source(msgspec.Struct, frozen=True):
    name: str
    lines: list[str]  # split at line feeds only: splitlines would also split where a user wrote U+2028
    problem: str | None = None
    complete: bool = True  # as in the fact


@probe(level=Level.NODE)
def read(host: Host) -> KernelLog:
    """Run dmesg and journalctl, except with --quick; else read the copy from the boot, if there is one."""
    if host.platform != "linux":
        return KernelLog(readable=False, problem="not a Linux kernel")
    problems: list[str] = []
    if host.request.level is Level.QUICK:
        problems.append("dmesg and the journal are not read with --quick, and any user can write to the files of syslog")
        source = None
    else:
        source = _programs(host, problems)
    source = source or _start_only(host)
    if source is None:
        return KernelLog(readable=False, problem="; ".join(problems))
    return _parse(source, _boot(host))


def _boot(host: Host) -> float | None:
    """Return the time when this machine booted, in seconds since 1970."""
    match = re.search(r"^btime (\d+)$", host.read("/proc/stat") or "", re.MULTILINE)
    return float(match[1]) if match else None


def _programs(host: Host, problems: list[str]) -> _Source | None:
    """Return the output of dmesg, or the journal, which may still have the first messages if the ring buffer has lost them.

    If a program hangs or fails, the complete lines that it wrote before are used, too.
    """
    ring = None
    done = host.run(["dmesg"], timeout=LIMIT_SECONDS, kept_bytes=LOG_BYTES)
    if done.cut:
        newest = done.stdout.rpartition(" bytes left out ...\n")[2]  # the driver may have been loaded again in the lost part
        return _Source("dmesg", newest.split("\n"), _CUT, complete=False)
    if done.ending == "exited" and done.returncode == 0 and done.stdout:
        first = re.match(_UPTIME, done.stdout)
        if first is not None and float(first["uptime"]) < START_SECONDS:
            return _Source("dmesg", done.stdout.split("\n"))
        ring = _Source("dmesg", done.stdout.split("\n"), "its oldest messages were overwritten or cleared")
    else:
        problems.append(_refusal(host, done))
        ring = _Source("dmesg", done.stdout.split("\n")[:-1], problems[-1], complete=False) if done.stdout else None
    done = host.run(JOURNAL, timeout=LIMIT_SECONDS, kept_bytes=LOG_BYTES)
    lines = done.stdout.split("\n") if " kernel: " in done.stdout else []
    if done.ending == "exited" and lines:
        newer = _newer(ring.lines, lines, _boot(host)) if ring is not None else []
        return _Source("journalctl -k -b", [*lines, *newer], _CUT if done.cut else None, complete=not done.cut)
    words = done.ending if done.ending != "exited" else "does not show this user any kernel messages"
    problems.append(f"journalctl: {words}")
    return ring or (_Source("journalctl -k -b", lines[:-1], problems[-1], complete=False) if lines else None)


def _newer(ring: list[str], journal: list[str], boot: float | None) -> list[str]:
    """Return the lines of the ring buffer after the journal's last one: journald may have stopped recording."""
    last = next((_time(begun, boot) for line in reversed(journal) if (begun := re.match(_WHEN, line)) is not None), None)
    for place, line in enumerate(ring):
        begun = re.match(_WHEN, line)
        if begun is not None and last is not None and (time := _time(begun, boot)) is not None and time > last:
            return ring[place:]
    return []


def _refusal(host: Host, done: Completed) -> str:
    if (host.read("/proc/sys/kernel/dmesg_restrict") or "").strip() == "1" and done.ending == "exited":
        return "dmesg: only root may read the kernel log here (kernel.dmesg_restrict = 1)"
    complaint = done.stderr.strip().removeprefix("dmesg: ") or "nothing to read"
    return f"dmesg: {done.ending if done.ending != 'exited' else complaint.splitlines()[-1]}"


def _start_only(host: Host) -> _Source | None:
    text = host.read(START_ONLY, START_BYTES)
    if not text:
        return None
    return _Source(START_ONLY, text.split("\n"), "it contains only the messages of the boot", complete=False)


def _parse(source: _Source, boot: float | None) -> KernelLog:
    events: list[XidEvent] = []
    sxids: list[SxidEvent] = []
    errors: list[str] = []
    for begun, text in _driver(source.lines):
        if text.startswith(_LOADED):
            events, sxids, errors = [], [], []
        elif switch := re.match(_SXID, text):
            time, device = _time(begun, boot), _device(switch[1])
            sxids.append(SxidEvent(code=int(switch[2]), device=device, fatal=bool(switch[3]), time=time, text=text))
        elif xid := re.match(_XID, text):
            events.append(XidEvent(code=int(xid[2]), device=_device(xid[1]), time=_time(begun, boot), text=text))
        elif re.search(_ERROR, text):
            errors.append(text)
    return KernelLog(
        readable=True,
        source=source.name,
        problem=source.problem,
        complete=source.complete,
        events=_latest(events, lambda event: (event.code, event.device)),
        sxids=_latest(sxids, lambda event: (event.code, event.device, event.fatal)),
        nvrm=_latest(errors, lambda text: re.sub(r"\d", "", text)),
    )


def _driver(lines: Iterable[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the messages of the driver: the beginning of the line with its timestamp, and the text.

    dmesg and journalctl indent continuation lines. syslog(2), which BusyBox's dmesg reads, repeats the timestamp instead: of
    lines with the same timestamp, the first must be the driver's.
    """
    before, own = "", False
    for line in lines:
        begun = re.match(_BEGINNING, line) if any(mark in line for mark in _MARKS) else None
        own = begun is not None and (own or begun["uptime"] is None or not before.startswith(begun[0]))
        if own and begun is not None:
            yield begun, line[begun.end() :][:LINE]
        before = line


def _latest(items: list[Item], key: Callable[[Item], object]) -> tuple[Item, ...]:
    """Return the latest items, at most three of a kind: a flood of one kind must not displace the others."""
    kept: list[Item] = []
    counts: dict[object, int] = {}
    for item in reversed(items):
        counts[key(item)] = count = counts.get(key(item), 0) + 1
        if count <= KEPT_PER_KIND and len(kept) < KEPT:
            kept.append(item)
    return tuple(reversed(kept))


def _device(text: str) -> str:
    """Convert an address to the form in ``Gpu``: Xid lines omit the function, and old drivers the domain."""
    *domain, bus, device = text.partition(".")[0].split(":")
    return f"{int(domain[0], 16) if domain else 0:04x}:{int(bus, 16):02x}:{int(device, 16):02x}.0"


def _time(begun: re.Match[str], boot: float | None) -> str | None:
    """Return a line's timestamp as RFC 3339, UTC; None if it can't be determined."""
    import datetime

    try:
        if begun["day"]:
            zone = begun["zone"] if ":" in begun["zone"] else f"{begun['zone'][:3]}:{begun['zone'][3:]}"
            at = datetime.datetime.fromisoformat(begun["day"] + zone).timestamp()
        elif begun["date"]:
            at = datetime.datetime.strptime(begun["date"], "%a %b %d %H:%M:%S %Y").timestamp()  # local time
        elif boot is not None:
            at = boot + float(begun["uptime"])
        else:
            return None
        when = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return when.isoformat(timespec="seconds").replace("+00:00", "Z")
