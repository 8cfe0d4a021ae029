"""Reports on a GPU's health: nvidia-smi -q, dcgmi diag and MIG."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, cells, fixed, named


def _counted(match: "re.Match[str]") -> dict[str, str] | None:
    return None if set(match["count"]) <= {"0"} else named(match)


def _limits(match: "re.Match[str]") -> dict[str, str] | None:
    """Power capping is how a GPU works at its limit; heat and the board's brake are not."""
    return {"reason": match["reason"].lower()} if "power cap" not in match["reason"].lower() else {"reason": "sw power cap"}


def _slowed(match: "re.Match[str]") -> dict[str, str] | None:
    """The first reason that is active."""
    for name, value in cells(match):
        reason = re.search(r"_reasons\.((?:hw|sw)_(?:thermal_|power_brake_)?slowdown)\b", name)
        if reason and value == "Active":
            return {"reason": reason[1].replace("_", " ")}
    return None


def _lost(match: "re.Match[str]") -> dict[str, str] | None:
    """The first count of what could not be corrected since the driver was loaded, if it is no zero."""
    for name, value in cells(match):
        count = re.match(r"\d+", value)
        if ".volatile." in name and count and int(count[0]):
            return {"count": count[0], "section": "volatile"}
    return None


_SECTION = (
    r"\b(?:(?!Aggregate|Volatile|Retired|Remapped).){0,400}?(?:Uncorrectable[\w -]*|Double Bit[\w ]*) *: *(?P<count>[1-9]\d*)\b"
)

