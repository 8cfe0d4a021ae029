"""The output of a lint run: terminal text, JSON, SARIF, JUnit XML, GitHub annotations."""

import json
import subprocess
import sys

import junitparser
import pytest

from gpucheck.commands.lint.reports import render
from gpucheck.commands.lint.runner import Failure, Problem, Result

FOUND = Problem(
    "a/train.py",
    None,
    3,
    5,
    4,
    "no-prefetch",
    "warning",
    "It waits — always.",
    "End it with .prefetch().",
    9,
    "    data\t.map(größe)",
)
CELL = Problem("b,1:2.ipynb", 7, 2, 1, 2, "legacy-session", "error", "Gone 100%.\nReally.", "Leave it.", 8, "tf.Session()")
BROKEN = Failure("c.py", None, 9, 1, "syntax error: invalid syntax")
ABSENT = Failure("d\udce4.py", None, None, None, "cannot be read: No such file or directory")
ALL = Result(14, (FOUND, CELL), (BROKEN, ABSENT))


def test_terminal_shows_findings_with_their_source_lines():
    assert render(ALL, "terminal", ascii=True) == (
        "a/train.py:3:5: no-prefetch: It waits - always.\n"
        "    3 |     data .map(gr??e)\n      |     ^^^^^^^^^^^^^^^^\n    do  End it with .prefetch().\n"
        "b,1:2.ipynb:cell 7:2:1: legacy-session: Gone 100%. Really.\n"
        "    2 | tf.Session()\n      | ^^^^^^^\n    do  Leave it.\n"
        "c.py:9:1: unreadable: syntax error: invalid syntax\n"
        "d?.py: unreadable: cannot be read: No such file or directory\n"
        "2 findings in 2 of 12 files, 2 unreadable\n"
    )
    assert "\x1b[33mno-prefetch\x1b[0m" in render(ALL, "terminal", color=True)
    assert "\x1b[1;31mlegacy-session\x1b[0m" in render(ALL, "terminal", color=True)


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (Result(1, (), ()), "no findings in 1 file\n"),
        (Result(0, (), ()), "no .py or .ipynb file\n"),
        (Result(2, (), (BROKEN,)), "no findings in 1 file, 1 unreadable\n"),
        (Result(1, (FOUND,), ()), "1 finding in 1 of 1 file\n"),
        (Result(1, (), (BROKEN._replace(cell=3),)), "no findings in 1 file, 1 cell unreadable\n"),
        (
            Result(3, (), (BROKEN, *[BROKEN._replace(cell=3)] * 2)),
            "no findings in 2 files, 1 unreadable, 2 cells unreadable\n",
        ),
        (Result(3, (FOUND, FOUND), ()), "2 findings in 1 of 3 files\n"),
    ],
)
def test_counts_in_the_last_line(result, line):
    assert render(result, "terminal").endswith(line)


def test_position_is_never_wrapped():
    far = FOUND._replace(file="x" * 400 + ".py")
    assert render(Result(1, (far,), ()), "terminal").startswith("x" * 400 + ".py:3:5: no-prefetch: ")


def test_json_fields_are_stable():
    got = json.loads(render(ALL, "json"))
    assert list(got) == ["schema_version", "exit_code", "files", "fixed", "findings", "unreadable"]
    assert (got["schema_version"], got["exit_code"], got["files"]) == ("1.0", 2, 14)
    assert got["findings"][0] == {
        "file": "a/train.py", "cell": None, "line": 3, "column": 5, "end_line": 4, "code": "no-prefetch", "severity": "warning",
        "message": "It waits — always.", "fix": "End it with .prefetch().", "end_column": 9, "source": "    data\t.map(größe)",
        "edit": None,
    }  # fmt: skip
    assert got["findings"][1]["cell"] == 7
    assert got["unreadable"][0] == {"file": "c.py", "cell": None, "line": 9, "column": 1, "message": BROKEN.message}
    assert got["unreadable"][1]["line"] is None


@pytest.mark.parametrize(("width", "before", "after"), [(None, 46, 38), (60, 26, 18)])
def test_long_line_is_cut_around_the_finding(width, before, after):
    long = FOUND._replace(source="x" * 500 + "tf.漢() " + "y" * 500, column=501, end_column=507, end_line=3)
    text = render(Result(1, (long,), ()), "terminal", width=width)
    line, carets = (line for line in text.splitlines() if " | " in line)
    assert line == f"    3 | {'x' * before}tf.漢() {'y' * after}"
    assert carets == f"      | {' ' * before}{'^' * 7}"


def test_sarif_has_rules_locations_and_notifications():
    """This output was validated once with OASIS' schema, which is too large to store here."""
    (run,) = json.loads(render(ALL, "sarif"))["runs"]
    assert {result["ruleId"] for result in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert all(rule["helpUri"].startswith("https://") for rule in run["tool"]["driver"]["rules"])
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places[0]["artifactLocation"]["uri"] == "a/train.py"
    region = {name: value for name, value in places[0]["region"].items() if name != "snippet"}
    assert region == {"startLine": 3, "startColumn": 5, "endLine": 4, "endColumn": 9}
    assert places[1] == {"artifactLocation": {"uri": "b%2C1%3A2.ipynb"}}
    assert run["results"][1]["message"]["text"].startswith("Cell 7, line 2: Gone")
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == 2


@pytest.mark.parametrize(
    ("address", "expected"),
    [("https://example.com/docs", "https://example.com/docs"), ("https://example.com/OWNER/docs", None)],
    ids=["published", "without an owner"],
)
def test_sarif_names_the_published_documentation(tmp_path, address, expected):
    folder = tmp_path / "keras_gpucheck-9.dist-info"
    folder.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: keras-gpucheck\nVersion: 9\nProject-URL: Documentation, {address}\n"
    (folder / "METADATA").write_text(metadata)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from gpucheck.commands.lint import reports, runner\nprint(reports.render(runner.Result(0, (), ()), 'sarif'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout)["runs"][0]["tool"]["driver"].get("informationUri") == expected


def test_junit_counts_findings_and_unreadable_files():
    suite = junitparser.JUnitXml.fromstring(render(ALL, "junit").encode("utf-8", "replace"))
    assert (suite.tests, suite.failures, suite.errors) == (4, 2, 2)
    clean = junitparser.JUnitXml.fromstring(render(Result(3, (), ()), "junit").encode())
    assert (clean.tests, clean.failures, clean.errors) == (1, 0, 0)


def test_github_annotations_are_escaped():
    assert render(ALL, "github").splitlines() == [
        "::warning file=a/train.py,line=3,col=5,endLine=4,title=no-prefetch::It waits — always. End it with .prefetch().",
        "::error file=b%2C1%3A2.ipynb,title=legacy-session (cell 7%2C line 2)::Gone 100%25.%0AReally. Leave it.",
        "::error file=c.py,line=9,col=1,title=unreadable::syntax error: invalid syntax",
        "::error file=d\udce4.py,title=unreadable::cannot be read: No such file or directory",
    ]
    assert render(Result(1, (), ()), "github") == ""


@pytest.mark.parametrize(("result", "code"), [(ALL, 2), (Result(1, (FOUND,), ()), 1), (Result(1, (), ()), 0)])
def test_exit_codes(result, code):
    assert result.exit_code == code


def test_github_paths_are_relative_to_the_repository():
    result = Result(1, (FOUND._replace(file="./a//train.py"),), ())
    assert render(result, "github").startswith("::warning file=a/train.py,line=3")
