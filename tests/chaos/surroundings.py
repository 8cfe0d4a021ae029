"""Faults in the environment of a run: file systems, limits, users, streams, clocks, languages, and foreign files."""

import pathlib
import shutil
import sys
from collections.abc import Callable

from chaos.run import Cell, Unavailable, root_only

CHECK = "check"
COMMANDS: dict[str, tuple[str, ...]] = {
    CHECK: ("--quick", "--allow-cpu", "--timeout", "6", "--format", "json"),
    "explain": ("explain", "--timeout", "6", "--format", "json", "{folder}/train.log"),
    "lint": ("lint", "--timeout", "6", "--format", "json", "{folder}/train.py"),
    "run": ("run", "--allow-cpu", "--timeout", "6", "--cache", "60", "--", "true"),
}
HOSTILE = ("json", "random", "logging", "tensorflow", "sitecustomize", "types", "grp")
CHECKOUT = pathlib.Path(__file__).parents[2]
Prepare = Callable[[Cell], None]


def shell(line: str) -> Prepare:
    """A line before the command."""

    def prepare(cell: Cell) -> None:
        cell.shell += f"{line}; "

    return prepare


def env(**variables: str | None) -> Prepare:
    """Variables; None removes one. ``{hung}`` is a file system that does not respond."""

    def prepare(cell: Cell) -> None:
        for name, value in variables.items():
            cell.env.pop(name, None)
            if value is not None:
                cell.env[name] = value

    return prepare


def redirected(to: str) -> Prepare:
    """Broken standard streams."""

    def prepare(cell: Cell) -> None:
        cell.redirected, cell.reports = to, False

    return prepare


def option(*args: str) -> Prepare:
    """More arguments of a check."""

    def prepare(cell: Cell) -> None:
        if cell.args[0] == "--quick":
            cell.args += args

    return prepare


def deleted_cwd(cell: Cell) -> None:
    """A deleted current folder."""
    (cell.folder / "gone").mkdir()
    cell.shell += f"cd {cell.folder}/gone; rmdir {cell.folder}/gone; "


def hostile_modules(cell: Cell) -> None:
    """A world-writable folder of modules that must not be executed."""
    for name in HOSTILE:
        (cell.cwd / f"{name}.py").write_text("raise SystemExit('Traceback: executed')\n")
    cell.cwd.chmod(0o1777)


def unnamed_user(cell: Cell) -> None:
    """A user without a name, with access only to world-readable files."""
    root_only()
    for path in (cell.folder, cell.folder / "tmp", cell.folder / "home", cell.folder / "work"):
        path.chmod(0o777)
    cell.program = ["setpriv", "--reuid", "54321", "--clear-groups", *cell.program]
    cell.reports = False


def no_tmp(cell: Cell) -> None:
    """A read-only /tmp with nothing but the checkout, if that is there."""
    keep = str(CHECKOUT) if str(CHECKOUT).startswith("/tmp/") else "/tmp/checkout"
    cell.shell += (
        f"mount --bind {CHECKOUT} /mnt; mount -t tmpfs -o size=64k chaos /tmp; mkdir -p {keep}; mount --bind /mnt {keep}; "
    )
    cell.shell += "mount -o remount,ro chaos /tmp; unset TMPDIR; "


def all_folders_hung(cell: Cell) -> None:
    """A hung current folder, home and temporary folder. Uses the command, because `python -m` reads the current folder."""
    cell.shell += f"mount --bind {{hung}} {cell.folder}; "
    cell.program = [str(pathlib.Path(sys.executable).with_name("gpucheck"))]


def wrong_clock(cell: Cell) -> None:
    """A clock years before the files' dates."""
    if shutil.which("faketime") is None:
        raise Unavailable("no faketime: apt-get install faketime")
    cell.program = ["faketime", "1990-01-02", *cell.program]


def chroot(cell: Cell) -> None:
    """A root without /dev."""
    root_only()
    root = cell.folder / "root"
    root.mkdir()
    lines = [f"mount -t tmpfs chaos {root}", "cd /"]
    lines.append(
        f'for name in *; do [ "$name" = dev ] || [ "$name" = proc ] || [ "$name" = sys ] || if [ -L "$name" ]; then cp -P "$name" {root}/; elif [ -d "$name" ]; then mkdir {root}/"$name"; mount --rbind "/$name" {root}/"$name"; fi; done'
    )
    cell.shell += "; ".join(lines) + "; "
    cell.program = ["chroot", str(root), *cell.program]


