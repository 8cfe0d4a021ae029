"""Installing: pip, conda and uv."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named


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

PATTERNS = (
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION,
        ("find a version that satisfies",),
        r"find a version that satisfies the requirement "
        + _PACKAGE
        + r"(?: \(from (?!versions)[^)]*?\))?(?:.{0,40}?from versions: (?P<versions>[^)]+))?",
        _none_found,
        continuation_lines=2,
    ),
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION,
        ("no matching distribution",),
        r"No matching distribution found for " + _PACKAGE,
        _none_found,
    ),
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION,
        ("no wheels with a matching",),
        r"(?:Because )?" + _PACKAGE + r" has no wheels with a matching (?P<tag>Python (?:version|ABI)|platform)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION,
        ("only has wheels",),
        r"You're (?:using|on) .{0,80}?, but `?(?P<package>[\w.-]+)`? \(v(?P<version>[\w.]+)\) only has wheels "
        r"(?:with|for) the following (?P<tag>Python|platform)",
        lambda match: {**(named(match) or {}), "version": f"=={match['version']}"},
        continuation_lines=3,
    ),
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION,
        ("only found wheels",),
        r"only found wheels for [`']?(?P<package>[\w.-]+)[`']? \(v(?P<version>[\w.]+)\)"
        r".{0,40}?following (?P<tag>Python|platform)",
        lambda match: {**(named(match) or {}), "version": f"=={match['version']}"},
        continuation_lines=1,
    ),
    Pattern(  # poetry
        Kind.PIP_PYTHON_MISMATCH,
        ("python requirement (",),
        r"Python requirement \((?P<python>[^)\n]+)\) is not compatible with .{0,100}?"
        r"(?P<package>[\w.-]+) requires Python (?P<needed>[<>=!~^\d., ]+\d)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION,
        ("packagesnotfounderror",),
        r"PackagesNotFoundError:.{0,100}?channels:? *(?:- )?(?P<package>[\w-]+)",
        continuation_lines=3,
    ),
    # what conda's solver has no package for; __cuda stands for the driver
    Pattern(Kind.DRIVER_ABSENT, ("nothing provides __cuda",), r"nothing provides __cuda needed by (?P<package>[\w.-]+)"),
    Pattern(
        Kind.DRIVER_TOO_OLD,
        ("nothing provides __cuda",),
        r"nothing provides (?P<condition>__cuda) (?=[<>=])[^\d\n]*(?P<needed>[\d.]*\d)",
        lambda match: {"condition": "cuda", "needed": match["needed"]},
    ),
    Pattern(
        Kind.DRIVER_TOO_OLD,
        ("__cuda==",),
        r"\b__cuda==(?P<version>\d[\d.]*)=0\b(?=.{0,300}?installed version is)",
        continuation_lines=6,
    ),
    Pattern(
        Kind.PIP_NO_MATCHING_DISTRIBUTION, ("nothing provides requested",), r"nothing provides requested " + _PACKAGE, _none_found
    ),
    Pattern(
        Kind.CUDA_PACKAGE_MISSING,
        ("nothing provides", "packagesnotfounderror"),
        r"(?:nothing provides (?:requested )?|PackagesNotFoundError:.{0,100}?channels:? *(?:- )?)"
        r"(?P<package>cuda(?:-[\w-]+|toolkit)?|cudnn|libcu[a-z]+|libnpp|libnvjpeg)(?=[ =<>\n]|$)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("requires a different python",),
        r"(?:\b(?P<package>[\w.-]{1,60})['\"]? )?requires a different Python: (?P<python>[\d.]+) not in '?(?P<needed>[^'\n]+)",
    ),
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("does not satisfy python",),
        r"[Pp]ython version \(?(?P<python>[\d.]+\d)\)? does not satisfy Python(?P<needed>[<>=\d.,]+\d)"
        r"(?:.{0,300}?\b(?P<package>tensorflow[\w-]*|keras|jax\w*|torch)\b)?",
        continuation_lines=3,
    ),
    # conda and mamba
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("with the existing python installation",),
        r"with the existing python installation.{0,300}?- (?P<package>[\w-]{1,60})\S{0,60} ->"
        r" python\[version='(?P<needed>[^']{1,60})",
        continuation_lines=8,
    ),
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("conflicts with any installable",),
        r"python (?P<python>[\d.]{1,12}\d)\S{0,40} .{0,60}?conflicts with any installable",
    ),
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("is installable with the potential",),
        r"\b(?P<package>tensorflow[\w-]{0,20}|keras|jax\w{0,8}|pytorch)\b.{0,80}? is (?:not )?installable.{0,300}?"
        r"python (?P<python>[\d.]{1,12}\d)\S{0,40} .{0,60}?conflicts with",
        continuation_lines=6,
    ),
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("require a different python version",),
        r"versions that require a different python version:? ?(?P<versions>[^\n]{0,60})",
    ),
    Pattern(
        Kind.PIP_PYTHON_MISMATCH,
        ("requires-python",),
        r"requested Python version.{0,40}?does not satisfy Python(?P<needed>[<>=\d.,]+)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PIP_WHEEL_UNSUPPORTED,
        ("is not a supported wheel",),
        r"(?:(?P<file>\S{1,160}\.whl) )?is not a supported wheel on this platform",
    ),
    Pattern(
        Kind.TENSORFLOW_GPU_PACKAGE,
        ('tensorflow-gpu" package', "tensorflow-gpu' package", "tensorflow-gpu/setup.py", "tensorflow-gpu", "tensorflow_gpu"),
        r"tensorflow[-_]gpu\S?(?: \w+)? (?:is|was|has been)(?: now)? (?:deprecated|removed|replaced|retired|discontinued)"
        r"|tensorflow[-_]gpu[/-][\w.]*(?:setup\.py|tar\.gz)"
        r"|for tensorflow-gpu \(setup\.py\).{0,40}error"
        r"|install\w* [\w= -]*\btensorflow-gpu==?(?:2\.1[2-9]|2\.[2-9]\d)",
        fixed(),
    ),
    Pattern(
        Kind.PACKAGE_INSTALLED,
        ("successfully installed",),
        r"Successfully installed (?P<packages>[^\n]{0,1500})",
        _installed,
        continuation_lines=1,
    ),
    Pattern(
        Kind.PACKAGE_INSTALLED,
        ("requirement already satisfied: tensorflow",),
        r"Requirement already satisfied: (?P<package>tensorflow)(?P<extra>\[[\w,-]+\])?(?:[=<>!~][^\s]*)? in (?P<path>\S+)"
        r"(?:[^(\n]*\((?P<version>\d[\w.]*)\))?",
        _satisfied,
        continuation_lines=1,
    ),
    Pattern(
        Kind.PACKAGE_INSTALLED,
        ("name: tensorflow",),
        r"^Name: (?P<package>tensorflow) Version: (?P<version>\S+)(?:.{0,600}?\bLocation: (?P<path>\S+))?",
        continuation_lines=8,
    ),
    Pattern(Kind.PACKAGE_INSTALLED, ("tensorflow    ",), r"^(?P<package>tensorflow) {4,}(?P<version>\d+\.\d[\w.]*)"),
    Pattern(
        Kind.PIP_UNREACHABLE,
        ("newconnectionerror",),
        r"NewConnectionError|Failed to establish a new connection|Temporary failure in name resolution",
        fixed(),
    ),
    Pattern(
        Kind.PIP_CONFLICT,
        ("but you have",),
        r"\b(?P<package>[A-Za-z][\w.-]{0,60})(?: (?P<version>\d[\w.+]{0,40}))? requires (?P<needs>[\w.-]+[^,\n]{0,40}(?:,[<>=!~]"
        r"[^,\s]+)*), but you have (?P<found>[\w.-]+ [\w.+]+)",
    ),
)
