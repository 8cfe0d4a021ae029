"""The table names every recipe, and every link leads somewhere."""

import re

from recipes import EXAMPLES

README = (EXAMPLES / "README.md").read_text()
FILES = {path for path in EXAMPLES.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_every_file_is_named_and_every_link_leads_somewhere():
    links = {(EXAMPLES / link).resolve() for link in re.findall(r"\]\((?!https?:)([^)#]+)", README)}
    assert all(path.is_file() for path in links)
    assert {path for path in FILES if path.name != "README.md"} <= links


def test_the_distributions_name_is_ours():
    for path in FILES:
        assert not re.search(r"pip install (\S+ )*[\"']?gpucheck\b", path.read_text()), path
