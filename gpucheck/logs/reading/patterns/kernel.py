"""The kernel's log: Xid and NVRM lines, the module that would not load, device nodes, PCIe and NVLink."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, cells, fixed, named

_PCI = r"(?P<device>(?:PCI:)?(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.\d)?|GPU-[0-9a-f-]{1,40})"

_SXID = r"\bSXid \(PCI:(?P<switch>[\da-fA-F:.]+)\): "


def _module(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    message = fields.get("message", "").lower()
    if re.search(r"required key|key was rejected|unsigned|unavailable key", message):
        fields["reason"] = "signature"
    elif "not found in directory" in message:
        fields["reason"] = "not-built"
    elif "no such device" in message:
        fields["reason"] = "no-device"
    return fields


def _node(match: "re.Match[str]") -> dict[str, str] | None:
    return {"path": match["path"] or match["after"], "error": (match["error"] or match["before"]).lower()}


def _nodes(errors: str) -> str:
    node = r"/dev//?(?:nvidia(?:\d+|ctl|-uvm(?:-tools)?|-modeset|-caps/[\w-]+)?|dxg)"
    return (
        rf"(?P<path>{node})\b['\"`]?[^\n]{{0,40}}?(?P<error>(?i:{errors}))"
        rf"|(?P<before>(?i:{errors}))[^\n]{{0,20}}?['\"` ](?P<after>{node})\b"
    )


def _differing(match: "re.Match[str]") -> dict[str, str] | None:
    """Two versions that agree as far as both are spelled out are one."""
    kernel, library = match["kernel"], match["library"]
    return None if kernel.startswith(library) or library.startswith(kernel) else named(match)


def _link(match: "re.Match[str]") -> dict[str, str] | None:
    """A link at its full width is no finding; its speed drops while a GPU idles."""
    fields = named(match) or {}
    return fields if int(fields["width"]) < int(fields["width_max"]) else None


def _noted_link(match: "re.Match[str]") -> dict[str, str] | None:
    width, most = match["width"] or match["second"], match["width_max"] or match["second_max"]
    return {"width": width, "width_max": most} if int(width) < int(most) else None


def _queried_link(match: "re.Match[str]") -> dict[str, str] | None:
    values = dict(cells(match))
    width, most = values.get("pcie.link.width.current", ""), values.get("pcie.link.width.max", "")
    known = width.isdecimal() and most.isdecimal()
    return {"width": width, "width_max": most} if known and int(width) < int(most) else None


PATTERNS = (
    # a program ended by another GPU's fault: that fault is the event
    Pattern(Kind.XID, ("previous xid",), rf"\bXid \({_PCI}\): \d+,[^\n]{{0,120}}?(?P<message>[Pp]revious Xid (?P<code>\d+))"),
    Pattern(Kind.XID, ("xid",), rf"\bXid \({_PCI}\): (?P<code>\d+)(?:, (?P<message>[^\n]+))?"),
    Pattern(Kind.XID, ("xid",), rf"\bXid ?= ?(?P<code>\d+)(?: on (?:Device ?= ?)?{_PCI})?"),
    Pattern(
        Kind.XID,
        ("xid",),
        r"\bX(?:id|ID)(?: (?:error|errors|code|event))?[ :#]+(?P<code>\d{1,3})\b(?![.:]\d)(?:\W+(?P<message>[^\n]+))?",
    ),
    Pattern(
        Kind.GPU_LOST, ("fallen off the",), r"(?:GPU " + _PCI + r".{0,60}?)?(?P<message>fallen off the bus)", continuation_lines=1
    ),
    Pattern(
        Kind.GPU_LOST,
        ("determine the device handle",),
        r"(?P<message>Unable to determine the device handle for GPU\W{0,3}?\d*)(?!\S*:\S)[`'\"….]",
    ),
    Pattern(
        Kind.GPU_LOST, ("needs to be reset",), r"(?P<message>GPU (?:likely )?needs to be reset)|RmInit.{0,40}GPU has been reset"
    ),
    Pattern(
        Kind.GPU_INIT_FAILED,
        ("rminitadapter", "rm_init_adapter failed", "failed to copy vbios"),
        rf"(?:GPU {_PCI}: )?(?P<message>(?:RmInitAdapter|rm_init_adapter)(?: failed|: Cannot initialize)[^\n]*"
        r"|failed to copy vbios[^\n]*)",
    ),
    Pattern(
        Kind.GPU_UNSUPPORTED_BY_DRIVER,
        ("not supported by",),
        r"NVRM: .{0,120}?not supported by (?:the )?(?:NVIDIA |open )?(?P<driver>[\d.]*\d)?",
        continuation_lines=3,
    ),
    # of GPUs that only the open modules drive; one message, or two records of the kernel's log
    Pattern(
        Kind.GPU_UNSUPPORTED_BY_DRIVER,
        ("of the nvidia open kernel modules",),
        r"use of the NVIDIA open kernel modules",
        fixed(reason="open-module"),
    ),
    Pattern(Kind.GPU_ABSENT, ("nvrm: no nvidia",), r"NVRM: No NVIDIA (?:GPU|graphics adapter|devices)[\w ]* found", fixed()),
    Pattern(
        Kind.DRIVER_MISMATCH,
        ("api mismatch",),
        r"API mismatch: .{0,60}?version (?P<library>\d[\d.]*\d)(?:.{0,80}?kernel module .{0,20}?version (?P<kernel>\d[\d.]*\d))?",
        continuation_lines=3,
    ),
    Pattern(
        Kind.DRIVER_MISMATCH,
        ("kernel",),
        r"(?i:\bkernel\b|\bNVRM\b)[^\n]{0,40}?\b(?P<kernel>\d{3}\.\d{2,3}(?:\.\d{2})?)\b(?![.\d])[^\n]{0,60}?"
        r"(?i:user|librar|NVML|libcuda)[^\n]{0,40}?\b(?P<library>\d{3}\.\d{2,3}(?:\.\d{2})?)\b",
        _differing,
    ),
    # each part is a record of its own in the kernel's log
    Pattern(Kind.DRIVER_MISMATCH, ("kernel module has the",), r"this kernel module has the version (?P<kernel>\d[\d.]*\d)"),
    Pattern(
        Kind.DRIVER_VERSION, ("kernel module",), r"NVRM version: NVIDIA UNIX.*?Kernel Module(?: for \w+)? +(?P<kernel>\d[\d.]*\d)"
    ),
    # -- the module --
    Pattern(
        Kind.KERNEL_MODULE_FAILED,
        ("could not insert", "module nvidia", "install nvidia", "loading of unsigned module", "unavailable key is rejected"),
        r"(?P<message>could not insert '?nvidia\S*: [^\n]+|Module nvidia\S* not found in directory \S+"
        r"|Loading of (?:unsigned module|module with unavailable key) is rejected"
        r"|insmod: ERROR: [^\n]*nvidia[^\n]*)",
        _module,
    ),
    Pattern(  # NVIDIA's installer
        Kind.KERNEL_MODULE_FAILED,
        ("load the kernel module",),
        r"(?P<message>Unable to load the kernel module \W?nvidia[^\n]{0,80})",
        _module,
    ),
    Pattern(
        Kind.KERNEL_MODULE_FAILED,
        ("nouveau",),
        r"NVRM: nouveau,|(?i:nouveau (?:kernel )?driver is (?:currently )?in use)|Kernel driver in use: nouveau"
        r"|(?:conflict\w{0,4}|in use by|bound to)\W.{0,20}\bnouveau\b",
        fixed(reason="nouveau"),
        continuation_lines=3,
    ),
    Pattern(  # what Fedora's boot screen says, and the kernel of a card that the driver does not take
        Kind.KERNEL_MODULE_FAILED, ("kernel module missing",), r"(?i:NVIDIA kernel module missing)", fixed(reason="not-built")
    ),
    Pattern(
        Kind.KERNEL_MODULE_FAILED,
        ("probe routine", "probe with driver nvidia", "modinfo: error"),
        r"(?P<message>NVIDIA probe routine (?:failed|was not called)[\w ]*|probe with driver nvidia failed[\w -]*"
        r"|modinfo: ERROR: Module nvidia\S* not found)",
        _module,
    ),
    # without it, nvidia-smi works and CUDA does not start
    Pattern(
        Kind.KERNEL_MODULE_FAILED,
        ("nvidia_uvm", "nvidia-uvm"),
        r"(?<!/dev/)(?P<message>\bnvidia[_-]uvm\b(?!\S*\.ko)[^\n.;]{0,24}?"
        r"(?i:\bnot (?:been )?loaded|\bmissing\b|未加载|没有加载))",
        _module,
    ),
    Pattern(Kind.GPU_DRIVEN, ("driver in use: nvidia",), r"Kernel driver in use: nvidia$", fixed()),
    Pattern(
        Kind.KERNEL_MODULE_FAILED,
        ("bad return status",),
        r"(?i:bad return status for module build.{0,200}?nvidia)",
        fixed(reason="not-built"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.KERNEL_MODULE_FAILED,
        ("dkms",),
        r"(?i:dkms.{0,60}nvidia.{0,60}(?:error|failed))",
        fixed(reason="not-built"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPU_ON_BUS,
        ("nvidia corporation",),
        r"(?P<device>(?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d) (?:VGA compatible|3D|Display) controller[^\n]{0,12}: "
        r"NVIDIA Corporation (?P<name>[^\n(]+)",
    ),
    Pattern(
        Kind.DRIVER_HUNG,
        ("blocked for more than",),
        r"task (?P<process>(?:nvidia|nv_|irq/\d+-nvidia|UVM)[\w./-]*):(?P<pid>\d+) blocked for more than (?P<seconds>\d+) sec",
    ),
    Pattern(
        Kind.DRIVER_HUNG,
        ("nvidia-smi", "nvmlinit", "cuinit"),
        r"(?P<process>nvidia-smi|nvmlInit\w*|cuInit)\b['\"]?[^\n]{0,60}?"
        r"(?i:\btimed out|\bhung\b|\bhangs\b|did not (?:answer|respond|return)|not responding|deadline exceeded)"
        r"|(?i:sending signal \w+ to command) .?(?P<command>nvidia-smi)",
        lambda match: {"process": match["process"] or match["command"]},
    ),
    # -- device nodes --
    Pattern(
        Kind.DEVICE_NODE_MISSING,
        ("/dev/",),
        _nodes("no such file or directory|does not exist|no such device|not found|missing"),
        _node,
    ),
    Pattern(
        Kind.DEVICE_NODE_MISSING,
        ("no nvidia gpu device is present",),
        r"no NVIDIA GPU device is present",
        fixed(path="/dev/nvidia0", error="does not exist"),
    ),
    Pattern(Kind.DEVICE_DENIED, ("/dev/",), _nodes("permission denied|operation not permitted|insufficient permissions"), _node),
    # -- links --
    Pattern(
        Kind.PCIE_LIMITED,
        ("available pcie bandwidth",),
        rf"(?:(?:pci(?:eport)? )?{_PCI}: )?(?<![\d.])(?P<available>[\d.]{{1,12}}) Gb/s available PCIe bandwidth, "
        r"limited by (?P<speed>[\d.]+ GT/s) (?:PCIe )?x(?P<width>\d+) link(?:.{0,40}?\(capable of (?P<capable>[\d.]+) Gb/s)?",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PCIE_LIMITED, ("downgraded",), r"(?:Speed (?P<speed>\S+)(?: \(\w+\))?, )?\bWidth x(?P<width>\d+) \(downgraded\)"
    ),
    # now and at most, as notes and tables put it
    Pattern(
        Kind.PCIE_LIMITED,
        ("gt/s", "pcie"),
        r"GT/s\W{1,4}[x×](?P<width>\d{1,2})\b[^\n\d]{1,12}[\d.]+ ?GT/s\W{1,4}[x×](?P<width_max>\d{1,2})\b"
        r"|(?i:PCIe)\b[^\n]{0,60}?[x×](?P<second>\d{1,2})\b,? (?:instead of|rather than|not|statt|au lieu de|en lugar de)"
        r" (?:the )?(?:full )?[x×](?P<second_max>\d{1,2})\b",
        _noted_link,
    ),
    Pattern(  # nvidia-smi --query-gpu
        Kind.PCIE_LIMITED,
        ("pcie.link.width.current",),
        r"^(?!.*--query)[^\n]{0,200}pcie\.link\.width\.current[^\n]+",
        _queried_link,
        continuation_lines=1,
    ),
    Pattern(
        Kind.PCIE_LIMITED,
        ("link width",),
        r"Link Width\s+Max\s*: (?P<width_max>\d+)x\s+Current\s*: (?P<width>\d+)x",
        _link,
        continuation_lines=3,
    ),
    Pattern(
        Kind.NVLINK_DOWN,
        ("nvlink",),
        r"NVLink:? (?:(?:fatal|uncorrectable) error|link (?P<link>\d+)[^\n]{0,20}?(?:disabled|down|failed|inactive))"
        r"|NVLink:?[^\n]{0,40}?(?:link training|training) failed",
    ),
    # an NVSwitch's own codes; severity 1 is fatal (NVSWITCH_ERROR_SEVERITY_TYPE), and "Data" repeats the line before it
    Pattern(Kind.NVLINK_DOWN, ("sxid",), _SXID + r"(?P<code>\d+), (?:Fatal|Severity 1)\b(?:, Link (?P<link>\d+))?"),
    Pattern(
        Kind.NVLINK_DOWN,
        ("sxid",),
        _SXID + r"(?P<code>\d+), (?!Data\b)(?:(?i:non-?fatal, )?Link (?P<link>\d+))?",
        fixed(degree="mild"),
    ),
    Pattern(
        Kind.NVLINK_DOWN,
        ("sxid",),
        r"\bSX(?:id|ID)(?: (?:error|errors|code|event))?[ :=#]+(?P<code>\d{5})\b(?!.*(?i:\bnon-?fatal))",
        fixed(degree="mild"),
    ),
    Pattern(Kind.NVLINK_DOWN, ("<inactive>",), r"Link (?P<link>\d+): <inactive>"),
    Pattern(Kind.NVLINK_DOWN, ("nvlink_uncorrectable",), r"CUDA_ERROR_NVLINK_UNCORRECTABLE"),
)
