"""What the NVIDIA driver wrote into the kernel's log since it was loaded: Xid messages, and its other complaints.

Sources: NVIDIA's Xid documentation (form of the lines; leptonai/gpud's test data for "Xid (0000:03:00)"), dmesg(1),
journalctl(1), and the sysctl kernel.dmesg_restrict. WSL2's kernel writes none of these lines.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from gpucheck.core.engine.plugin import probe
from gpucheck.core.host import Completed, Host
from gpucheck.core.model import Fact, Level

FILES = ("/var/log/kern.log", "/var/log/messages", "/var/log/syslog")  # kept by the syslog daemon; the last two hold all else too
START_ONLY = "/var/log/dmesg"  # a copy that some distributions make once, at the end of the start
TAIL_BYTES = 4 << 20
LIMIT_SECONDS = 3.0
KEPT = 50
ALIKE = 3  # of them with the same code from the same GPU
LINE = 300  # characters of a line that are kept
CLOCK_SECONDS = 120.0  # by which a clock that was set after the start may disagree

# Patterns are compiled when a line asks for them: most machines have none.
_XID = r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F]{1,8}(?::[0-9a-fA-F]{1,4}){1,2}(?:\.\d)?)[^)]*\): (\d+)"
_LOADED = "NVRM: loading NVIDIA"  # whatever it said before was about another life of the module
_COMPLAINT = (
    r"(?i)fail|error|fatal|fallen off|not supported|mismatch|timeout|timed out|needs to be reset|has been reset|unable|can't"
)
_KERNEL = b" kernel: "
_UPTIME = r"\[ *(\d+\.\d{6})\]"
_ISO = r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)"
_SYSLOG = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(\d\d?) (\d\d):(\d\d):(\d\d) "
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class XidEvent(Fact, frozen=True, kw_only=True):
    """One Xid message."""

    code: int
    device: str | None = None  # "0000:3b:00.0", as in gpus; the line names no function
    time: str | None = None  # RFC 3339, UTC, where the line tells it
    text: str = ""


class KernelLog(Fact, frozen=True, kw_only=True):
    """The lines of this start of the machine, since the driver's module was loaded last."""

    readable: bool
    source: str | None = None  # the file or the program that it was read from
    problem: str | None = None  # why it can't be read, or what is missing from it
    events: tuple[XidEvent, ...] = ()  # the latest 50, three of a kind
    nvrm: tuple[str, ...] = ()  # complaints of the driver without an Xid, likewise


Item = TypeVar("Item")


class _Source(msgspec.Struct, frozen=True):
    name: str
    lines: list[str]
    problem: str | None = None


@probe(level=Level.NODE)
def read(host: Host) -> KernelLog:
    """Read the files that syslog keeps; where there are none ask dmesg and the journal, except with --quick."""
    if host.platform != "linux":
        return KernelLog(readable=False, problem="not a Linux kernel")
    boot = _boot(host)
    problems: list[str] = []
    source = _files(host, boot, problems)
    if source is None and host.request.level is not Level.QUICK:
        source = _programs(host, problems)
    if source is None:
        source = _start_only(host)
    if source is None:
        if host.request.level is Level.QUICK:
            problems.append("dmesg and the journal are not asked with --quick")
        return KernelLog(readable=False, problem="; ".join(problems) or "no kernel log was found")
    return _understand(source, boot)


def _boot(host: Host) -> float | None:
    """When this machine started, in seconds since 1970."""
    match = re.search(r"^btime (\d+)$", host.read("/proc/stat") or "", re.MULTILINE)
    return float(match[1]) if match else None


def _files(host: Host, boot: float | None, problems: list[str]) -> _Source | None:
    for path in FILES:
        status = host.stat(path)
        if status is None:
            continue
        text = host.read_bytes(path, max(0, status.size_bytes - TAIL_BYTES), TAIL_BYTES)
        if text is None:
            problems.append(f"{path} is not readable by this user")
            continue
        last = text.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
        # Which start a line is from is all that matters: without its time the file proves nothing.
        if boot is None or (written := _epoch(last, boot)) is None or written < boot - CLOCK_SECONDS:
            problems.append(f"{path} does not go on into this start of the machine")
            continue
        if _KERNEL not in text:  # this daemon keeps the kernel's lines elsewhere
            continue
        lines = [line for line in _nvrm(text) if (at := _epoch(line, boot)) is None or at >= boot - CLOCK_SECONDS]
        cut = f"only its last {TAIL_BYTES >> 20} MiB were read" if status.size_bytes > TAIL_BYTES else None
        return _Source(path, lines, cut)
    return None


def _nvrm(text: bytes) -> list[str]:
    """The kernel's lines that hold NVIDIA's mark, found without cutting all of the file into lines."""
    lines = []
    at = text.find(b"NVRM: ")
    while at >= 0:
        end = text.find(b"\n", at)
        line = text[text.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(text)]
        if _KERNEL in line:  # a program may well print the mark itself
            lines.append(line.decode("utf-8", "replace"))
        at = text.find(b"NVRM: ", end) if end >= 0 else -1
    return lines


