"""A rule's manual page on a terminal and as JSON; ``test_docs.py`` has it as Markdown."""

import json
import pathlib

from reports.builders import ROWS, rule

from gpucheck.commands.explain import page
from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.model import Scope, Severity

DOC = """The [bold]moon[/bold] is in the way.

Symptom:
    Error: moon (0x1) <nil>
      at orbit.c:12
Cause:
    Somebody put it there. That was long ago, and nobody has moved it since, although many people
    have asked.
Fix:
    1. Look at it first:
       $ python -c 'import moon; print(moon.phase(of="the sky"))' --with-a-very-long-option-that-does-not-fit
       Naming *every* <crater> helps.
    2. Take it away
       $ sudo rmmod moon
    3. On Kubernetes: kubectl drain and wait
    4. If nothing helps: wait; it goes
Verify:
    $ gpucheck --quick
Unless:
    You like it: then leave it.
Example:
    driver.status = "failed"
    -> The moon is in
       the way.
References:
    https://example.org/a/very/long/address/that/does/not/fit/into/any/narrow/terminal/at/all.html
"""
RULE = rule("moon-in-the-way", Severity.WARNING, Scope.HARDWARE, explains=("no-light", "no-tide"), doc=DOC)
PAGE = manual.page(RULE.code, DOC)
ROW = ROWS[RULE.row]

GOLDEN = pathlib.Path(__file__).parent / "golden" / "pages"


def test_page_matches_recorded_files():
    assert page.render(PAGE, RULE, ROW, width=48, color=False, ascii=False) == (GOLDEN / "moon.txt").read_text()
    assert json.loads(page.render_json(PAGE, RULE, ROW)) == json.loads((GOLDEN / "moon.json").read_text())
    assert page.render(PAGE, RULE, ROW, width=48, color=False, ascii=True).isascii()
    assert "\x1b[" in page.render(PAGE, RULE, ROW, width=48, color=True, ascii=False)


def test_every_real_page_is_rendered():
    rows, wide = load_rows(), []
    for real in load_rules():
        parsed, row = manual.page_of(real), rows[real.row]
        unbroken = {line.strip() for line in parsed.sections["References"].splitlines()}
        for section in ("Cause", "Fix", "Verify", "Unless"):
            unbroken |= {command for _, commands in page.blocks(parsed, section) for command in commands}
        for line in page.render(parsed, real, row, width=60, color=False, ascii=True).splitlines():
            if len(line) > 60 and not any(line.strip().endswith(whole) for whole in unbroken):
                wide.append((real.code, line))
    assert wide == []
