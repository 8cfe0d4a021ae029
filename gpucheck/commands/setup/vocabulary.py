"""The words of a machine's description, as patterns for lower-case text (``describe`` reads them)."""

import re

KEYS = {
    **dict.fromkeys(("gpu", "gpus", "capability", "system", "os", "arch", "architecture", "machine", "processor"), ""),
    **{name: name for name in ("driver", "python", "glibc", "tpu", "jetpack")},
}  # key of key=value -> the word to put before its value
MAY_BE_ABSENT = ("gpu", "gpus", "driver")  # keys with the value "none"

DISTRIBUTIONS = {
    "ubuntu": "ubuntu",
    "debian": "debian",
    "rhel": r"rhel|red ?hat(?: enterprise linux)?",
    "centos": r"centos(?: stream| linux)?",
    "rocky": r"rocky(?: ?linux)?",
    "alma": r"alma(?: ?linux)?",
    "oracle": r"oracle(?: linux)?",
    "scientific": r"scientific linux",
    "amazon": r"amazon linux|al",
    "fedora": "fedora",
    "sles": r"sles|suse(?: linux enterprise)?(?: server)?|opensuse leap|opensuse",
    "mint": r"(?:linux )?mint",
    "pop": r"pop!?_?os!?",
    "arch": r"arch linux|archlinux",
    "gentoo": "gentoo",
    "manjaro": "manjaro",
    "nixos": "nixos",
    "tumbleweed": r"(?:opensuse )?tumbleweed",
    "alpine": r"alpine(?: linux)?",
}

# Releases by their code names.
CODE_NAMES = {
    "focal": "Ubuntu 20.04",
    "jammy": "Ubuntu 22.04",
    "noble": "Ubuntu 24.04",
    "bullseye": "Debian 11",
    "bookworm": "Debian 12",
    "trixie": "Debian 13",
}

_VERSION = r"\d{3}(?:\.\d{1,3}){0,2}"
_MACOS = r"(?: (?:monterey|ventura|sonoma|sequoia|tahoe))?"
_YEAR = r"(?: (?:early |mid |late )?20\d\d)?"  # of a Mac
_MODEL = r"(?:[ -]?(?:gold|silver|platinum|e\d|w))?(?:[ -]?\w*\d\w*)?"
_POD = r"v5lite(?:pod)?(?:-\d+)?"

# (kind of word, pattern); the groups are those that ``describe`` reads for this kind.
READ: tuple[tuple[str, str], ...] = (
    ("driver", rf"(?:nvidia )?(?:windows )?driver(?: version)?:? ?v?(?P<driver>{_VERSION})|(?P<bare>{_VERSION})(?: driver)?"),
    ("number", r"(?P<number>\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)"),
    ("capability", r"(?:compute capability|capability|compute|cc|sm)[ _]?(?P<major>\d{1,2})\.?(?P<minor>\d)a?"),
    ("python", r"(?:c?python|py) ?(?P<python>\d(?:\.\d{1,2}){1,2})"),
    ("distribution", rf"(?P<name>{'|'.join(DISTRIBUTIONS.values())})(?: ?(?P<version>\d[\d.]*))?(?: lts)?"),
    ("value", r"glibc ?(?P<glibc>\d\.\d{1,2})"),
    ("value", r"jetpack ?(?P<jetpack>\d)(?:\.\d+)*"),
    ("tpu", rf"(?:google )?(?:cloud )?tpu(?:[ -]?(?P<tpu>v\d[ep]?(?:-\d+)?|{_POD}|v?7x|8[it]))?"),
    ("tpu", rf"(?P<tpu>v[23456][ep]?(?:-\d+)?|{_POD}|tpu7x|tpu8[it]|v7x|ironwood|trillium)(?: tpu)?"),
    ("refused", r"(?:cuda|rocm|cudnn)(?: (?:version|toolkit))?:? ?\d[\d.]*|(?:tensorflow|keras|jax|(?:py)?torch) ?[\d.]*"),
    ("refused", r"wsl ?1|(?:google )?colab|kaggle"),
    ("nothing", r"and|with|on|in|under|running|native|a|an|the|(?:nvidia )?gpus?"),
    ("nothing", r"(?:virtual )?machine|vm|server|laptop|desktop|64[- ]?bit"),
)

