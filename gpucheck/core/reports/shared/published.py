"""The published documentation and its page of each diagnosis, for links."""

import functools

import gpucheck

UNPUBLISHED = "/OWNER/"  # in the addresses of pyproject.toml until the first release


def page(code: str) -> str | None:
    """Return the address of the page of a diagnosis; None if the pages are not published."""
    base = documentation()
    return f"{base}/diagnoses/{code}.md" if base else None


@functools.cache
def documentation() -> str | None:
    """Return the address of docs/ from the metadata of the installed package; None if it is not published."""
    from importlib import metadata  # most runs need no link, and it takes longer than writing their report

    try:
        urls = metadata.metadata(gpucheck.DISTRIBUTION).get_all("Project-URL") or ()
    except (metadata.PackageNotFoundError, OSError, ValueError):  # gpucheck is one file, or its installation is damaged
        return None
    address = dict(url.partition(", ")[::2] for url in urls).get("Documentation", "")
    return address if address.startswith("https://") and UNPUBLISHED not in address else None
