"""Xid messages of the NVIDIA kernel driver that matter on a training machine.

Sources: NVIDIA Xid catalogue (docs.nvidia.com/deploy/xid-errors) and its machine-readable copy in leptonai/gpud;
NVIDIA/open-gpu-kernel-modules nverror.h (numbers). Severity, wording and fault are ours. 61 is in older NVIDIA
tables only.
"""

from typing import Literal, NamedTuple


class Xid(NamedTuple):
    """One Xid code."""

    code: int
    meaning: str
    severity: Literal["error", "warning", "info"]  # error: a job died of it, or the GPU is unusable
    action: str
    fault: Literal["gpu", "memory", "nvlink", "start"] | None  # the faulty part of the machine; None: a program, or no fault
    drain: bool  # keep new jobs off the GPU until it is reset, rebooted or repaired

    @property
    def title(self) -> str:
        """'the GPU has fallen off the bus (Xid 79)'."""
        return f"{self.meaning} (Xid {self.code})"


_RESTART, _RESET, _WATCH = "restart the job", "reset the GPU", "watch for repeats"
_SUPPORT, _UPDATE = "contact the vendor", "update the driver"
_OTHER_GPU = "restart the job; if it follows one GPU through different programs, test that GPU"
_NVLINK_5 = "drain if the line says Fatal, watch if it says Nonfatal; reset all GPUs of the NVLink domain"

_KNOWN = (
    Xid(8, "the GPU stopped processing; the watchdog noticed", "error", _RESTART, None, False),
    Xid(11, "invalid commands reached the GPU", "error", _RESTART, None, False),
    Xid(13, "a kernel broke the rules: illegal instruction or address", "error", _OTHER_GPU, None, False),
    Xid(25, "invalid commands reached the GPU", "error", _RESTART, None, False),
    Xid(31, "a kernel touched unmapped memory (CUDA error 700)", "error", _OTHER_GPU, None, False),
    Xid(32, "commands to the GPU arrived corrupted", "error", "restart the job; check PCIe errors", None, False),
    Xid(37, "the driver's firmware met a request it lacks", "info", "ignore it once", None, False),
    Xid(38, "the driver's firmware watchdog expired", "warning", _UPDATE, None, False),
    Xid(43, "one program's work was stopped after its own error; the GPU is healthy", "info", _RESTART, None, False),
    Xid(44, "a fault while switching between programs", "warning", _WATCH, None, False),
    Xid(45, "clean-up after a killed program or an earlier Xid", "info", "look at the Xid before it", None, False),
    Xid(46, "the GPU stopped processing and did not recover", "error", _RESET, "gpu", True),
    Xid(48, "a memory error that ECC could not correct", "error", _RESET, "memory", True),
    Xid(54, "the board's extra power is not connected", "error", "attach the power cables", "gpu", True),
    Xid(61, "the GPU's micro-controller warned", "warning", _UPDATE, None, False),
    Xid(62, "the GPU's micro-controller halted", "error", _RESET, "gpu", True),
    Xid(63, "a bad memory row was set aside, effective after a reset", "info", _RESET, "memory", False),
    Xid(64, "a bad memory row could not be set aside", "error", _RESET, "memory", True),
    Xid(66, "the driver made an illegal access", "warning", _UPDATE, None, False),
    Xid(67, "the driver made an illegal access", "warning", _UPDATE, None, False),
    Xid(68, "the video decoder failed", "error", _RESTART, None, False),
    Xid(69, "the GPU was given a command of the wrong class", "error", _RESTART, None, False),
    Xid(74, "an NVLink connection failed", "error", "reset all GPUs of the NVLink domain", "nvlink", True),
    Xid(79, "the GPU has fallen off the bus", "error", "power the machine off and on", "gpu", True),
    Xid(80, "data sent to the GPU arrived corrupted", "error", "restart the job; check PCIe errors", None, False),
    Xid(92, "many memory errors, all corrected", "warning", "plan maintenance", "memory", False),
    Xid(93, "the board's own records were written too often", "info", "none", None, False),
    Xid(94, "a memory error that cost only the program that met it", "error", _RESTART, "memory", False),
    Xid(95, "a memory error that may have reached any program", "error", _RESET, "memory", True),
    Xid(109, "switching between programs timed out", "error", _RESET, "gpu", True),
    Xid(110, "the GPU reported a security fault", "error", _RESET, "gpu", True),
    Xid(119, "the GPU's firmware (GSP) did not answer", "error", _RESET, "gpu", True),
    Xid(120, "the GPU's firmware (GSP) failed", "error", _RESET, "gpu", True),
    Xid(121, "a corrected error between CPU and GPU chip (C2C)", "warning", _WATCH, None, False),
    Xid(136, "an NVLink connection could not be trained", "error", _RESET, "nvlink", True),
    Xid(137, "another GPU made a bad access over NVLink", "error", "look for Xid 13 or 31 elsewhere", None, False),
    Xid(140, "an ECC error that was not recovered", "error", _RESET, "memory", True),
    Xid(141, "a fault on a fast path of CUDA", "info", "ignore it once", None, False),
    Xid(143, "the GPU could not be initialised", "error", _RESET, "start", True),
    Xid(154, "the recovery that the GPU needs has changed; the line names it", "info", "do what it names", None, False),
    Xid(155, "NVLink failed in software", "error", _RESET, "nvlink", True),
    Xid(156, "a damaged part of the GPU was retired", "warning", _RESET, "memory", False),
    Xid(157, "a damaged part of the GPU could not be retired", "warning", _SUPPORT, "memory", False),
    Xid(158, "the GPU timed out for good", "error", _RESET, "gpu", True),
    Xid(160, "a memory channel was retired", "warning", _WATCH, "memory", False),
    Xid(161, "a memory channel could not be retired", "warning", _SUPPORT, "memory", False),
    Xid(167, "the PCIe connection timed out for good", "error", "reboot; check the slot", "gpu", True),
    Xid(168, "damage in protected memory: there is less of it", "warning", _SUPPORT, "memory", False),
    Xid(171, "which memory Xid 48 was about: DRAM", "error", _RESET, "memory", True),
    Xid(172, "which memory Xid 48 was about: SRAM", "error", _RESET, "memory", True),
    *(Xid(code, "a copy engine failed", "error", _RESTART, None, False) for code in (39, 40, 41, 70, 71, 72)),
    *(Xid(code, "a copy engine failed", "error", _RESTART, None, False) for code in (75, 76, 77, 85)),
    *(Xid(code, "a copy engine failed", "error", _RESTART, None, False) for code in range(126, 136)),
    *(Xid(code, "an NVLink 5 unit failed", "error", _NVLINK_5, "nvlink", True) for code in range(144, 151)),
)

XIDS: dict[int, Xid] = {known.code: known for known in _KNOWN}


def xid(code: int) -> Xid | None:
    """Return the meaning of an Xid; None for a code that is not in the table."""
    return XIDS.get(code)
