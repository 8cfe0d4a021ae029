"""Xid messages of the NVIDIA kernel driver that matter on a training machine.

Sources: NVIDIA Xid catalog (docs.nvidia.com/deploy/xid-errors, its column "immediate action") and its machine-readable copy
in leptonai/gpud; NVIDIA/open-gpu-kernel-modules nverror.h (numbers); nvml.h, nvmlDeviceGpuRecoveryAction_t (the actions of
Xid 154), and NVIDIA's A100 memory error management, "Error Recovery and Response Flags" (what they mean). Severity, wording
and fault are ours. Our action differs from NVIDIA's only where that is empty, a workflow or its contact. 61 is in older NVIDIA
tables only.
"""

import re
from typing import Literal

import msgspec

Remedy = Literal["ignore", "restart-application", "drain", "reset-gpu", "reboot", "power-cycle", "service"]  # model's Action
Severity = Literal["error", "warning", "info"]
Fault = Literal["gpu", "memory", "nvlink", "start"]


class Xid(msgspec.Struct, frozen=True):
    """One Xid code."""

    code: int
    meaning: str
    severity: Severity  # error: it ended a job, or the GPU is unusable
    action: Remedy
    advice: str  # the action in words
    fault: Fault | None  # the faulty part of the machine; None: a program, or no fault

    @property
    def title(self) -> str:
        """'the GPU has fallen off the bus (Xid 79)'."""
        return f"{self.meaning} (Xid {self.code})"

    @property
    def drain(self) -> bool:
        """Whether no new job may use the GPU until the action is done."""
        return self.action not in ("ignore", "restart-application")


class Recovery(msgspec.Struct, frozen=True):
    """A recovery action that the driver requests, in NVML and in Xid 154."""

    action: Remedy
    advice: str


_RESTART, _RESET, _WATCH = "restart the job", "reset the GPU", "watch for repeats"
_SUPPORT, _UPDATE = "contact the vendor", "update the driver"
_OTHER_GPU = "restart the job; if it follows one GPU through different programs, test that GPU"
_NVLINK_5 = "drain if the line says Fatal, watch if it says Nonfatal; reset all GPUs of the NVLink domain"


def _program(code: int, meaning: str, advice: str = _RESTART, fault: Fault | None = None) -> Xid:
    """Return an error that ended one program."""
    return Xid(code, meaning, "error", "restart-application", advice, fault)


def _reset(code: int, meaning: str, fault: Fault) -> Xid:
    """Return an error after which the GPU must be reset."""
    return Xid(code, meaning, "error", "reset-gpu", _RESET, fault)


def _ignored(code: int, meaning: str, severity: Severity, advice: str, fault: Fault | None = None) -> Xid:
    """Return a message that requires no action."""
    return Xid(code, meaning, severity, "ignore", advice, fault)


