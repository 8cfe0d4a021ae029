"""Read from the wheels on PyPI for which GPUs they have code, and what they need; write gpucheck/core/compat/wheels.json.

    python tools/read_wheels.py                         read the wheels of WANTED that are missing from the file
    python tools/read_wheels.py torch==2.9.1 ...        reread these, for Linux x86_64; or add @aarch64
    python tools/read_wheels.py --report                print docs/wheels.md, which docs/build.py writes

Needs the network, but no GPU. Each shared library is read into memory (3 GB), one at a time; a wheel has up to 900 MB. Tests
do not run this script.
"""

import argparse
import ast
import collections
import json
import pathlib
import re
import sys
import zipfile
from typing import Any

from wheel_code import Code, cuda_names, elf, fat_binaries
from wheel_index import Remote, Wheel, index, metadata

from gpucheck.core.compat import versions

TARGET = pathlib.Path(__file__).parents[1] / "gpucheck/core/compat/wheels.json"
PIECE = 16 << 20
WANTED = (
    *(f"tensorflow==2.{minor}" for minor in ("10.1", "11.1", "12.1", "13.1", "14.1", "15.1", "16.2", "17.1", "18.1", "19.1")),
    *("tensorflow==2.20.0", "tensorflow==2.21.0", "tensorflow==2.20.0@aarch64", "tensorflow==2.21.0@aarch64"),
    *("tensorflow-cpu==2.21.0", "tensorflow-tpu==2.20.0", "tf-nightly"),
    *(
        f"jax-cuda{major}-{part}=={version}"
        for major, listed in ((12, ("0.6.2", "0.8.3", "0.9.2", "0.12.0")), (13, ("0.8.3", "0.9.2", "0.12.0")))
        for version in listed
        for part in ("plugin", "pjrt")
    ),
    *("jaxlib==0.9.2", "jaxlib==0.12.0", "torch==2.9.1", "torch==2.11.0", "torch"),
)


def find(wanted: str) -> Wheel:
    """Return the wheel for 'project==version@architecture': for its newest CPython; without a version, the newest wheel."""
    name, _, architecture = wanted.partition("@")
    project, _, version = name.partition("==")
    fitting = [
        wheel
        for wheel in index(project)
        if "linux" in wheel.platform
        and wheel.platform.endswith(f"_{architecture or 'x86_64'}.whl")
        and (not version or str(wheel.version) == version)
        and not re.search(r"-cp\d+t-", wheel.platform)  # free-threaded
    ]
    if not fitting:
        raise LookupError(wanted)
    return max(fitting, key=lambda wheel: (wheel.version, versions.parse(wheel.python)))


def read(wheel: Wheel, project: str) -> dict[str, Any]:
    """Return the entry of a wheel."""
    fields = metadata(wheel)
    codes: collections.Counter[Code] = collections.Counter()
    needed, opened, symbols, build = set[str](), set[str](), set[str](), {}
    remote = Remote(wheel.url)
    with zipfile.ZipFile(remote) as archive:
        remote.ahead = PIECE
        for member in archive.infolist():
            if member.filename.endswith("platform/build_info.py"):
                build = build_info(archive.read(member).decode())
            if not re.search(r"\.so(\.\d+)*$", member.filename) or not member.file_size:
                continue
            data = archive.read(member)
            codes += fat_binaries(data)
            opened.update(cuda_names(data))
            found = elf(data)
            needed.update(found.needed)
            symbols.update(found.versions)
    return {
        "project": project,
        "version": str(wheel.version),
        "file": wheel.platform,
        "sha256": wheel.sha256,
        "size": wheel.size,
        "uploaded": wheel.uploaded,
        "requires_python": fields["Requires-Python"],
        "requires": fields.get_all("Requires-Dist", []),
        "glibc": newest(symbols, "GLIBC_"),
        "glibcxx": newest(symbols, "GLIBCXX_"),
        "needed": sorted(name for name in needed if re.match(r"lib(cu|nv|nccl|amdhip)", name)),
        "opened": sorted(opened),
        "build": build,
        "code": [
            [list(code.sass), [list(ptx) for ptx in code.ptx], count]
            for code, count in sorted(codes.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
    }


def build_info(text: str) -> dict[str, Any]:
    """Return the CUDA fields of TensorFlow's build_info.py."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args and "OrderedDict" in ast.unparse(node.func):
            said = dict(ast.literal_eval(node.args[0]))
            return {key: said[key] for key in ("cuda_version", "cudnn_version", "cuda_compute_capabilities") if key in said}
    return {}


def newest(symbols: set[str], prefix: str) -> str | None:
    """Return the highest version of a library's symbols."""
    found = [name[len(prefix) :] for name in symbols if re.fullmatch(rf"{prefix}\d[\d.]*", name)]
    return max(found, key=versions.parse, default=None)


def save(entries: list[dict[str, Any]]) -> None:
    """Write one entry per line, which keeps diffs readable."""
    entries.sort(key=lambda entry: (entry["project"], versions.parse(entry["version"]), entry["file"]))
    TARGET.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n", encoding="utf-8")


def main() -> int:
    """Read the missing wheels; return 1 if a wheel was not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="*", metavar="PROJECT==VERSION[@ARCHITECTURE]")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.report:
        sys.path.insert(0, str(TARGET.parents[3] / "docs"))
        from wheels_table import page

        print(page(), end="")
        return 0
    missing = 0
    for wanted in options.wheels or WANTED:
        try:
            wheel = find(wanted)
        except LookupError:
            print(f"{wanted}: not on PyPI", flush=True)
            missing += 1
            continue
        held = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else []
        if not options.wheels and any(entry["file"] == wheel.platform for entry in held):
            continue
        entry = read(wheel, re.split("[=@]", wanted)[0])
        save([*(other for other in held if other["file"] != wheel.platform), entry])
        print(f"{wheel.platform}: {sum(row[-1] for row in entry['code'])} fat binaries", flush=True)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
