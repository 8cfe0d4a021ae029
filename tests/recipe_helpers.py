"""Shared by the tests of gpucheck/recipes: the recipes, reports as input, and third-party programs that read them.

A program that is not installed is a skip that names it: shellcheck, promtool, systemd-analyze (packages of most distributions),
check-jsonschema, kubernetes-validate (PyPI; both include the schemas) and podman-compose (PyPI).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest
from fakes import facts, readings
from one_rule import changed

import gpucheck
from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import Level, Request
from gpucheck.core.reports import json as json_report

RECIPES = pathlib.Path(gpucheck.__file__).parent / "recipes"
GPUCHECK = f'"{sys.executable}" -m gpucheck'

# Changes of one fact of the recorded H200, with the expected scope and severity.
ECC = {"gpus.gpus[0].ecc_uncorrected_volatile": 3, "gpus.gpus[0].ecc_uncorrected_aggregate": 3}  # hardware, error
PENDING = {"gpus.gpus[0].remapping_pending": True}  # hardware, warning
HELD = {"gpus.gpus[0].memory_used_bytes": 149143512678, "gpus.gpus[0].memory_free_bytes": 1 << 20}  # host, error


def example(code):
    """The changes that the page of a diagnosis gives."""
    (rule,) = [rule for rule in load_rules() if rule.code == code]
    return dict(manual.page_of(rule).example.changes)


def report(changes=None):
    """A JSON report of the quick checks on a recorded machine with changes, as text."""
    plain = changed(changes, quick=True)
    given = sorted((one for one in readings(plain) if one.probe != "request"), key=lambda one: one.probe)
    judgements = judge(facts(plain), load_rules())
    return json_report.render(assemble(Request(level=Level.QUICK), given, judgements, load_rows(), time.monotonic()))


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def installed(folder, changes=None, *, real=False, body=None):
    """A folder with ``gpucheck`` and ``python`` in it.

    Args:
        folder: is created.
        changes: gpucheck judges the recorded machine with these changes.
        real: gpucheck checks this machine instead.
        body: shell commands that replace the program.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("report.json").write_text(report(changes))
    replay = "" if real else f'--replay "{folder}/report.json" '
    program(folder / "gpucheck", f"#!/bin/sh\n{body or f'exec {GPUCHECK} {replay}' + chr(34) + '$@' + chr(34)}\n")
    program(folder / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    return folder


def impatient(folder):
    """Create a `timeout` in the folder that ends programs after 0.2 s and records its arguments; return the record."""
    real = shutil.which("timeout")
    program(
        folder / "timeout",
        f"#!/bin/sh\nprintf '%s\\n' \"$*\" >>'{folder}/limits'\nshift 3\nexec '{real}' -k 0.2 0.2 \"$@\"\n",
    )
    return folder / "limits"


def adapted(recipe, replacements):
    """A recipe's text with a user's edits; each replaced text must occur exactly once."""
    text = (RECIPES / recipe).read_text()
    for old, new in replacements.items():
        assert text.count(old) == 1, (recipe, old)
        text = text.replace(old, str(new))
    return text


def tool(name):
    """The path of a third-party program, or a skip."""
    path = shutil.which(name, path=f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ.get('PATH', '')}")
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def run(argv, env=None, **options):
    """Run a command to its end with text output; ``env`` is added to this process's environment."""
    given = {
        "capture_output": True,
        "text": True,
        "timeout": 60,
        "stdin": subprocess.DEVNULL,
        "env": {**os.environ, **(env or {})},
    }
    return subprocess.run([str(one) for one in argv], **{**given, **options})


def accepts(name, *argv):
    """Check that a third-party program accepts its input; return its output."""
    done = run([tool(name), *argv])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
