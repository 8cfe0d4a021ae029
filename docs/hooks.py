"""Adapt pages for the site: links to files outside this folder point to the repository."""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)(#[^)]*)?\)")
REPOSITORY = re.findall(r'^Repository = "(.+)"', (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[0]


def on_page_markdown(markdown, page, **_):
    """Return the page with adapted links; mkdocs calls this for each page."""
    folder = (DOCS / page.file.src_path).parent

    def absolute(match):
        target = (folder / match[1]).resolve()
        if target.is_relative_to(DOCS) or not target.exists():  # mkdocs reports links to missing files
            return match[0]
        return f"]({REPOSITORY}/blob/main/{target.relative_to(DOCS.parent).as_posix()}{match[2] or ''})"

    return LINK.sub(absolute, markdown)
