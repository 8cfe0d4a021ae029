"""Installing: pip, conda and uv."""

import re

from gpucheck.logs.reading.signatures import Signature, each, fixed, named


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


_PACKAGE = r"(?P<package>\b[A-Za-z][\w.-]{0,60})(?:\[[\w,-]+\])? ?(?P<version>(?:[=<>!~]=?|===)[^\s(;]{1,80})?"

SIGNATURES = (
    Signature(
        "pip-no-matching-distribution",
        "find a version that satisfies",
        r"find a version that satisfies the requirement "
        + _PACKAGE
        + r"(?: \(from (?!versions)[^)]*?\))?(?:.{0,40}?from versions: (?P<versions>[^)]+))?",
        _none_found,
        reach=2,
    ),
    Signature(
        "pip-no-matching-distribution",
        "no matching distribution",
        r"No matching distribution found for " + _PACKAGE,
        _none_found,
        reach=0,
    ),
    Signature(
        "pip-no-matching-distribution",
        "no wheels with a matching",
        r"(?:Because )?" + _PACKAGE + r" has no wheels with a matching (?P<tag>Python (?:version|ABI)|platform)",
    ),
    Signature(
        "pip-no-matching-distribution",
        "only has wheels",
        r"You're (?:using|on) .{0,80}?, but `?(?P<package>[\w.-]+)`? \(v(?P<version>[\w.]+)\) only has wheels "
        r"(?:with|for) the following (?P<tag>Python|platform)",
        lambda match: {**(named(match) or {}), "version": f"=={match['version']}"},
    ),
    Signature(
        "pip-no-matching-distribution",
        "only found wheels",
        r"only found wheels for [`']?(?P<package>[\w.-]+)[`']? \(v(?P<version>[\w.]+)\)"
        r".{0,40}?following (?P<tag>Python|platform)",
        lambda match: {**(named(match) or {}), "version": f"=={match['version']}"},
        reach=1,
    ),
    Signature(  # poetry
        "pip-python-mismatch",
        "python requirement (",
        r"Python requirement \((?P<python>[^)\n]+)\) is not compatible with .{0,100}?"
        r"(?P<package>[\w.-]+) requires Python (?P<needed>[<>=!~^\d., ]+\d)",
        reach=3,
    ),
    Signature(
        "pip-no-matching-distribution",
        "packagesnotfounderror",
        r"PackagesNotFoundError:.{0,100}?channels:? *(?:- )?(?P<package>[\w-]+)",
    ),
    # what conda's solver has no package for; __cuda stands for the driver
    Signature(
        "driver-absent",
        "nothing provides __cuda",
        r"nothing provides __cuda needed by (?P<package>[\w.-]+)",
        reach=0,
    ),
    Signature(
        "driver-too-old",
        "nothing provides __cuda",
        r"nothing provides (?P<condition>__cuda) (?=[<>=])[^\d\n]*(?P<needed>[\d.]*\d)",
        lambda match: {"condition": "cuda", "needed": match["needed"]},
        reach=0,
    ),
    Signature("driver-too-old", "__cuda==", r"\b__cuda==(?P<version>\d[\d.]*)=0\b(?=.{0,300}?installed version is)", reach=6),
    Signature(
        "pip-no-matching-distribution",
        "nothing provides requested",
        r"nothing provides requested " + _PACKAGE,
        _none_found,
        reach=0,
    ),
    *each(
        "cuda-package-missing",
        ("nothing provides", "packagesnotfounderror"),
        r"(?:nothing provides (?:requested )?|PackagesNotFoundError:.{0,100}?channels:? *(?:- )?)"
        r"(?P<package>cuda(?:-[\w-]+|toolkit)?|cudnn|libcu[a-z]+|libnpp|libnvjpeg)(?=[ =<>\n]|$)",
    ),
    Signature(
        "pip-python-mismatch",
        "requires a different python",
        r"(?:\b(?P<package>[\w.-]{1,60})['\"]? )?requires a different Python: (?P<python>[\d.]+) not in '?(?P<needed>[^'\n]+)",
        reach=0,
    ),
    Signature(
        "pip-python-mismatch",
        "does not satisfy python",
        r"[Pp]ython version \(?(?P<python>[\d.]+\d)\)? does not satisfy Python(?P<needed>[<>=\d.,]+\d)"
        r"(?:.{0,300}?\b(?P<package>tensorflow[\w-]*|keras|jax\w*|torch)\b)?",
    ),
    # conda and mamba
    Signature(
        "pip-python-mismatch",
        "with the existing python installation",
        r"with the existing python installation.{0,300}?- (?P<package>[\w-]{1,60})\S{0,60} ->"
        r" python\[version='(?P<needed>[^']{1,60})",
        reach=8,
    ),
    Signature(
        "pip-python-mismatch",
        "conflicts with any installable",
        r"python (?P<python>[\d.]{1,12}\d)\S{0,40} .{0,60}?conflicts with any installable",
        reach=0,
    ),
    Signature(
        "pip-python-mismatch",
        "is installable with the potential",
        r"\b(?P<package>tensorflow[\w-]{0,20}|keras|jax\w{0,8}|pytorch)\b.{0,80}? is (?:not )?installable.{0,300}?"
        r"python (?P<python>[\d.]{1,12}\d)\S{0,40} .{0,60}?conflicts with",
        reach=6,
    ),
    Signature(
        "pip-python-mismatch",
        "require a different python version",
        r"versions that require a different python version:? ?(?P<versions>[^\n]{0,60})",
        reach=0,
    ),
    Signature(
        "pip-python-mismatch",
        "requires-python",
        r"requested Python version.{0,40}?does not satisfy Python(?P<needed>[<>=\d.,]+)",
    ),
    Signature(
        "pip-wheel-unsupported",
        "is not a supported wheel",
        r"(?:(?P<file>\S{1,160}\.whl) )?is not a supported wheel on this platform",
        reach=0,
    ),
    *each(
        "tensorflow-gpu-package",
        ('tensorflow-gpu" package', "tensorflow-gpu' package", "tensorflow-gpu/setup.py", "tensorflow-gpu", "tensorflow_gpu"),
        r"tensorflow[-_]gpu\S?(?: \w+)? (?:is|was|has been)(?: now)? (?:deprecated|removed|replaced|retired|discontinued)"
        r"|tensorflow[-_]gpu[/-][\w.]*(?:setup\.py|tar\.gz)"
        r"|for tensorflow-gpu \(setup\.py\).{0,40}error"
        r"|install\w* [\w= -]*\btensorflow-gpu==?(?:2\.1[2-9]|2\.[2-9]\d)",
        fixed(),
        reach=0,
    ),
    Signature(
        "package-installed",
        "successfully installed",
        r"Successfully installed (?P<packages>[^\n]{0,1500})",
        _installed,
        reach=1,
    ),
    Signature(
        "package-installed",
        "requirement already satisfied: tensorflow",
        r"Requirement already satisfied: (?P<package>tensorflow)(?P<extra>\[[\w,-]+\])?(?:[=<>!~][^\s]*)? in (?P<path>\S+)"
        r"(?:[^(\n]*\((?P<version>\d[\w.]*)\))?",
        _satisfied,
        reach=1,
    ),
    Signature(
        "package-installed",
        "name: tensorflow",
        r"^Name: (?P<package>tensorflow) Version: (?P<version>\S+)(?:.{0,600}?\bLocation: (?P<path>\S+))?",
        reach=8,
    ),
    Signature("package-installed", "tensorflow    ", r"^(?P<package>tensorflow) {4,}(?P<version>\d+\.\d[\w.]*)", reach=0),
    Signature(
        "pip-unreachable",
        "newconnectionerror",
        r"NewConnectionError|Failed to establish a new connection|Temporary failure in name resolution",
        fixed(),
        reach=0,
    ),
    Signature(
        "pip-conflict",
        "but you have",
        r"\b(?P<package>[A-Za-z][\w.-]{0,60})(?: (?P<version>\d[\w.+]{0,40}))? requires (?P<needs>[\w.-]+[^,\n]{0,40}(?:,[<>=!~]"
        r"[^,\s]+)*), but you have (?P<found>[\w.-]+ [\w.+]+)",
        reach=0,
    ),
)