def _programs(host: Host, problems: list[str]) -> _Source | None:
    done = host.run(["dmesg"], timeout=LIMIT_SECONDS)
    if done.ending == "exited" and done.returncode == 0 and done.stdout:
        return _Source("dmesg", done.stdout.splitlines())
    problems.append(_refusal(host, done))
    argv = ["journalctl", "-k", "-b", "--no-pager", "-q", "-o", "short-iso"]
    done = host.run(argv, timeout=LIMIT_SECONDS)
    if done.ending == "exited" and " kernel: " in done.stdout:
        return _Source("journalctl -k -b", done.stdout.splitlines())
    words = done.ending if done.ending != "exited" else "shows this user no line of the kernel"
    problems.append(f"journalctl: {words}")
    return None


def _refusal(host: Host, done: Completed) -> str:
    if (host.read("/proc/sys/kernel/dmesg_restrict") or "").strip() == "1" and done.ending == "exited":
        return "dmesg: only root may read the kernel's log here (kernel.dmesg_restrict = 1)"
    complaint = done.stderr.strip().removeprefix("dmesg: ") or "nothing to read"
    return f"dmesg: {done.ending if done.ending != 'exited' else complaint.splitlines()[-1]}"


def _start_only(host: Host) -> _Source | None:
    text = host.read(START_ONLY, TAIL_BYTES)
    if not text:
        return None
    return _Source(START_ONLY, text.splitlines(), "it holds the messages of the machine's start only")


def _understand(source: _Source, boot: float | None) -> KernelLog:
    events: list[XidEvent] = []
    complaints: list[str] = []
    for line in source.lines:
        _, separator, words = line.partition("NVRM: ")
        if not separator:
            continue
        text = (separator + words)[:LINE]
        if text.startswith(_LOADED):
            events, complaints = [], []
        elif xid := re.match(_XID, text):
            events.append(XidEvent(code=int(xid[2]), device=_device(xid[1]), time=_time(line, boot), text=text))
        elif re.search(_COMPLAINT, text):
            complaints.append(text)
    return KernelLog(
        readable=True,
        source=source.name,
        problem=source.problem,
        events=_latest(events, lambda event: (event.code, event.device)),
        nvrm=_latest(complaints, lambda text: re.sub(r"\d", "", text)),
    )


def _latest(items: list[Item], key: Callable[[Item], object]) -> tuple[Item, ...]:
    """The latest ones, of those alike the latest three: a flood of one kind must not wash the others away."""
    kept: list[Item] = []
    counts: dict[object, int] = {}
    for item in reversed(items):
        counts[key(item)] = count = counts.get(key(item), 0) + 1
        if count <= ALIKE and len(kept) < KEPT:
            kept.append(item)
    return tuple(reversed(kept))


def _device(text: str) -> str | None:
    """An address as in ``Gpu``: Xid lines leave the function out, and old drivers the domain."""
    *domain, bus, device = text.partition(".")[0].split(":")
    if len(domain) > 1:
        return None
    return f"{int(domain[0], 16) if domain else 0:04x}:{int(bus, 16):02x}:{int(device, 16):02x}.0"


def _time(line: str, boot: float | None) -> str | None:
    import datetime

    at = _epoch(line, boot)
    if at is None and boot is not None and (stamp := re.search(_UPTIME, line)):
        at = boot + float(stamp[1])
    return (
        None
        if at is None
        else datetime.datetime.fromtimestamp(at, datetime.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


def _epoch(line: str, boot: float | None) -> float | None:
    """Seconds since 1970 of a line that begins with a date; None where it has none."""
    import datetime

    if iso := re.match(_ISO, line):
        zone = "+00:00" if iso[2] == "Z" else iso[2] if ":" in iso[2] else f"{iso[2][:3]}:{iso[2][3:]}"
        try:
            return datetime.datetime.fromisoformat(iso[1] + zone).timestamp()
        except ValueError:
            return None
    old = re.match(_SYSLOG, line)
    if old is None or boot is None:
        return None
    # RFC 3164 writes the local time without its year: it is this start's, or the next one's.
    begun = datetime.datetime.fromtimestamp(boot)
    month, day, hour, minute, second = _MONTHS.index(old[1]) + 1, *(int(old[place]) for place in range(2, 6))
    try:
        at = datetime.datetime(begun.year, month, day, hour, minute, second)
        if begun - at > datetime.timedelta(days=183):
            at = at.replace(year=begun.year + 1)
        elif at - begun > datetime.timedelta(days=183):
            at = at.replace(year=begun.year - 1)
    except ValueError:
        return None
    return at.timestamp()