READ_ONLY = "for path in / /tmp /work /var /root /home; do mount --bind $path $path 2>/dev/null; mount -o remount,bind,ro $path 2>/dev/null; done"
FAULTS: dict[str, Prepare] = {
    "nothing": lambda cell: None,
    "a read-only root": shell(READ_ONLY),
    "no /tmp": no_tmp,
    "no HOME": env(HOME=None),
    "HOME that is a file": env(HOME="/etc/passwd"),
    "no /proc": shell("mount -t tmpfs chaos /proc"),
    "no /sys": shell("mount -t tmpfs chaos /sys"),
    "no /dev, /proc, /sys in a chroot": chroot,
    **{f"{count} open files": shell(f"ulimit -n {count}") for count in (16, 20, 24, 32, 48, 64)},
    "200 MB of addresses": shell("ulimit -v 200000"),
    "1 GB of addresses": shell("ulimit -v 1000000"),
    "2 s of CPU time": shell("ulimit -t 2"),
    "files of 0 bytes": shell("ulimit -f 0"),
    "files of 8 blocks": shell("ulimit -f 8"),
    "20 processes": shell("ulimit -u 20"),
    "a user without a name": unnamed_user,
    "no standard output": redirected(" >&-"),
    "no standard error": redirected(" 2>&-"),
    "no streams": redirected(" <&- >&- 2>&-"),
    "a full disk behind standard output": redirected(" >/dev/full"),
    "a full disk behind standard error": redirected(" 2>/dev/full"),
    "full streams": redirected(" >/dev/full 2>/dev/full"),
    "a deleted current folder": deleted_cwd,
    "LANG=C": env(LANG="C", LC_ALL="C"),
    "a language that is not there": env(LANG="xx_XX.ISO-8859-15", LC_ALL="xx_XX.ISO-8859-15"),
    "Latin-1 streams": env(PYTHONIOENCODING="latin-1"),
    "a path that is not UTF-8": env(
        CUDA_VISIBLE_DEVICES=b"\xff\xfe".decode(errors="surrogateescape"), XLA_FLAGS=b"\xff".decode(errors="surrogateescape")
    ),
    "PYTHONOPTIMIZE=2": env(PYTHONOPTIMIZE="2"),
    "PYTHONWARNINGS=error": env(PYTHONWARNINGS="error"),
    "PYTHONMALLOC=debug": env(PYTHONMALLOC="debug"),
    "PYTHONSAFEPATH=1": env(PYTHONSAFEPATH="1"),
    "PYTHONINSPECT=1": env(PYTHONINSPECT="1"),
    "PYTHONDEVMODE=1": env(PYTHONDEVMODE="1"),
    "PYTHONUTF8=0": env(PYTHONUTF8="0", LC_ALL="C"),
    "hostile modules": hostile_modules,
    "a clock of 1990": wrong_clock,
}
HUNG: dict[str, Prepare] = {
    "HOME": env(HOME="{hung}/x"),
    "TMPDIR": env(TMPDIR="{hung}/x"),
    "PATH": env(PATH="{hung}/bin:/usr/bin:/bin"),
    "XDG_CACHE_HOME": env(XDG_CACHE_HOME="{hung}/x"),
    "CUDA_CACHE_PATH": env(CUDA_CACHE_PATH="{hung}/x"),
    "CUDA_HOME": env(CUDA_HOME="{hung}/x"),
    "XLA_FLAGS": env(XLA_FLAGS="--xla_gpu_cuda_data_dir={hung}/x"),
    "GITHUB_STEP_SUMMARY": env(GITHUB_STEP_SUMMARY="{hung}/x"),
    "folders of environments": env(**dict.fromkeys(("CONDA_PREFIX", "VIRTUAL_ENV", "CUDA_PATH", "XDG_CONFIG_HOME"), "{hung}/x")),
    "the current folder, HOME, TMPDIR": all_folders_hung,
    "KERAS_HOME": env(KERAS_HOME="{hung}/x"),
    "--expect": option("--expect", "{hung}/x"),
    "--output": option("--output", "{hung}/x"),
    "--replay": option("--replay", "{hung}/x"),
    "--python": option("--python", "{hung}/x"),
    "the PCI bus": shell("mount --bind {hung} /sys/bus/pci/devices"),
    "the control groups": shell("mount --bind {hung} /sys/fs/cgroup"),
    "shared memory": shell("mount --bind {hung} /dev/shm"),
    "/usr/local": shell("mount --bind {hung} /usr/local/share"),
}


def prepare(cell: Cell, fault: str, command: str, hung: str | None) -> None:
    """Apply the fault to the command."""
    (cell.folder / "train.log").write_text("OOM when allocating tensor with shape[64,512]\n")
    (cell.folder / "train.py").write_text("import tensorflow as tf\nprint(tf.__version__)\n")
    cell.args = [part.format(folder=cell.folder) for part in COMMANDS[command]]
    cell.reports = command == CHECK
    (FAULTS | HUNG)[fault](cell)
    if hung is not None:
        cell.shell = cell.shell.replace("{hung}", hung)
        cell.args = [part.replace("{hung}", hung) for part in cell.args]
        cell.env = {name: value.replace("{hung}", hung) for name, value in cell.env.items()}
    cell.left_alone = pathlib.Path(cell.env.get("TMPDIR", "")) != cell.folder / "tmp"
