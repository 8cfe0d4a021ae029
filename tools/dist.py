"""Build, check and run the published files: python tools/dist.py (`make dist`). Needs the network.

Writes the source distribution, the wheel and gpucheck.pyz to dist/. gpucheck.pyz is one file for this kind of machine and every
Python from 3.10 to 3.13, and contains all packages that gpucheck needs.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
CONDITIONAL = ("tomli",)  # for Python 3.10 only: pip evaluates markers for the Python that runs it
# rich requires them, but gpucheck neither highlights source code nor renders Markdown
UNUSED = ("pygments", "markdown_it", "mdurl")
PREAMBLE = """#!/usr/bin/env python3
import sys
if not (3, 10) <= sys.version_info[:2] <= (3, 13):
    found = ".".join(map(str, sys.version_info[:2]))
    sys.exit("gpucheck.pyz: started by Python %s; it needs 3.10 to 3.13. Use one of those instead of python3." % found)
"""
WHOLE = (
    "tests/conftest.py",
    "docs/architecture.md",
    "gpucheck/recipes/docker/Dockerfile",
    "Makefile",
    "CHANGELOG.md",
    "gpucheck/py.typed",
)


def run(*argv, **options):
    """Run a program; raise if it fails."""
    return subprocess.run([str(part) for part in argv], check=True, text=True, **options)


def build():
    """Build the wheel and the source distribution, and check that they are complete and valid for PyPI."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, stdout=subprocess.DEVNULL)
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir())
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "-C", ROOT, "ls-files", capture_output=True).stdout.split("\n") if (ROOT / ".git").exists() else WHOLE
    lost = [name for name in tracked if name and name != ".gitignore" and name not in held]
    if lost:
        raise SystemExit(f"the source distribution lacks {', '.join(lost)}")
    with zipfile.ZipFile(wheel) as packed:
        lost = sorted({name for name in tracked if name.startswith("gpucheck/")} - set(packed.namelist()))
    if lost:
        raise SystemExit(f"the wheel lacks {', '.join(lost)}")
    return wheel, source


def pyz(wheel, scratch):
    """Build one file for every Python. Compiled modules have the Python version in their file names, so they do not clash."""
    for version in PYTHONS:
        options = ["--only-binary", ":all:", "--python-version", version, "--quiet", "--disable-pip-version-check"]
        run(sys.executable, "-m", "pip", "download", *options, "--dest", scratch / version, wheel, *CONDITIONAL)
    packages = scratch / "packages"
    for file in sorted(scratch.glob("*/*.whl")):
        with zipfile.ZipFile(file) as archive:
            archive.extractall(packages)  # noqa: S202 - the same files that pip would install
    for name in UNUSED:
        shutil.rmtree(packages / name)
    target, preamble = DIST / "gpucheck.pyz", scratch / "preamble.py"
    preamble.write_text(PREAMBLE)
    run(
        *(sys.executable, "-m", "shiv.cli", "--site-packages", packages, "--console-script", "gpucheck", "--reproducible"),
        *("--preamble", preamble, "--python", "/usr/bin/env python3", "--output-file", target, "--no-deps", wheel),
        stdout=subprocess.DEVNULL,
    )
    return target


def try_out(name, size_bytes, *argv):
    """Run a check twice on this machine, because the first run may have to unpack the file."""
    seconds = []
    for _ in range(2):
        started = time.monotonic()
        done = subprocess.run([*map(str, argv), "--quick", "--allow-cpu"], capture_output=True, text=True, check=False)
        seconds.append(time.monotonic() - started)
        if not re.match(r"(?s)gpucheck \d.* causes ruled out", done.stdout) or done.returncode not in (0, 1):
            raise SystemExit(f"{name} failed with {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{name:12} {size_bytes / 1e6:5.1f} MB   first {seconds[0]:5.2f} s, then {seconds[1]:5.2f} s", flush=True)


def main():
    """Build, check and run everything."""
    wheel, source = build()
    print(f"{'source':12} {source.stat().st_size / 1e6:5.1f} MB   whole", flush=True)
    with tempfile.TemporaryDirectory(prefix="gpucheck-dist-") as folder:
        scratch = pathlib.Path(folder)
        run(sys.executable, "-m", "venv", scratch / "empty")
        run(scratch / "empty/bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        try_out("wheel", wheel.stat().st_size, scratch / "empty/bin/gpucheck")
        one_file = pyz(wheel, scratch)
        try_out("gpucheck.pyz", one_file.stat().st_size, sys.executable, "-S", one_file)
    if "github.com/OWNER" in ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"):
        print("Do not upload yet: pyproject.toml still says OWNER in [project.urls].")


if __name__ == "__main__":
    main()
