"""Wheels of the packages of a clean environment, so that a repair's ``pip install`` works without a network.

Each wheel is built from the RECORD of an installed distribution; wheels that pip must not find are not built.
"""

import pathlib
import re
import zipfile
from collections.abc import Iterator

from lab.environments import Environment

OF_AN_INSTALLER = ("/INSTALLER", "/REQUESTED", "/direct_url.json")


def build(environment: Environment, folder: pathlib.Path) -> pathlib.Path:
    """A wheel of every distribution of the environment; returns the folder."""
    folder.mkdir(parents=True)
    for information in sorted(environment.site.glob("*.dist-info")):
        if (information / "RECORD").exists():
            make_wheel(environment.site, information, folder, information.name.split("-")[1].removesuffix(".dist"))
    return folder


def under_another_version(environment: Environment, folder: pathlib.Path, version: str) -> None:
    """A wheel of the environment's TensorFlow under another version."""
    (information,) = environment.site.glob("tensorflow-*.dist-info")
    make_wheel(environment.site, information, folder, version)


def make_wheel(site: pathlib.Path, information: pathlib.Path, folder: pathlib.Path, version: str) -> None:
    """One uncompressed wheel. Scripts and compiled modules are omitted, because pip creates them."""
    name = information.name.split("-")[0]
    kept = [f"{name}-{version}.dist-info/RECORD,,"]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, rest in recorded(information):
            if not (site / path).is_file():
                continue
            target = path.replace(information.name, f"{name}-{version}.dist-info")
            if target.endswith(".dist-info/METADATA"):
                text = re.sub(r"(?m)^Version: .*", f"Version: {version}", (site / path).read_text())
                wheel.writestr(target, text)
                kept.append(f"{target},,")
            else:
                wheel.write(site / path, target)
                kept.append(f"{target},{rest}")
        wheel.writestr(kept[0].removesuffix(",,"), "\n".join([*kept, ""]))


def recorded(information: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yield each file of RECORD that belongs in the wheel: its path, and its hash and size."""
    for line in (information / "RECORD").read_text().splitlines():
        path, *rest = line.rsplit(",", 2)
        path = path.strip('"')
        if not path.startswith("..") and not path.endswith((".pyc", "/RECORD", *OF_AN_INSTALLER)):
            yield path, ",".join(rest)
