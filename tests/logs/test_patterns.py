import pathlib
import re

from case_files import table
from log_cases import line_cases

from gpucheck.core.logs.reading import patterns


def test_literals_are_plain_lower_case() -> None:
    literals = [literal for pattern in patterns.load() for literal in pattern.literals]
    assert [literal for literal in literals if not literal or literal != literal.lower()] == []


def test_every_block_of_a_pattern_file_is_parsed():
    folder = pathlib.Path(patterns.__file__).parent
    files = {path.stem: path.read_text() for path in folder.glob("*.txt")}
    assert set(files) == {*patterns.TOPICS, "common", "harmless", "place", "suspects"}
    headings = {topic: len(re.findall(r"^[^\s#]", text, re.MULTILINE)) for topic, text in files.items()}
    common = {}
    assert list(patterns.parsed(files.pop("common"), common)) == []
    assert len(common) == headings.pop("common")
    assert headings == {topic: blocks(text, common) for topic, text in files.items()}


def blocks(text, common):
    """Count the patterns and the parts of a file."""
    parts = dict(common)
    return len(list(patterns.parsed(text, parts))) + len(parts) - len(common)


def test_every_converter_is_used_by_a_pattern():
    texts = "".join(path.read_text() for path in pathlib.Path(patterns.__file__).parent.glob("*.txt"))
    public = re.findall(r"^def ([a-z]\w+)", pathlib.Path(patterns.converters.__file__).read_text(), re.MULTILINE)
    assert [name for name in public if not re.search(rf"\b{name}\(\)", texts)] == []


@table
def test_unbalanced_quotation_marks_are_removed(text, kept):
    found = patterns.fields.named(re.match("(?P<message>.*)", text))
    assert found.get("message") == kept


def test_exceptions_and_field_conversions_of_a_pattern_are_parsed():
    regex = r"lost (?P<name>\w+) (?P<place>\S+)"
    lines = [regex, "unless never", "grave=yes where again", "=> lower, gpu -> card, until=now, +2 lines"]
    text = "".join(f"{line}\n" for line in ["other: lost", *(f"    {line}" for line in lines)])
    (pattern,) = patterns.parsed(text, {})
    assert (pattern.kind, pattern.literals) == ("other", ("lost",))
    assert (pattern.regex, pattern.continuation_lines, pattern.regexes) == (regex, 2, (regex, "never", "again"))
    fields = [pattern.fields(re.search(pattern.regex, line)) for line in ("never lost GPU X", "lost GPU X", "lost CPU Y again")]
    assert fields == [
        None,
        {"name": "card", "place": "x", "until": "now"},
        {"name": "cpu", "place": "y", "until": "now", "grave": "yes"},
    ]


def test_every_program_error_has_a_test_line_and_a_cure():
    forms = patterns.load(("programs",))
    lines = [case.text for case in line_cases("programs.toml") if case.fields is not None]
    unused = [form.regex for form in forms if not any(re.search(form.regex, line) for line in lines)]
    assert unused == []
    assert [form.regex for form in forms if "cure" not in dict(form.constants)] == []
