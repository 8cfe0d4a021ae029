"""The README's transcript and picture match the command's output, and its links exist."""

import html
import pathlib
import re
import time

import changes
from fakes import machine, readings
from msgspec.structs import replace

from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import Request
from gpucheck.core.model.fact import Facts
from gpucheck.core.reports import terminal

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
RULES = load_rules()


def transcript(plain, seconds, again=None, color=False, **request):
    given = [one for one in readings(plain) if one.probe != "request"]
    report = assemble(Request(**request), given, judge(Facts(readings(plain)), RULES), load_rows(), time.monotonic())
    return terminal.render(replace(report, seconds=seconds), width=100, color=color, ascii=False, verbose=False, again=again)


def failure(color=False):
    (rule,) = [rule for rule in RULES if rule.code == "cuda-libraries-unreachable"]
    example = manual.page_of(rule).example
    return transcript(changes.apply(machine(example.machine), example.changes), 6.8, again="gpucheck", color=color)


def success(color=False):
    return transcript(machine("laptop-cpu"), 6.4, color=color, allow_cpu=True)


def readme():
    """README with the current transcript; `make docs` writes it."""
    return re.sub(r"```text\n.*?```", lambda _: f"```text\n{success()}```", README, count=1, flags=re.DOTALL)


def test_transcript_matches_the_output():
    assert readme() == README, "run `make docs`"


def test_pictures_match_the_output():
    """Lines too long for a picture are compared up to column 90. `make docs` redraws the pictures."""
    for name, text in (("fail", failure()), ("pass", success())):
        drawn = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        shown = "".join(html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", "", drawn, flags=re.DOTALL)).split())
        assert [line for line in text.splitlines() if "".join(line[:90].split()) not in shown] == []


def test_links_exist():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_pip_install_never_names_the_other_gpucheck_package():
    texts = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("gpucheck/**/*.py")]
    wrong = re.compile(r"pip3? install (-[\w-]+ )*[\"']?gpucheck\b")
    assert [path.name for path in texts if wrong.search(path.read_text())] == []
