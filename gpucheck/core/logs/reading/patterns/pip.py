"""Installing: pip, conda and uv."""

import re

from gpucheck.core.logs.reading.patterns import named


def _none_found(match: "re.Match[str]") -> dict[str, str] | None:
    """package, the version asked for, and what the index offered to this interpreter."""
    fields = named(match) or {}
    versions = fields.pop("versions", "")
    if versions:
        listed = [version.strip() for version in versions.split(",")]
        fields["available"] = listed[0] if len(listed) == 1 else f"{listed[0]} to {listed[-1]}"
    return fields


def _installed(match: "re.Match[str]") -> dict[str, str] | None:
    """TensorFlow among the packages that pip laid down, and whether CUDA's libraries came with it."""
    listed = re.search(r"(?:^| )(tensorflow)-(\d[\w.]*)", match["packages"])
    if listed is None:
        return None
    return {"package": listed[1], "version": listed[2], "cuda": "yes" if "nvidia-cudnn-cu" in match["packages"] else "no"}


def _satisfied(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    return {**fields, "cuda": "yes" if "and-cuda" in fields.pop("extra", "") else "no"}


def _pinned(match: "re.Match[str]") -> dict[str, str] | None:
    return {**(named(match) or {}), "version": f"=={match['version']}"}
