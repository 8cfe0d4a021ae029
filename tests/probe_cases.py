"""The cases of tests/cases/probes/NAME.txt, a file as `case_files` reads it: a machine that never was, and what the probe reads.

file /proc/self/cgroup = "0::/\\n"        a file; one of several lines has them below it, indented
link /dev/a -> /dev/b
folder /home/me                          one that lies there empty
unwritable /home/me
node /dev/nvidia0 = 438                  a character device with its mode
env HOME = /home/me
program dmesg = "text"                   what it prints; or the values of Completed
memory = [68719476736, 53687091200]      any other argument of FakeHost
-> cpu_count = 8                         each field of the fact that is known and not empty; or "nothing"
-> ValueError: its text                  where the probe raises
"""

import importlib
import json
import pkgutil
from pathlib import Path

import msgspec
from fakes import FakeChild, FakeHost

from gpucheck.child import messages
from gpucheck.child.messages import Stage
from gpucheck.cluster.members import members
from gpucheck.host import Completed, Disk, Memory
from gpucheck.model import Request

MESSAGES = {
    name: kind
    for module in ["", *(f".{module.name}" for module in pkgutil.iter_modules(messages.__path__))]
    for name, kind in vars(importlib.import_module(messages.__name__ + module)).items()
    if isinstance(kind, type)
}
FOLDER = Path(__file__).parent / "cases" / "probes"
GROUPS = {"file": "files", "link": "links", "node": "nodes", "env": "env", "program": "programs", "child": "children"}
LISTS = {"folder": "folders", "unwritable": "unwritable"}
TYPES = {
    "memory": lambda value: Memory(*value),
    "disks": lambda value: {path: Disk(*sizes) for path, sizes in value.items()},
    "request": lambda value: msgspec.convert(value, Request),
    "uname": tuple,
    "processors": tuple,
    "interpreter": lambda value: value if isinstance(value, str) else {**value, "path": tuple(value.get("path", ()))},
}


def host(given):
    """The machine."""
    arguments = {}
    for line in given:
        word, _, rest = line.partition(" ")
        if word in GROUPS:
            name, value = entry(word, rest)
            arguments.setdefault(GROUPS[word], {})[name] = value
        elif word in LISTS:
            arguments[LISTS[word]] = (*arguments.get(LISTS[word], ()), rest)
        else:
            arguments[word] = TYPES.get(word, lambda value: value)(json.loads(rest.removeprefix("= ")))
    return FakeHost(**arguments)


def entry(word, rest):
    """The name and the value of a file, link, device, variable or program."""
    if ":\n" in rest:
        name, _, text = rest.partition(":\n")
        return name, child(text.splitlines()) if word == "child" else text
    if word == "link":
        name, _, target = rest.partition(" -> ")
        return name, target
    name, _, text = rest.partition(" = ")
    value = text if word == "env" else json.loads(text)
    return name, Completed(*value) if isinstance(value, list) else value


def child(lines):
    """A child that already ended."""
    said, ending = [], {}
    for line in lines:
        name, equals, value = line.partition(" = ")
        if equals and name in ("how", "stage", "log", "starved"):
            ending[name] = Stage(*json.loads(value)) if name == "stage" else json.loads(value)
            continue
        job, bar, message = line.rpartition(" | ")
        kind, _, fields = message.partition(" ")
        made = msgspec.convert(json.loads(fields), MESSAGES[kind])
        said.append((job, made) if bar else made)
    return FakeChild(*said, **ending)


def fact(probe, case):
    """What the probe reads."""
    return reader(probe)(host(case.given))


def reader(probe):
    """The probe's function, or for members.txt that which finds out which workers train together."""
    return read_members if probe == "members" else importlib.import_module(f"gpucheck.probes.{probe}").read


def read_members(machine):
    found = members(machine)
    return {"reason": found} if isinstance(found, str) else {**found._asdict(), "joined": found.joined}


def outcome(probe, case):
    """The lines that come out."""
    machine = host(case.given)
    try:
        fields = known(msgspec.to_builtins(reader(probe)(machine)))
        lines = lines_of(fields) or ["-> nothing"]
    except Exception as error:  # each probe has its own
        lines = [f"-> {type(error).__name__}: {error}"]
    return lines + [f"-> {deed}" for deed in deeds(machine)]


def lines_of(fields):
    """A line for each field."""
    return [f"-> {name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]


def deeds(machine):
    """What was done to the machine: programs and children that were started, what these were told, connections."""
    yield from (f"runs {' '.join(argv)}" for argv in machine.ran)
    yield from dict.fromkeys(
        f"asks {task.child} {json.dumps(known(messages.fields_of(task)), default=list)}" for task in machine.asked
    )
    for name, child in machine.child_of.items():
        yield from (f"tells {name} {type(message).__name__}" for message in child.sent)
    yield from (f"connects to {address}" for address in machine.connected)


def known(value):
    """Without what is unknown or empty."""
    if isinstance(value, dict):
        return {name: known(one) for name, one in value.items() if one is not None and one not in ([], {}, ())}
    return [known(one) for one in value] if isinstance(value, (list, tuple)) else value