_KNOWN = (
    _program(8, "the GPU stopped processing; the watchdog noticed"),
    _program(11, "invalid commands reached the GPU"),
    _program(13, "a kernel used an illegal instruction or address", _OTHER_GPU),
    _program(25, "invalid commands reached the GPU"),
    _program(31, "a kernel accessed unmapped memory (CUDA error 700)", _OTHER_GPU),
    _program(32, "the GPU received corrupted commands", "restart the job; check PCIe errors"),
    _ignored(37, "the driver's firmware does not support a request", "info", "ignore it once"),
    _ignored(38, "the driver's firmware watchdog expired", "warning", _UPDATE),
    _ignored(43, "one program's work was stopped after its own error; the GPU is healthy", "info", _RESTART),
    _ignored(44, "a fault while switching between programs", "warning", _WATCH),
    _ignored(45, "clean-up after a killed program or an earlier Xid", "info", "check the preceding Xid"),  # NVIDIA: a workflow
    _reset(46, "the GPU stopped processing and did not recover", "gpu"),
    _reset(48, "a memory error that ECC could not correct", "memory"),  # NVIDIA: a workflow
    Xid(54, "the board's extra power is not connected", "error", "service", "attach the power cables", "gpu"),
    _ignored(61, "the GPU's micro-controller warned", "warning", _UPDATE),  # NVIDIA: contact its support
    _reset(62, "the GPU's micro-controller halted", "gpu"),
    _ignored(63, "a bad memory row was set aside, effective after a reset", "info", _RESET, "memory"),
    _reset(64, "a bad memory row could not be set aside", "memory"),
    _ignored(66, "the driver made an illegal access", "warning", _UPDATE),
    _ignored(67, "the driver made an illegal access", "warning", _UPDATE),
    _program(68, "the video decoder failed"),
    _program(69, "the GPU received a command of the wrong class"),
    # NVIDIA: a workflow
    Xid(74, "an NVLink connection failed", "error", "reset-gpu", "reset all GPUs of the NVLink domain", "nvlink"),
    Xid(79, "the GPU has fallen off the bus", "error", "power-cycle", "power the machine off and on", "gpu"),
    _program(80, "the GPU received corrupted data", "restart the job; check PCIe errors"),
    _ignored(92, "many memory errors, all corrected", "warning", "plan maintenance", "memory"),
    _ignored(93, "the board's own records were written too often", "info", "none"),
    _program(94, "a contained memory error, which ended only the affected program", fault="memory"),
    _reset(95, "an uncontained memory error, which may have affected any program", "memory"),
    _reset(109, "switching between programs timed out", "gpu"),
    _reset(110, "the GPU reported a security fault", "gpu"),
    _reset(119, "the GPU's firmware (GSP) did not respond", "gpu"),
    _reset(120, "the GPU's firmware (GSP) failed", "gpu"),
    _ignored(121, "a corrected error between CPU and GPU chip (C2C)", "warning", _WATCH),
    _reset(136, "an NVLink connection could not be trained", "nvlink"),
    _ignored(137, "another GPU made a bad access over NVLink", "error", "look for Xid 13 or 31 elsewhere"),
    _reset(140, "an ECC error that was not recovered", "memory"),
    _ignored(141, "a fault on a fast path of CUDA", "info", "ignore it once"),
    _reset(143, "the GPU could not be initialized", "start"),
    Xid(151, "the keys of confidential computing could not be renewed", "error", "reboot", "restart the virtual machine", "gpu"),
    _ignored(154, "the GPU's required recovery action has changed; the line states it", "info", "take that action"),
    _reset(155, "NVLink failed in software", "nvlink"),
    _reset(156, "a damaged part of the GPU was retired", "memory"),
    _ignored(157, "a damaged part of the GPU could not be retired", "warning", _SUPPORT, "memory"),
    _reset(158, "the GPU timed out for good", "gpu"),
    _ignored(160, "a memory channel was retired", "warning", _WATCH, "memory"),
    _ignored(161, "a memory channel could not be retired", "warning", _SUPPORT, "memory"),
    # NVIDIA lists no action for the next four
    Xid(167, "the PCIe connection timed out for good", "error", "reboot", "reboot; check the slot", "gpu"),
    _ignored(168, "damage in protected memory, which is now smaller", "warning", _SUPPORT, "memory"),
    _reset(171, "the location of the memory error of Xid 48: DRAM", "memory"),
    _reset(172, "the location of the memory error of Xid 48: SRAM", "memory"),
    *(_program(code, "a copy engine failed") for code in (39, 40, 41, 70, 71, 72, 75, 76, 77, 85, *range(126, 136))),
    # NVIDIA: a workflow
    *(Xid(code, "an NVLink 5 unit failed", "error", "reset-gpu", _NVLINK_5, "nvlink") for code in range(144, 151)),
)

XIDS: dict[int, Xid] = {known.code: known for known in _KNOWN}


def xid(code: int) -> Xid | None:
    """Return the meaning of an Xid; None for a code that is not in the table."""
    return XIDS.get(code)


def is_nonfatal(text: str) -> bool:
    """Whether the message about an NVLink says Nonfatal, after the name of the process, which may be that word too."""
    return re.findall(r"\b(?:Fatal|Nonfatal)\b", text)[-1:] == ["Nonfatal"]


class MessageWithoutXid(msgspec.Struct, frozen=True):
    """A kind of message of the driver that has no Xid."""

    pattern: str
    words: str
    action: Remedy
    is_request: bool  # the driver requests the action; otherwise none is needed if the GPU responds later


WITHOUT_XID = (
    MessageWithoutXid(r"(?i)needs to be reset|requires? (?:a )?reset|reset required", "it needs a reset", "reset-gpu", True),
    MessageWithoutXid(
        r"(?i)waiting for RPC response from GPU|heartbeat timed ?out|rpcRecvPoll timed ?out|GSP[_ ]TIMEOUT",
        "its firmware (GSP) did not respond in time",
        "reset-gpu",
        False,
    ),
    MessageWithoutXid(r"RmInitAdapter failed|rm_init_adapter failed", "its driver could not start it", "power-cycle", False),
)
RECOVERY_CHANGED = 154  # the Xid with the action that the driver requires now
NONE_NEEDED = 0
_RESET_IT = "end all programs on the GPU, and reset it"
RECOVERIES: dict[int, Recovery] = {
    NONE_NEEDED: Recovery("ignore", "nothing"),
    1: Recovery("reset-gpu", _RESET_IT),
    2: Recovery("reboot", "restart the machine"),
    3: Recovery("drain", "end all work that uses several GPUs"),
    4: Recovery("reset-gpu", "start no new work on the GPU, wait until the current work ends, and reset it"),
    5: Recovery("drain", "recover the IMEX domain"),
    6: Recovery("reset-gpu", "reset the GPU with its PCIe bus"),
    7: Recovery("reboot", "restart the machine"),
}


def recovery_of(text: str) -> int | None:
    """Return the number of the action in a message of Xid 154; None without one.

    Args:
        text: "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)".
    """
    changed = re.search(r"recovery action changed from .{1,60}? to 0x([0-9a-fA-F]{1,4})\b", text)
    return int(changed[1], 16) if changed else None