# (what the word sets, pattern)
SET: tuple[tuple[dict[str, object], str], ...] = (
    ({"system": "linux"}, r"linux|gnu/linux"),
    (
        {"system": "linux", "wsl": True},
        r"(?:windows (?:10|11) )?(?:with |in |under )?wsl ?2?|windows subsystem for linux(?: 2)?",
    ),
    ({"system": "win32"}, r"(?:native )?windows(?: server)?(?: (?:10|11|20\d\d))?(?: (?:home|pro|native))?|win32|win(?: ?1[01])"),
    (
        {"system": "darwin"},
        rf"macos{_MACOS}(?: \d[\d.]*)?{_MACOS}|mac os x|darwin|(?:macbook(?: (?:air|pro))?|imac|mac mini|mac){_YEAR}",
    ),
    (
        {"system": "darwin", "architecture": "x86_64"},
        rf"intel (?:i?mac|macbook)(?: pro| air)?{_YEAR}|(?:mac|macos|macbook)(?: pro| air)? (?:on |with )?intel",
    ),
    ({"system": "darwin", "architecture": "arm64"}, r"apple silicon"),
    ({"system": "linux", "musl": True}, r"musl(?: libc)?"),
    ({"architecture": "x86_64"}, r"x86[_-]64|amd64|x64|intel 64"),
    ({"architecture": "x86_64"}, rf"(?:intel )?xeon{_MODEL}|(?:amd )?(?:epyc|threadripper)(?: \d\w*)?"),
    ({"architecture": "x86_64"}, r"(?:intel )?core i[3579](?:-?\d\w*)?|(?:amd )?ryzen [3579](?: \d\w*)?"),
    ({"architecture": "aarch64"}, r"aarch64|arm64|arm|(?:aws )?graviton ?\d?|raspberry pi(?: \d)?|ampere altra|grace(?: cpu)?"),
    ({"architecture": "ppc64le"}, r"ppc64le|power ?(?:8|9|10)|ibm power"),
    ({"architecture": "riscv64"}, r"riscv64"),
    ({"architecture": "s390x"}, r"s390x"),
    ({"avx": False}, r"(?:no|without) avx"),
    ({"no_gpu": True}, r"(?:no|without(?: a)?|0) gpus?|cpu(?:[ -]only)?|no accelerator"),
    ({"no_driver": True}, r"(?:no|without(?: a)?) (?:nvidia )?driver"),
)

# Words that do not describe a machine on which TensorFlow is installed, by a part of the word.
_BY_PIP = "is not needed, because pip installs it: give the driver (nvidia-smi prints it), for example driver 535"
_NOTEBOOK = "has TensorFlow: choose a GPU in the notebook's menu, and run gpucheck there"
REFUSED = {
    "cuda": _BY_PIP,
    "cudnn": _BY_PIP,
    "rocm": "is not needed: AMD's images contain it",
    "colab": _NOTEBOOK,
    "kaggle": _NOTEBOOK,
    "wsl": "gives programs no GPU: convert it with wsl --set-version DISTRIBUTION 2, and use the word WSL2",
}
NOT_OF_A_MACHINE = "does not describe a machine: use --tensorflow for a release, and --backend for JAX or PyTorch"

# The beginning of key=value: the key, which the value may repeat (python=python3.12), and a value for "none".
PAIR = re.compile(r"([a-z_]+)\s*=[=\s\"']*(?:\1(?![a-z])\s*)?(?:(none|no|0)(?![\w.]))?", re.IGNORECASE)
COUNT = re.compile(r"(\d{1,3}) ?[x×*] ?(?=[a-z])|(\d{1,2}) (?=(?:nvidia |tesla )?[ahvlbp]\d)")
COUNT_AFTER = re.compile(r" ?[x×*] ?(?!64|86)(\d{1,3})(?![\w.])")


def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a whole word."""
    return re.compile(rf"(?:{pattern})(?![\w.])", re.ASCII)


def without_code_names(text: str) -> str:
    """Replace code names of releases: "Debian bookworm" becomes "Debian 12"."""
    names = "|".join(CODE_NAMES)
    pattern = rf"(?i)(?<![\w-])(?:(?:ubuntu|debian) )?({names})(?: (?:fossa|jellyfish|numbat))?(?![\w-])"
    return re.sub(pattern, lambda found: CODE_NAMES[found[1].lower()], text)
