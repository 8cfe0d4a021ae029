"""The C library of Linux distributions.

Sources: packages.ubuntu.com, packages.debian.org, the release notes of Red Hat Enterprise Linux (CentOS, Rocky Linux, AlmaLinux
and Oracle Linux are built from the same sources), docs.aws.amazon.com (Amazon Linux), packages.fedoraproject.org, SUSE's release
notes.
"""

_RHEL = {"6": "2.12", "7": "2.17", "8": "2.28", "9": "2.34", "10": "2.39"}

# Distribution -> version -> glibc.
GLIBC: dict[str, dict[str, str]] = {
    "ubuntu": {
        "14.04": "2.19",
        "16.04": "2.23",
        "18.04": "2.27",
        "20.04": "2.31",
        "22.04": "2.35",
        "22.10": "2.36",
        "23.04": "2.37",
        "23.10": "2.38",
        "24.04": "2.39",
        "24.10": "2.40",
        "25.04": "2.41",
        "25.10": "2.42",
        "26.04": "2.43",
    },
    "debian": {"8": "2.19", "9": "2.24", "10": "2.28", "11": "2.31", "12": "2.36", "13": "2.41"},
    **dict.fromkeys(("rhel", "centos", "rocky", "alma", "oracle", "scientific"), _RHEL),
    "amazon": {"1": "2.17", "2": "2.26", "2023": "2.34"},
    "fedora": {"38": "2.37", "39": "2.38", "40": "2.39", "41": "2.40", "42": "2.41", "43": "2.42"},
    "sles": {"12": "2.22", "15": "2.31"},
    "mint": {"20": "2.31", "21": "2.35", "22": "2.39"},
    "pop": {"20.04": "2.31", "22.04": "2.35", "24.04": "2.39"},
}
MUSL = ("alpine",)


def glibc(distribution: str, version: str) -> str | None:
    """Return the glibc of a distribution's release: '2.35' for ('ubuntu', '22.04.3'); None if the table lacks it."""
    known = GLIBC.get(distribution, {})
    parts = version.split(".")
    return known.get(".".join(parts[:2])) or known.get(parts[0])
