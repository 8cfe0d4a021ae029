"""Where the lines of a text were printed, as far as it tells: in a container, or on the machine that runs it.

A person compares the two ("inside the container it fails, on the host it works"), and what one of them does well proves
nothing of the other. Prompts tell, commands that enter a container, and short remarks.
"""

import re

from gpucheck.core.logs.events import CONTAINER, HOST, PLACE, Kind
from gpucheck.core.logs.reading.patterns import Fields, Pattern

KIND = Kind.PLACE

# What is different in two places; other events carry no place.
PLACED = {
    Kind.CUDA_DRIVERS_NOT_FOUND,
    Kind.CUINIT_FAILED,
    Kind.DRIVER_ABSENT,
    Kind.DRIVER_LISTS_GPU,
    Kind.DRIVER_VERSION,
    Kind.GPU_CREATED,
    Kind.GPU_LIBRARIES_MISSING,
    Kind.GPUS_LISTED,
    Kind.LIBRARY_MISSING,
    Kind.NVML_FAILED,
}

# A line that starts with a prompt has a command behind it; those that people compare.
_COMMANDS = ("nvidia-smi", "python ", "python3 ", "docker ", "podman ", "kubectl ", "dmesg", "uname -")
_RUN = (
    r"\b(?:docker|podman|nerdctl)(?: compose)? (?:exec|run)\b|\bkubectl(?: -\S+| \S+)? exec\b|\bcrictl exec\b"
    r"|\b(?:apptainer|singularity) (?:exec|run|shell)\b"
)
_INTERACTIVE = re.compile(r"\s(?:-\w{0,8}i\w{0,8}|--interactive|shell)\b")
_ENDS_IN_SHELL = re.compile(r"(?:\b(?:ba|z|da)?sh|/bin/\w*sh)$")
_INSIDE = (
    r"\b(?:in|inside|within)(?: of)? (?:the|my|this|that|our|each|every|any)?(?: \w+)? ?(?:container|pod)s?\b"
    r"|\b(?:inside|in) docker\b|[(\[]container[)\]]|^container ?[:$#]|容器(?:内|中|里)"
)
_OUTSIDE = (
    r"\b(?:on|from) (?:the|my|our) (?:\w+ )?(?:host|node)\b|\b(?:the|my) host machine\b"
    r"|\boutside(?: of)?(?: the| my)? (?:container|docker)\b|\bbare[- ]metal\b"
    r"|[(\[]host[)\]]|^host ?[:$#]|宿主机"
)
# What is done to a place is not what it prints.
_DONE = re.compile(r"(?i)daemon-reload|\b(?:restart|reboot|reload|install|updat|upgrad|remov|kill|creat)\w*")
_SUPPOSED = re.compile(r"(?i)\bif\b")
_NEAR, _REMARK = 25, 400  # characters
_PROMPT = r"^(?:\([^)\n]{1,40}\) ?)?\[?[\w.-]+@(?P<machine>[\w.-]+)(?:[: ][^\n$#]{0,120})?\]? ?[$#](?= |$)"
# Docker names a container's machine by twelve hexadecimal digits; Kubernetes names a pod's by its deployment and two hashes.
_NAMED = re.compile(r"[0-9a-f]{12}$|.*-[a-z0-9]{8,10}-[a-z0-9]{5}$")


def _remark(where: str) -> Fields:
    def fields(match: "re.Match[str]") -> dict[str, str] | None:
        before = match.string[max(match.start() - _NEAR, 0) : match.start()]
        passing = len(match.string) > _REMARK or _DONE.search(before) or _SUPPOSED.search(match.string)
        return None if passing else {"where": where}

    return fields


def _prompt(match: "re.Match[str]") -> dict[str, str]:
    return {"where": CONTAINER} if _NAMED.match(match["machine"]) else {"where": f"{HOST} {match['machine']}"}


def _entered(match: "re.Match[str]") -> dict[str, str]:
    """For what the command prints; for good where it starts a shell."""
    line = match.string.rstrip()
    starts_shell = _INTERACTIVE.search(line) and _ENDS_IN_SHELL.search(line[-40:])
    return {"where": CONTAINER} if starts_shell else {"where": CONTAINER, "until": "prompt"}


PATTERNS = (
    Pattern(KIND, _COMMANDS, _PROMPT, _prompt),
    Pattern(
        KIND,
        ("docker ", "podman ", "nerdctl ", "kubectl ", "crictl ", "apptainer ", "singularity "),
        rf"^(?:[$#>%] )?(?:sudo )?(?:{_RUN})",
        _entered,
    ),
    Pattern(KIND, _COMMANDS, r"^\$ \S", lambda match: {"where": ""}),
    Pattern(
        KIND,
        ("container", "in docker", "inside docker", "the pod", "容器"),
        rf"(?i)(?:{_INSIDE})(?!.*(?:{_OUTSIDE}))",
        _remark(CONTAINER),
    ),
    Pattern(
        KIND,
        ("the host", "my host", "host)", "host]", "host$", "host #", "the node", "outside", "bare metal", "bare-metal", "宿主机"),
        rf"(?i)(?:{_OUTSIDE})(?!.*(?:{_INSIDE}))",
        _remark(HOST),
    ),
)


class Origin:
    """Where the lines being read were printed."""

    def __init__(self) -> None:
        self._stays = self._now = ""

    def update(self, fields: dict[str, str]) -> None:
        """Take in what a line says of it."""
        if "until" in fields:
            self._stays = self._stays or HOST  # who enters a container is outside of it
            self._now = fields["where"]
        elif fields["where"]:
            self._stays = self._now = fields["where"]
        else:  # a prompt that does not say where it is: where the last one was, before a command of its own
            self._now = self._stays

    def stamp(self, kind: Kind, fields: dict[str, str]) -> dict[str, str]:
        """The fields of an event, with its place if that is known and matters."""
        return {**fields, PLACE: self._now} if self._now and kind in PLACED else fields
