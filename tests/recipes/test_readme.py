"""The table names every recipe, and every link resolves."""

import re

from recipe_helpers import RECIPES

README = (RECIPES / "README.md").read_text()
FILES = {path for path in RECIPES.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_every_recipe_is_linked_and_every_link_resolves():
    links = {(RECIPES / link).resolve() for link in re.findall(r"\]\((?!https?:)([^)#]+)", README)}
    assert all(path.is_file() for path in links)
    assert {path for path in FILES if path.name != "README.md"} <= links


def test_pip_install_uses_the_name_of_our_distribution():
    for path in FILES:
        assert not re.search(r"pip install (\S+ )*[\"']?gpucheck\b", path.read_text()), path


def test_docs_do_not_install_unpublished_releases():
    """No release is on an index yet; only docs/install.md has the command for later."""
    folder = RECIPES.parents[1]
    files = [*folder.glob("gpucheck/**/*.py"), *folder.glob("docs/**/*.md"), *RECIPES.rglob("*"), folder / "README.md"]
    wrong = re.compile(r"(?:(?<!un)install|inject|--from)\b[^\n]*keras-gpucheck(?!/)")
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.is_file() and file.suffix not in (".pyc", ".json")}
    assert {file: wrong.findall(text) for file, text in texts.items() if wrong.search(text) and file.name != "install.md"} == {}
