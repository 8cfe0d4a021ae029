"""The cases of tests/cases/probes/NAME.txt, a file as `case_files` reads it: a fake machine, and the fields that the probe reads.

file /proc/self/cgroup = "0::/\\n"        a file; several lines are indented below it
link /dev/a -> /dev/b
folder /home/me                          an empty folder
unwritable /home/me
node /dev/nvidia0 = 438                  a character device with its mode
env HOME = /home/me
program dmesg = "text"                   its output; or the values of Completed
site = {"version": "2.20.0"}             an environment with TensorFlow and NVIDIA's wheels: the arguments of `site_packages.site`
library /opt/libcudnn.so.9 = {}          a compiled library: the arguments of `tiny_elf.library`, and "damage"
cached libcudnn.so.9 = /opt/libcudnn.so.9   an entry of ld.so.cache
gone /opt/libcudnn.so.9                  without a file of the site
memory = [68719476736, 53687091200]      any other argument of FakeHost
-> cpu_count = 8                         each field of the fact that is known and not empty; or "nothing"
-> ValueError: its text                  if the probe raises

In libraries.txt, each case after the first lists only its differences from the first.
"""

import importlib
import json
import pkgutil
from pathlib import Path

import msgspec
import tiny_elf
from fakes import FakeChild, FakeHost
from site_packages import INTERPRETER, QUICK, site

from gpucheck.core.child import messages
from gpucheck.core.child.messages import Stage
from gpucheck.core.cluster.members import members
from gpucheck.core.host import Completed, Disk, Memory
from gpucheck.core.model import Request
from gpucheck.core.probes._loader import Loader
from gpucheck.core.probes.training import gpu_count

CALLER = "/site/tensorflow/caller.so"
MESSAGES = {
    name: kind
    for module in ["", *(f".{module.name}" for module in pkgutil.iter_modules(messages.__path__))]
    for name, kind in vars(importlib.import_module(messages.__name__ + module)).items()
    if isinstance(kind, type)
}
FOLDER = Path(__file__).parent / "cases" / "probes"
GROUPS = {"file": "files", "link": "links", "node": "nodes", "env": "env", "program": "programs", "child": "children"}
DAMAGES = {"truncated": tiny_elf.truncated, "aarch64": tiny_elf.aarch64}
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
    """The fake machine of a case."""
    arguments, cached = {}, []
    for line in given:
        word, _, rest = line.partition(" ")
        if word in GROUPS:
            name, value = entry(word, rest)
            arguments.setdefault(GROUPS[word], {})[name] = value
        elif word in LISTS:
            arguments[LISTS[word]] = (*arguments.get(LISTS[word], ()), rest)
        elif word == "site":
            arguments |= {"files": site(**json.loads(rest.removeprefix("= "))), "interpreter": INTERPRETER, "request": QUICK}
        elif word == "library":
            path, _, options = rest.partition(" = ")
            arguments.setdefault("files", {})[path] = library(path, **json.loads(options))
        elif word == "cached":
            cached.append(tuple(rest.split(" = ")))
            arguments.setdefault("files", {})["/etc/ld.so.cache"] = tiny_elf.cache(*cached)
        elif word == "gone":
            del arguments["files"][rest]
        else:
            arguments[word] = TYPES.get(word, lambda value: value)(json.loads(rest.removeprefix("= ")))
    return FakeHost(**arguments)


def library(path, damage=None, soname=None, **options):
    """Return a compiled library, possibly damaged."""
    data = tiny_elf.library(soname or path.rpartition("/")[2], **options)
    return DAMAGES[damage](data) if damage else data


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


def read_copy(machine):
    """The copy of libtiny.so.1 that the loader selects for the library caller.so."""
    copy = Loader(machine, CALLER).find("libtiny.so.1")
    return {} if copy is None else copy


def fact(probe, case):
    """Return the fact that the probe reads."""
    return reader(probe)(host(case.given))


def reader(probe):
    """The probe's function; for members.txt the search for workers that train together, for loader.txt the loader's search."""
    own = {"members": read_members, "loader": read_copy}.get(probe)
    return own or importlib.import_module(f"gpucheck.core.probes.{probe}").read


def read_members(machine):
    found = members(machine, gpu_count(machine))
    return {"reason": found} if isinstance(found, str) else {**found._asdict(), "joined": found.joined}


def outcome(probe, case, first=None):
    """Return the output lines, without those of a first case."""
    machine = host(case.given)
    try:
        read = msgspec.to_builtins(reader(probe)(machine))
        fields = differing(read, msgspec.to_builtins(fact(probe, first))) if first not in (None, case) else known(read)
        lines = lines_of(fields) or ["-> nothing"]
    except Exception as error:  # each probe has its own
        lines = [f"-> {type(error).__name__}: {error}"]
    return lines + [f"-> {activity}" for activity in activities(machine)]


def differing(fact, other):
    """The differing fields; entries of a list by position or soname, and complete if most of their fields differ."""
    lines = {}
    for name, value in fact.items():
        if not all(
            isinstance(entries, (list, tuple)) and entries and isinstance(entries[0], dict) for entries in (value, other[name])
        ):
            lines |= {name: value} if value != other[name] else {}
            continue
        if len(value) != len(other[name]):
            lines[f"number of {name}"] = len(value)
        for place, (entry, like) in enumerate(zip(value, other[name])):  # noqa: B905
            label = f"{name}[{entry.get('soname', place)}]"
            fields = {f"{label}.{field}": entry[field] for field in entry if entry[field] != like[field]}
            lines |= fields if len(fields) < 5 else {label: known(entry)}
    return lines


def lines_of(fields):
    """A line for each field."""
    return [f"-> {name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]


def activities(machine):
    """Yield the actions on the machine: started programs and children, messages sent to them, connections."""
    yield from (f"runs {' '.join(argv)}" for argv in machine.ran)
    yield from dict.fromkeys(
        f"asks {task.child} {json.dumps(known(msgspec.to_builtins(task)), default=list)}" for task in machine.asked
    )
    for name, child in machine.child_of.items():
        yield from (f"tells {name} {type(message).__name__}" for message in child.sent)
    yield from (f"connects to {address}" for address in machine.connected)


def known(value):
    """Return the value without unknown and empty fields."""
    if isinstance(value, dict):
        return {name: known(one) for name, one in value.items() if one is not None and one not in ([], {}, ())}
    return [known(one) for one in value] if isinstance(value, (list, tuple)) else value
