import re

import msgspec
import pytest
from reports.cases import CASES, cusolver
from reports.hostile import INJECTION, dirty, long, many, named

from gpucheck.model import Severity
from gpucheck.reports import github


def parse(text):
    """(command, title, message) per line, read as the runner's ActionCommand does."""
    commands = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice)((?: [^:]*)?)::(.*)", line)
        assert match, line
        properties = dict(item.split("=", 1) for item in match[2].strip().split(",") if item)
        title, message = properties.pop("title"), match[3]
        assert not properties
        for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            title, message = title.replace(escape, character), message.replace(escape, character)
        commands.append((match[1], title, message))
    return commands


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty, lambda: named(INJECTION)], ids=[*CASES, "long", "dirty", "named"])
def test_every_line_is_one_command_of_ours(make):
    text = github.render(make())
    assert text.endswith("\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    commands = parse(text)
    assert commands
    for kind in ("error", "warning", "notice"):
        assert sum(command == kind for command, _, _ in commands) <= 10


def test_an_injection_in_a_gpu_name_stays_text():
    (command,) = parse(github.render(named(INJECTION)))
    assert command[:2] == ("error", "gpu-lost")
    assert INJECTION.replace("\n", "%0A") not in github.render(named(INJECTION))  # its own %0A is escaped too
    assert command[2].startswith(INJECTION + " has fallen off the bus.")


def test_a_title_can_not_leave_its_property():
    assert github.command("error", "x", title="a::b,c\nd%") == "::error title=a%3A%3Ab%2Cc%0Ad%25::x\n"


def test_most_severe_first():
    kinds = [(command, title) for command, title, _ in parse(github.render(cusolver()))]
    assert kinds == [("error", "cuda-libraries-unreachable"), ("warning", "kernel-cache-unwritable")]


def test_the_rest_is_counted():
    commands = parse(github.render(many(25, "x")))
    assert len(commands) == 10
    assert commands[-1][1] == "16 more"
    assert "cause-of-trouble-24" in commands[-1][2]


def test_strict_warnings_are_errors():
    made = msgspec.structs.replace(CASES["warnings"](), exit_code=1)
    assert {command for command, _, _ in parse(github.render(made))} == {"error"}
    assert {command for command, _, _ in parse(github.render(CASES["warnings"]()))} == {"warning"}


def test_no_verdict_is_an_error():
    command, title, message = parse(github.render(CASES["unknown"]()))[0]
    assert (command, title) == ("error", "no verdict")
    assert message.split("\n") == list(CASES["unknown"]().unknown_because)


def test_summary_fits():
    made = many(3, "long text " * 50, Severity.WARNING)
    whole = github.summary(made)
    assert "# gpucheck: warn" in whole
    assert "## Facts" not in whole
    assert len(github.summary(made, 1000).encode()) <= 1000
    assert github.summary(made, 1000).startswith("# gpucheck: warn")
    assert github.summary(made, 3) == ""
