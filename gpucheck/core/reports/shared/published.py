"""The address of the published documentation, for links."""

import functools

from gpucheck import DISTRIBUTION

UNPUBLISHED = "/OWNER/"  # in the addresses of pyproject.toml until the first release


@functools.cache
def documentation() -> str | None:
    """Return the address of docs/ from the metadata of the installed package; None if it is not published."""
    from importlib import metadata  # most runs need no link, and it takes longer than writing their report

    try:
        urls = metadata.metadata(DISTRIBUTION).get_all("Project-URL") or ()
    except (metadata.PackageNotFoundError, OSError, ValueError):  # gpucheck is one file, or its installation is damaged
        return None
    address = dict(url.partition(", ")[::2] for url in urls).get("Documentation", "")
    return address if address.startswith("https://") and UNPUBLISHED not in address else None