PATTERNS = (
    # -- memory errors --
    Pattern(Kind.ECC_COUNT, ("volatile",), r"^Volatile" + _SECTION, fixed(section="volatile"), continuation_lines=16),
    Pattern(Kind.ECC_HISTORY, ("aggregate",), r"^Aggregate" + _SECTION, continuation_lines=16),
    Pattern(
        Kind.ECC_COUNT,
        ("uncorrectable",),
        r"^(?P<memory>SRAM|DRAM|Device Memory|Total|L1 Cache|L2 Cache)? ?(?:ECC )?Uncorrectable(?: Parity"
        r"| SEC-DED| Errors)? *[:|] *(?P<count>\d+)$",
        _counted,
    ),
    Pattern(
        Kind.ECC_COUNT,
        ("volatile uncorrect",),
        r"(?i:volatile uncorrect(?:able|ed))\b[^\n|]{0,24}?[:=] ?(?P<count>\d+)\b",
        _counted,
    ),
    # the first line of a GPU in nvidia-smi's table ends with what ECC could not correct since the driver was loaded
    Pattern(
        Kind.ECC_COUNT,
        ("00000000:",),
        r"\b[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d +O(?:n|ff) \| +(?P<count>\d+)$",
        _counted,
    ),
    Pattern(  # nvidia-smi --query-gpu
        Kind.ECC_COUNT,
        ("ecc.errors.uncorrected.",),
        r"^(?!.*--query)[^\n]{0,400}ecc\.errors\.uncorrected\.\w+[^\n]+",
        _lost,
        continuation_lines=1,
    ),
    Pattern(Kind.ECC_COUNT, ("double bit ecc",), r"^Double Bit ECC *: *(?P<count>\d+)$", _counted),
    Pattern(
        Kind.ROW_REMAPPING,
        ("remapped rows", "remapping"),
        r"Remapped Rows\b.{0,120}?(?P<state>Pending|Remapping Failure Occurred) *: *Yes",
        continuation_lines=5,
    ),
    Pattern(Kind.ROW_REMAPPING, ("remapping failure",), r"^(?P<state>Remapping Failure Occurred) *: *Yes"),
    Pattern(
        Kind.ROW_REMAPPING,
        ("row remap",),
        r"(?i:row remap\w*)[^\n]{0,20}(?i:(?P<state>pending|failed|failure))",
        continuation_lines=1,
    ),
    Pattern(Kind.PAGES_RETIRED, ("pending page",), r"^Pending Page (?:Blacklist|Retirement)? *: *Yes", fixed(state="pending")),
    Pattern(
        Kind.ECC_UNCORRECTABLE,
        ("uncorrectable memory errors",),
        r"(?:GPU (?P<device>\d+) )?(?:has |had )?uncorrectable memory errors",
    ),
    Pattern(
        Kind.ECC_UNCORRECTABLE,
        ("double-bit ecc error", "double bit ecc error"),
        r"(?i:detected|encountered)[^\n]{0,20} (?i:double[- ]bit ECC error)[^\n]{0,6}(?: in GPU (?P<device>\d+))?",
    ),
    Pattern(Kind.ECC_UNCORRECTABLE, ("dbe",), r"(?i:double[- ]bit ECC error|\bDBE\b[^\n]{0,20}detected)"),
    # -- clocks held back --
    Pattern(
        Kind.GPU_THROTTLED,
        ("slowdown", "power brake"),
        r"(?:^|[`'\"(,|] ?)(?:Clocks )?(?P<reason>(?:HW|SW) (?:Thermal )?Slowdown|HW Power Brake(?: Slowdown)?) *: *Active",
        _limits,
    ),
    Pattern(  # nvidia-smi --query-gpu
        Kind.GPU_THROTTLED,
        ("clocks_throttle_reasons.", "clocks_event_reasons."),
        r"^[^\n]{0,400}clocks_(?:throttle|event)_reasons\.\w+[^\n]+",
        _slowed,
        continuation_lines=1,
    ),
    Pattern(Kind.GPU_THROTTLED, ("thermal violation",), r"(?i:(?P<reason>thermal) violations?) totall?ing (?P<seconds>[\d.]+)"),
    Pattern(
        Kind.GPU_THROTTLED,
        ("throttl", "降频", "スロットリング", "스로틀링", "троттл"),
        r"(?i)^(?!.*\b(?:no|not|without|never|pas de|aucun|sin|sem|keine?|нет)\b.{0,20}(?:throttl|троттл))"
        r"(?!.*[无没沒]有?.{0,6}降频).*?"
        r"(?:\b(?P<reason>thermal|power)[- ]throttl\w*.{0,20}?\bGPUs?\b|\bGPUs?\b.{0,20}?\b(?P<second>thermal|power)[- ]throttl"
        r"|\bGPUs?.{0,12}?(?:过热|温度|熱|サーマル|열|температурн\w*|термо)\w*[ -]?(?:降频|降頻|スロットリング|스로틀링|троттл))",
        lambda match: {"reason": (match["reason"] or match["second"] or "thermal").lower()},
    ),
    Pattern(
        Kind.GPU_THROTTLED,
        ("throttl",),
        r"(?i:(?:GPU|clock)s?\b[^\n]{0,40}?throttl\w+[^\n]{0,30}?(?P<reason>thermal|temperature|power))",
    ),
    # -- dcgmi diag: its own row, whatever failed --
    # -- DCGM's own error codes --
    Pattern(
        Kind.ECC_UNCORRECTABLE,
        ("dcgm_fr_",),
        r"\bDCGM_FR_(?:VOLATILE_DBE_DETECTED|FAULTY_MEMORY|UNCORRECTABLE_ROW_REMAP|ROW_REMAP_FAILURE|PENDING_ROW_REMAP"
        r"|(?:PENDING_)?PAGE_RETIREMENTS?|RETIRED_PAGES_\w+|DBE_\w+)\b",
    ),
    Pattern(
        Kind.GPU_THROTTLED,
        ("dcgm_fr_",),
        r"\bDCGM_FR_(?:CLOCKS?_(?:THROTTLE|EVENT)_(?P<reason>THERMAL|POWER)|(?:TEMP|THERMAL)_VIOLATIONS?\w*)\b",
        lambda match: {"reason": (match["reason"] or "thermal").lower()},
    ),
    Pattern(Kind.NVLINK_DOWN, ("dcgm_fr_",), r"\bDCGM_FR_(?:NVLINK_DOWN|NVLINK_ERROR_CRITICAL|NVSWITCH_FATAL_ERROR)\b"),
    Pattern(Kind.FABRIC_NOT_READY, ("dcgm_fr_",), r"\bDCGM_FR_(?:FABRIC_PROBE_STATE|FABRIC_MANAGER_TRAINING_ERROR)\b", fixed()),
    # -- NVSwitch: how far a GPU has come in joining its fabric --
    Pattern(Kind.FABRIC_NOT_READY, ("fabric",), r"^Fabric +State *: In Progress\b", fixed(), continuation_lines=1),
    Pattern(Kind.FABRIC_NOT_READY, ("cuda error 802",), r"(?i:\bCUDA error 802)\b(?![:.]\d)", fixed()),
    # -- MIG --
    Pattern(
        Kind.MIG_FAILED,
        ("gpu instance", "mig device", "mig-supported", "mig mode", "mig-enabled", "migenabled", "mig strategy"),
        r"(?P<message>Unable to (?:enable|disable) MIG Mode[^\n]{0,80}"
        r"|Failed to (?:display|list|create|destroy) GPU instance\w*[^\n]{0,60}|Unable to (?:create|destroy) (?:an? )?(?:GPU"
        r"|compute) instance[^\n]{0,80}|No GPU instances found[^\n]{0,40}"
        r"|[Nn]o MIG[- ](?:(?:supported|enabled) )?devices? (?:were )?(?:found|associated)[^\n]{0,60}"
        r"|(?i:MIG mode is enabled,? but no MIG (?:devices|instances))[^\n]{0,40}"
        r"|(?i:invalid MIG strategy|migEnabled=true)[^\n]{0,80}|MIG mode is in pending \w+ state[^\n]{0,40})",
    ),
    # a GPU that is cut up: nvidia-smi -L, nvidia-smi -q, and the last cell of the table's third line
    Pattern(
        Kind.MIG_SHOWN,
        ("(uuid: mig-", "   enabled |", "mig mode"),
        r"^MIG \d\w*\.\d+gb\S* +Device +\d+: \(UUID: MIG-|^Enabled$|^MIG Mode Current +: Enabled\b",
        fixed(),
        continuation_lines=1,
    ),
    # -- who may use it --
    Pattern(
        Kind.COMPUTE_MODE,
        ("compute mode", "compute m.", "e. process", "exclusive_process", "exclusive_thread"),
        r"(?i:compute mode *[:=] *(?P<mode>Exclusive[_ ]\w+|Prohibited)|(?P<second>EXCLUSIVE_PROCESS"
        r"|EXCLUSIVE_THREAD|(?-i:\bE\. (?:Process|Thread)))\b)",
        lambda match: {"mode": (match["mode"] or match["second"]).lower().replace("e. ", "exclusive-").replace("_", "-")},
    ),
)
