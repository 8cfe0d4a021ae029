"""A command that stands after its limit is ended with a whole report of what is known by then."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = str(pathlib.Path(__file__).parents[2])
# Where the run stands for ever, once; the thread that ends the command comes by a second time.
STANDS = """
import importlib, sys, threading
place, name = sys.argv.pop(1).rsplit(".", 1)
module, once = importlib.import_module(place), []
real = getattr(module, name)
def standing(*args, **named):
    if not once or always:
        once.append(1)
        threading.Event().wait()
    return real(*args, **named)
always = sys.argv.pop(1) == "always"
setattr(module, name, standing)
from gpucheck.cli import main
main()
"""
PLACES = {
    "judging": "gpucheck.engine.pipeline.decide",
    "rendering": "gpucheck.reports.json.render",
    "redaction": "gpucheck.redact.redact",
}


def ended(place, how, *args):
    command = [sys.executable, "-c", STANDS, place, how, "--quick", "--allow-cpu", "--timeout", "4", "--redact", *args]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (
        3,
        "gpucheck: ended at its time limit: something that it waits for does not answer\n",
    )
    return done.stdout


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_is_known_is_reported(place):
    report = json.loads(ended(place, "once", "--format", "json"))
    assert (report["verdict"], report["exit_code"]) == ("unknown", 3)
    assert "ended at its time limit" in report["unknown_because"][0]
    assert next(probe["status"] for probe in report["probes"] if probe["name"] == "limits") == "ok"
    assert {outcome["status"] for outcome in report["outcomes"]} >= {"clear", "skipped"}


def test_it_is_in_the_format_that_was_asked_for():
    assert "ended at its time limit" in ended(PLACES["judging"], "once", "--format", "markdown")


def test_what_stands_for_its_thread_too_leaves_a_line():
    assert ended(PLACES["rendering"], "always", "--format", "json") == ""
