import pathlib
import re

from case_files import table

from gpucheck.core.logs.reading import patterns


def test_literals_are_plain_lower_case() -> None:
    literals = [literal for pattern in patterns.load() for literal in pattern.literals]
    assert [literal for literal in literals if not literal or literal != literal.lower()] == []


def test_every_file_is_read_to_its_end():
    folder = pathlib.Path(patterns.__file__).parent
    files = {path.stem: path.read_text() for path in folder.glob("*.txt")}
    assert set(files) == {*patterns.TOPICS, "common", "harmless", "place", "suspects"}
    headings = {topic: len(re.findall(r"^[^\s#]", text, re.MULTILINE)) for topic, text in files.items()}
    assert headings == {topic: len(patterns._BLOCK.findall(text)) for topic, text in files.items()}


def test_every_converter_is_named_by_a_pattern():
    texts = "".join(path.read_text() for path in pathlib.Path(patterns.__file__).parent.glob("*.txt"))
    public = re.findall(r"^def ([a-z]\w+)", pathlib.Path(patterns.converters.__file__).read_text(), re.MULTILINE)
    assert [name for name in public if not re.search(rf"\b{name}\(\)", texts)] == []


@table
def test_quotation_marks_stay_in_pairs(text, kept):
    found = patterns.fields.named(re.match("(?P<message>.*)", text))
    assert found.get("message") == kept
