"""The machine of --for: a description in words, a report of gpucheck, or the output of nvidia-smi."""

import csv
import os
import re

from gpucheck.commands.setup.describe import Draft, Unknown, finish, machine
from gpucheck.core.compat import gpus, versions
from gpucheck.core.solver.machine import Gpu, Machine, Python
from gpucheck.core.system.bounded import with_timeout
from gpucheck.core.system.read import REPORT_BYTES_MAX, utf8, whole

READ_SECONDS = 30.0

_DRIVER = re.compile(r"(?:Driver Version|driver_version)\s*:?\s*(\d{3}\.\d{1,3}(?:\.\d{1,3})?)")
_SMI = re.compile(r"NVIDIA-SMI\s+(\d{3}\.\d{1,3})")
_ROW = re.compile(r"^\|\s+\d+\s+(\S.*?)\s+(?:On|Off|WDDM|TCC|MCDM|N/A)\s+\|")
_LISTED = re.compile(r"^GPU \d+: (.+?) \(UUID:")
_PRODUCT = re.compile(r"^\s*Product Name\s*:\s*(\S.*?)\s*$")


def read(value: str) -> Machine:
    """Return the machine that the value of --for describes.

    Args:
        value: "-" (standard input), the path of a file, or a description.

    Raises:
        Unknown: the description, or the file, can't be understood.
    """
    if value != "-" and not _is_path(value):
        return machine(value)
    name = "standard input" if value == "-" else value
    try:
        return of_file(with_timeout(READ_SECONDS, whole, value, REPORT_BYTES_MAX, True), name)
    except OSError as error:
        raise Unknown(f"{name}: {error.strerror}") from None


def _is_path(value: str) -> bool:
    """Whether the value is a path: it begins or ends like one, or a file has that name."""
    return bool(re.search(r"^[./~\\]|\.(?:json|txt|log|csv)$", value)) or os.path.isfile(value)


def of_file(content: bytes, name: str) -> Machine:
    """Return the machine in a report or nvidia-smi's output, or else in the description in the file."""
    content = utf8(content)
    text = content.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        return _of_report(content, name)
    found = of_nvidia_smi(text)
    if found is not None:
        return found
    if "NVIDIA-SMI has failed" in text or "Failed to initialize NVML" in text:
        raise Unknown(f"{name}: nvidia-smi failed there, so the driver and the GPU are unknown")
    if len(text) > 1000 or not text:
        raise Unknown(f"{name}: neither a JSON report of gpucheck nor the output of nvidia-smi")
    return machine(text)


def of_nvidia_smi(text: str) -> Machine | None:
    """Return the machine of nvidia-smi's table, list (-L), details (-q) or CSV; None if the text is none of these."""
    draft = Draft()
    matches = (_ROW.match(line) or _LISTED.match(line) or _PRODUCT.match(line) for line in text.splitlines())
    names = [match[1] for match in matches if match]
    driver, own = _DRIVER.search(text), _SMI.search(text)
    draft.driver = driver[1] if driver else None
    if not names:
        names = _of_csv(text, draft)
    if not names and draft.driver is None:
        return None
    draft.gpus += [_gpu(name, draft) for name in names]
    if re.search(r"\b(?:WDDM|TCC|MCDM)\b", text) and driver:
        draft.set_system("win32")
    elif (driver and own and versions.parse(own[1])[0] != versions.parse(driver[1])[0]) or "/usr/lib/wsl" in text:
        draft.set_system("linux")
        draft.wsl = True  # in WSL, nvidia-smi is for Linux, and the driver for Windows
    return finish(draft)


def _of_csv(text: str, draft: Draft) -> list[str]:
    """Read `nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv`."""
    try:
        rows = [[field.strip() for field in row] for row in csv.reader(text.splitlines()) if row]
    except csv.Error:  # a field above 131,072 characters
        return []
    header = [field.partition(" ")[0] for field in rows[0]] if rows else []
    if "name" not in header:
        return []
    names = []
    for row in rows[1:]:
        values = dict(zip(header, row, strict=False))
        if not values.get("name"):
            continue
        draft.driver = values.get("driver_version") or draft.driver
        capability = re.fullmatch(r"(\d+)\.(\d)", values.get("compute_cap", ""))
        if capability:
            draft.gpus.append(Gpu(name=values["name"], capability=(int(capability[1]), int(capability[2]))))
        else:
            names.append(values["name"])
    return names


def _gpu(name: str, draft: Draft) -> Gpu:
    """Return the GPU with a name. nvidia-smi's table truncates long names, so the capability may remain unknown."""
    found = gpus.at_start(name.lower())
    draft.implied = found[1].architecture if found is not None else draft.implied
    return Gpu(name=name, capability=gpus.named(name))


def _of_report(content: bytes, name: str) -> Machine:
    """Return the machine of a gpucheck report."""
    from gpucheck.commands.setup.read import of_facts
    from gpucheck.core.engine.recorded import Unreadable, load
    from gpucheck.core.model.fact import Facts
    from gpucheck.core.probes.interpreter import Interpreter

    try:
        recording = load(content)
    except Unreadable as error:
        raise Unknown(f"{name}: {error}") from None
    known = Facts(recording.readings)
    interpreter = known.get(Interpreter)
    pythons = (Python(version=interpreter.version, executable=interpreter.executable),) if interpreter else None
    return of_facts(known, recording.request, pythons)
