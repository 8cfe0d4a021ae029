"""A rule's manual page on a terminal, as JSON and as Markdown."""

import json

import pytest
from reports.builders import ROWS, rule

from gpucheck.engine import manual
from gpucheck.engine.plugin import load_rows, load_rules
from gpucheck.model import Scope, Severity
from gpucheck.reports import page

DOC = """The [bold]moon[/bold] is in the way.

Symptom:
    Error: moon (0x1) <nil>
      at orbit.c:12
Cause:
    Somebody put it there. That was long ago, and nobody has moved it since, although many people
    have asked.
Fix:
    1. Look at it first:
       python -c 'import moon; print(moon.phase(of="the sky"))' --with-a-very-long-option-that-does-not-fit
       Naming *every* <crater> helps.
    2. sudo rmmod moon
    3. On Kubernetes: kubectl drain and wait
    4. If nothing helps: wait; it goes
Verify:
    gpucheck --quick
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

TERMINAL = """\
moon-in-the-way · warning · scope: hardware
  GPU not detected

The [bold]moon[/bold] is in the way.

Symptom
    Error: moon (0x1) <nil>
    at orbit.c:12

Cause
    Somebody put it there. That was long ago,
    and nobody has moved it since, although many
    people have asked.

Fix
    1. Look at it first:
       python -c 'import moon; print(moon.phase(of="the sky"))' --with-a-very-long-option-that-does-not-fit
       Naming *every* <crater> helps.
    2. sudo rmmod moon
    3. On Kubernetes: kubectl drain and wait
    4. If nothing helps: wait; it goes

Verify
    gpucheck --quick

Unless
    You like it: then leave it.

Example
    The moon is in the way.

References
    https://example.org/a/very/long/address/that/does/not/fit/into/any/narrow/terminal/at/all.html

Explains
    no-light, no-tide
"""

MARKDOWN = """\
# moon-in-the-way

The [bold]moon[/bold] is in the way.

GPU not detected · warning · scope: hardware

## Symptom

```text
Error: moon (0x1) <nil>
  at orbit.c:12
```

## Cause

Somebody put it there. That was long ago, and nobody has moved it since, although many people have asked.

## Fix

1. Look at it first:

   ```sh
   python -c 'import moon; print(moon.phase(of="the sky"))' --with-a-very-long-option-that-does-not-fit
   ```

   Naming \\*every\\* \\<crater> helps.
2. ```sh
   sudo rmmod moon
   ```
3. On Kubernetes: kubectl drain and wait
4. If nothing helps: wait; it goes

## Verify

```sh
gpucheck --quick
```

## Unless

You like it: then leave it.

## Example

The moon is in the way.

## References

- https://example.org/a/very/long/address/that/does/not/fit/into/any/narrow/terminal/at/all.html

## Explains

- [no-light](no-light.md)
- [no-tide](no-tide.md)
"""


def test_terminal():
    assert page.render(PAGE, RULE, ROW, width=48, color=False, ascii=False) == TERMINAL


def test_terminal_in_ascii_and_color():
    assert page.render(PAGE, RULE, ROW, width=48, color=False, ascii=True).isascii()
    assert "\x1b[" in page.render(PAGE, RULE, ROW, width=48, color=True, ascii=False)


def test_markdown():
    assert page.render_markdown(PAGE, RULE, ROW) == MARKDOWN


def test_json():
    told = json.loads(page.render_json(PAGE, RULE, ROW))
    assert told["code"] == "moon-in-the-way"
    assert told["title"] == "The [bold]moon[/bold] is in the way."
    assert (told["row"], told["problem"], told["severity"], told["scope"]) == (
        "gpu-not-detected",
        "GPU not detected",
        "warning",
        "hardware",
    )
    assert told["explains"] == ["no-light", "no-tide"]
    assert list(told["sections"]) == [name.lower() for name in manual.SECTIONS]
    assert told["sections"]["symptom"] == "Error: moon (0x1) <nil>\n  at orbit.c:12"


@pytest.mark.parametrize("real", load_rules(), ids=lambda real: real.code)
def test_every_real_page_is_rendered(real):
    parsed, row = manual.page(real.code, real.doc), load_rows()[real.row]
    text = page.render(parsed, real, row, width=60, color=False, ascii=True)
    unbroken = {line.strip() for line in parsed.sections["References"].splitlines()}
    unbroken |= {
        command for name in ("Cause", "Fix", "Verify", "Unless") for _, found in page.blocks(parsed, name) for command in found
    }
    for line in text.splitlines():
        assert len(line) <= 60 or any(line.strip().endswith(one) for one in unbroken)
    assert page.render_markdown(parsed, real, row).startswith(f"# {real.code}\n")
