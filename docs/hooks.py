"""Adapt pages for the site: links to files outside this folder, names of columns for phones, the version, links to edit."""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent
# Not only a page's title counts in the search: whoever has a message looks for the diagnosis that shows it.
BOOSTS = (("diagnoses/README", 0.5), ("diagnoses/", 4), ("lint/README", 0.5), ("lint/", 2), ("decisions/", 0.2), ("wheels", 0.05))
SYMPTOM = re.compile(r"^## Symptom\n(.*?)^## ", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)(#[^)]*)?\)")
REPOSITORY = re.findall(r'^Repository = "(.+)"', (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[0]
_PACKAGE = DOCS.parent / "gpucheck/__init__.py"
VERSION = re.findall(r'^__version__ = "(.+)"', _PACKAGE.read_text(encoding="utf-8"), re.MULTILINE)[0]


def on_config(config):
    """Show the version; link to the repository, and to edit each page, once pyproject.toml names the owner."""
    config.copyright = f"gpucheck {VERSION}"
    if "/OWNER/" not in REPOSITORY:
        config.repo_url, config.edit_uri = REPOSITORY, "edit/main/docs/"
    return config


def on_page_content(html, **_):
    """Return the page with the name of its column on each cell, which a phone shows instead of the table's head."""
    return re.sub(r"<table>.*?</table>", _labelled, html, flags=re.DOTALL)


def _labelled(table):
    names = [re.sub(r"<[^>]+>", "", name) for name in re.findall(r"<th[^>]*>(.*?)</th>", table[0], re.DOTALL)]
    rows = re.split(r"(?=<tr>)", table[0])
    for place, row in enumerate(rows):
        columns = iter(names)
        rows[place] = re.sub(r"<td(?=[ >])", lambda _, columns=columns: f'<td data-name="{next(columns, "")}"', row)
    return "".join(rows)


def on_page_markdown(markdown, page, **_):
    """Return the page with adapted links, and rank it for the search; mkdocs calls this for each page."""
    folder = (DOCS / page.file.src_path).parent
    symptom = SYMPTOM.search(markdown)
    lines = symptom[1].splitlines() if symptom else ()
    page.meta["tags"] = [line.removeprefix("- ") for line in lines if line and not line.startswith("```")]
    page.meta["search"] = {"boost": next((boost for path, boost in BOOSTS if page.file.src_uri.startswith(path)), 1)}

    def absolute(match):
        target = (folder / match[1]).resolve()
        if target.is_relative_to(DOCS) or not target.exists():  # mkdocs reports links to missing files
            return match[0]
        return f"]({REPOSITORY}/blob/main/{target.relative_to(DOCS.parent).as_posix()}{match[2] or ''})"

    return LINK.sub(absolute, markdown)
