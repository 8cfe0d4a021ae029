"""gpucheck installed into a separate environment, as by pip, to be damaged."""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import gpucheck
from gpucheck.core.system.integrity import REQUIRED

SOURCE = pathlib.Path(gpucheck.__file__).parent
ENTRY = """#!{python}
import sys
from gpucheck.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""
COMMANDS = (("node", "--gres", "0", "--drain-reason"), ("--quick", "--allow-cpu"))
# Files that Python reads before gpucheck can catch exceptions: Python's exit code 1, which no gate takes for a verdict.
BEFORE_ANY_HANDLER = ("gpucheck/__init__.py", "gpucheck/cli/__init__.py")


def run(*argv):
    # PYTHONPATH would take precedence, and without bytecode each run would compile each module.
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, env=env)


def checks_during(upgrade, program, count, pause=0.01):
    """The results of a number of node checks while ``upgrade`` replaces the program repeatedly, and the number of replacements."""
    ended, upgrades = threading.Event(), []

    def repeat():
        while not ended.wait(pause):
            upgrade()
            upgrades.append(1)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        return [run(program, *COMMANDS[0]) for _ in range(count)], upgrades
    finally:
        ended.set()
        thread.join()


def switch(link, *folders):
    """Point a link to each of these folders in turn, as `mv -T` does: it always points to one of them."""
    new = link.with_name(f"{link.name}.new")
    for folder in folders:
        new.symlink_to(folder)
        new.replace(link)


class Installation:
    """An environment without pip, with copies of the required packages."""

    def __init__(self, folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=60)
        (self.site,) = folder.glob("lib/python*/site-packages")
        self.folder, self.program = folder, folder / "bin" / "gpucheck"
        for name in REQUIRED:
            for file in importlib.metadata.distribution(name).files:
                if ".." not in file.parts and file.suffix != ".pyc":
                    copy = self.site / file
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file.locate(), copy)
        shutil.copytree(SOURCE, self.site / "gpucheck", ignore=shutil.ignore_patterns("__pycache__"))
        metadata = self.site / f"keras_gpucheck-{gpucheck.__version__}.dist-info"
        metadata.mkdir()
        (metadata / "INSTALLER").write_text("pip\n")
        files = [path for path in sorted((self.site / "gpucheck").rglob("*")) if path.is_file()]
        lines = [f"{path.relative_to(self.site)},sha256=0,{path.stat().st_size}" for path in files]
        self.record = metadata / "RECORD"
        self.record.write_text("\n".join([*lines, f"{metadata.name}/RECORD,,", ""]))
        (metadata / "entry_points.txt").write_text("[console_scripts]\ngpucheck = gpucheck.cli:main\n")
        self.program.write_text(ENTRY.format(python=folder / "bin" / "python"))
        self.program.chmod(0o755)

    def files(self):
        """The files that a run needs, by path below site-packages: gpucheck's files, those of its packages, and their lists."""
        for path in sorted(self.site.rglob("*")):
            name = path.relative_to(self.site).as_posix()
            is_needed = name.endswith("/RECORD") if ".dist-info/" in name else not name.endswith((".pyc", ".pyi"))
            if is_needed and "/tests/" not in name and path.is_file() and path.stat().st_size:
                yield name

    def run(self, *args):
        return run(self.program, *args)

    def problems(self, name, commands=COMMANDS):
        """The wrong results of each command while a file is missing, then while it is truncated."""
        path = self.site / name
        content = path.read_bytes()
        aside = path.with_name(path.name + ".aside")
        try:
            for damage in ("removed", "halved"):
                path.rename(aside)
                if damage == "halved":
                    path.write_bytes(content[: len(content) // 2])
                for args in commands:
                    done = self.run(*args)
                    if problem := _problem(done, name):
                        yield f"{name} {damage}, {args[0]}: {problem}: {done.returncode} {done.stdout!r} {done.stderr[-300:]!r}"
                aside.replace(path)
        finally:
            if aside.exists():
                aside.replace(path)


def _problem(done, name):
    if done.stdout:
        return "writes to standard output"
    # If gpucheck fails before it reads the list of files, Python names the file without its folder, or the module.
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    named = any(text in done.stderr for text in (name, module, f"({name.rpartition('/')[2]}, line "))
    if name in BEFORE_ANY_HANDLER:
        return None if done.returncode in (1, 3) and named else "does not name the file"
    if done.returncode != 3:
        return "does not exit with 3"
    if len(done.stderr.splitlines()) != 1 or not named:
        return "does not name the file in one line"
    return None
