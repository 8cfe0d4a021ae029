"""The cases of tests/cases/commands/*.txt, in files as `case_files` reads them: commands in a folder, and the result of the last one.

file e.toml:                  a file with the indented lines below it; or " = " and a JSON text, or a list of bytes
program script = "exit 5"     likewise, an executable file
report old.json = hgx-h200    the JSON report of a recorded machine, or of a case of reports/cases.py
env GPUCHECK_STRICT = 1
$ --quick --expect e.toml
-> 2 words                    the exit code, and words of standard error; no words mean that it is empty
-> in one line                of standard error
-> prints words               words of standard output, which is empty otherwise; "prints = " has all of it as JSON
-> writes e.toml              a new file; every new file must be listed
"""

import json
import os
import shlex

import msgspec
from command import gpucheck
from fakes import machine, readings
from reports.cases import CASES

from gpucheck.core.engine.discovery import load_rows
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import Request
from gpucheck.core.reports import json as json_report


def recorded(name):
    """The JSON report of a case, or of a recorded machine without judgements."""
    if name in CASES:
        return msgspec.json.encode(CASES[name]())
    plain = {probe: fact for probe, fact in machine(name).items() if probe != "request"}
    given = [reading for reading in readings(plain) if reading.probe != "request"]
    return json_report.render(assemble(Request(), given, [], load_rows(), 0.0))


def prepare(given, folder):
    """Write the files of a case; returns its variables and its commands."""
    env, commands = {}, []
    for line in given:
        word, _, rest = line.partition(" ")
        name, _, value = rest.partition(":\n" if ":\n" in rest else " = ")
        if word == "$":
            commands.append(rest)
        elif word == "env":
            env[name] = value
        else:
            content = recorded(value) if word == "report" else value if ":\n" in rest else json.loads(value)
            folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            folder.joinpath(name).write_bytes(content.encode() if isinstance(content, str) else bytes(content))
            folder.joinpath(name).chmod(0o755 if word == "program" else 0o644)
    return env, commands


def outcome(case, folder):
    """Return the expected lines if all of them hold; otherwise the result of the last command."""
    env, commands = prepare(case.given, folder)
    before = set(os.listdir(folder))
    for command in commands:
        done = gpucheck(*shlex.split(command), cwd=folder, env=env)
    written = sorted(set(os.listdir(folder)) - before)
    lines = [line.removeprefix("-> ") for line in case.expected]
    code, _, words = lines[0].partition(" ")
    prints = [line.removeprefix("prints ") for line in lines if line.startswith("prints ")]
    true = (
        done.returncode == int(code),
        words in " ".join(done.stderr.split()) and bool(words) == bool(done.stderr),
        "in one line" not in lines or done.stderr.count("\n") == 1,
        bool(prints) == bool(done.stdout),
        all(json.loads(text[2:]) == done.stdout if text.startswith("= ") else text in done.stdout for text in prints),
        written == [line.removeprefix("writes ") for line in lines if line.startswith("writes ")],
    )
    return case.expected if all(true) else [f"-> {done.returncode} {done.stderr}", f"-> prints {done.stdout}", *written]
