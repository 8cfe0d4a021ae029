"""Every branch of a rule and of a combiner has a case: each Skip, each "and 2 more", each kind of Finding."""

import os
import pathlib
import subprocess
import sys

from case_files import CASES

HERE = pathlib.Path(__file__).parent
KNOWN = CASES / "branches_without_case.txt"


def test_every_branch_has_a_case():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}
    done = subprocess.run(
        [sys.executable, HERE / "branches.py"], env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    untaken = [line.split("\t") for line in done.stdout.splitlines()]
    known = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    found = [f"{place.partition(':')[0]}: {what}" for place, what in untaken]
    new = [f"{place}: {what}" for (place, what), short in zip(untaken, found, strict=True) if short not in known]
    assert new == [], f"add a case for each to tests/cases/rules, so that the condition has both values: {new}"
    assert sorted(known) == sorted(found), f"these have a case now; remove them from {KNOWN.name}"
