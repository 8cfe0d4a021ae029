"""The faults of tests/cases/lab/NAME.txt, files as `case_files` reads them: what is wrong with a machine, and the expected diagnosis.

[name-of-the-fault]                    or a title for several faults, with "-- name-of-the-fault" above each
level no-smoke                         the level of the check: node, quick (default), no-smoke, default
args --timeout 8
limit_seconds 10                       of the whole run
driver gpu.0.lost = 1                  the fake driver's scenario: `fake_driver` lists its keys
env HOME = {folder}/none               {folder} is the trial's, {environment} the examined one, {shared} the healthy one
machine module = null                  a field of `Machine`; "machine" alone is one healthy GPU
shell ulimit -n 64                     before the command
do drop nvidia/cufft/lib/*             a function of `breakages`; a long last argument is indented below
-> gpu-lost                            the first finding's code; "a | b" if either is correct, "nothing" if there is no error
-> exit 0                              default: 1 with a finding, 0 without
-> verdict warn
-> also gpu-throttled                  another finding
-> nvidia RESET_GPU                    the action in NVIDIA's catalog for a hardware fault,
-> action reset-gpu                    and the action of the one root cause
"""

import functools
import json
import shlex
from pathlib import Path

import case_files
from lab import breakages
from lab.bench import NOTHING, Fault, Trial
from lab.machines import Machine

FOLDER = Path(__file__).parents[1] / "cases" / "lab"


def faults(files=("*",)):
    """Every fault of every file, or of the files with these names."""
    for path in sorted(path for name in files for path in FOLDER.glob(f"{name}.txt")):
        for case in case_files.read(path):
            yield fault(case.name or case.title, case.given, case.expected)


def fault(name, given, expected):
    """The fault of these lines."""
    fields = {"name": name, "scenario": {}, "env": {}, "args": (), "build": (), **outcome(expected)}
    for line in given:
        word, _, rest = line.partition(" ")
        key, _, value = rest.partition(" =")
        if word == "driver":
            fields["scenario"][key] = value.strip()
        elif word == "env":
            fields["env"][key] = value.strip()
        elif word == "args":
            fields["args"] += tuple(shlex.split(rest))
        elif word == "machine":
            fields["machine"] = with_field(fields.get("machine", Machine()), rest)
        elif word in ("shell", "do"):
            fields["build"] += (step(word, rest),)
        else:
            fields[word] = float(rest) if word == "limit_seconds" else rest
    return Fault(**fields)


def with_field(machine, text):
    """A machine with another value of one field."""
    if ":\n" in text:
        name, _, value = text.partition(":\n")
        return machine._replace(**{name: value})
    name, _, value = text.partition(" = ")
    return machine._replace(**{name: json.loads(value)}) if name else machine


def step(word, text):
    """The change of a line, as a function of the trial."""
    if word == "shell":
        return functools.partial(Trial.shell, line=text)
    line, _, below = text.partition(":\n")
    name, *arguments = shlex.split(line)
    arguments += [below] if below else []
    return lambda trial: getattr(breakages, name)(trial, *arguments)


def outcome(expected):
    """The expected result, as fields of a fault."""
    (first, *others) = (line.removeprefix("-> ") for line in expected)
    fields = {"expected": NOTHING if first == "nothing" else tuple(first.split(" | ")), "also": ()}
    fields["exit"] = 0 if first == "nothing" else 1
    for line in others:
        word, _, value = line.partition(" ")
        fields[word] = (*fields["also"], value) if word == "also" else int(value) if word == "exit" else value
    return fields
