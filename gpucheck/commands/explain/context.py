"""Read the context of repairs from a log: framework, system, container, and the tool that installed the packages."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from gpucheck.core.compat import versions
from gpucheck.core.logs.causes.events import Events, first_value
from gpucheck.core.logs.causes.packages import infer_form
from gpucheck.core.logs.events import CONTAINER, PLACE, Event
from gpucheck.core.logs.log import Log
from gpucheck.core.logs.reading.screen import DIGITS
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.system import System
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.repairs.context import Context

_MOST_LINES = 5_000  # maximum lines to read
_WIDEST = 400  # characters of a line
_MOST_TRIED = 40

# Patterns of wording or paths in a line. If several values of a kind are found, the first in this table is used.
_SIGNS = {
    "notebook": {
        "colab": r"google\.colab|\bcolab\b|(?:^|[\s\"'(])/content/",
        "kaggle": r"/kaggle/|\bkaggle\b",
    },
    "container": {
        "apptainer": r"\b(?:apptainer|singularity)\b",
        "kubernetes": r"\bkubectl\b|\bkubelet\b|nvidia\.com/gpu\b(?!=)|\bpod/|\bpods? |\bRunPodSandbox\b|\bget sandbox runtime\b"
        r"|\bThe node was low on resource|^\s*Restart Count: |\b[\w-]+-(?:ps|worker|chief|master)-\d+:2222\b",
        "podman": r"\bpodman\b",
        "docker": r"\bdocker\b|\.dockerenv|^\[?root@[0-9a-f]{12}\b|\bnvcr\.io/|\bnvidia-container-cli\b",
    },
    "manager": {
        "poetry": r"\bpoetry (?:add|run|install|shell|lock)\b|pypoetry",
        "uv": r"\buv (?:pip|add|run|sync|venv|lock)\b|/\.?uv/|\buv\.lock\b",
        "conda": r"(?:ana|mini)conda\d?|miniforge|mambaforge|micromamba|\b(?:conda|mamba) (?:install|create|activate|env)\b"
        r"|feedstock_root"
        r"|[/\\]envs[/\\][\w.-]+[/\\]|^\(base\) ",
        "pip": r"\bpip3? install\b|[/\\]\.?v?env[/\\]",
    },
    "project": {"uv": r"\buv (?:add|run|sync|lock)\b|\buv\.lock\b"},
    "shell": {"powershell": r"^(?:\([\w.-]+\) )?PS [A-Za-z]:\\"},
    "jax_plugin": {"cuda13": r"\bjax[-_]cuda13|\bxla_cuda13\b|\bjax\[cuda13"},
    "scheduler": {"slurm": r"\b(?:srun|sbatch|slurmstepd|salloc|SLURM_\w+)\b"},
    "gpus": {"task": r"--gpus-per-task|--gpu-bind=(?:single|per_task)", "all": r"--gpu-bind=none"},
    "system": {
        "win32": r"(?:^|[\s\"'(<])(?:PS )?[A-Za-z]:\\\w|win_amd64|\bAppData\\|site-packages\\"
        r"|\bDLL load failed|Cuda non-Windows platforms only|\b(?:cudart|cublas|cudnn|nvcuda)\w*\.dll\b",
        "darwin": r"(?:^|[\s\"'(])/Users/\w|\bmacosx_\d+|\bDarwin\b|tensorflow-metal|\bApple M\d\b|\bon darwin$|\bMach-O\b"
        r"|^zsh: illegal hardware instruction +[\w./-]+$",
        "linux": r"(?:^|[\s\"'(=:])/(?:home|usr|root|opt|mnt|proc|dev|etc)/|\.so(?:\.\d+)*\b"
        r"|\bNVRM:|manylinux|\bUbuntu\b|\bsudo\b|\bsystemctl\b|\bmodprobe\b|/lib/modules/|\bslurmd\b",
    },
    "distribution": {
        "ubuntu": r"\bubuntu\b",
        "debian": r"\bdebian\b",
        "fedora": r"\bfedora\b",
        "arch": r"\bArch Linux\b|\bpacman\b",
        "rhel": r"\bRHEL\b|\bRed Hat Enterprise\b|\.el\d+\b",
        "rocky": r"\brocky ?linux\b",
    },
}
_COMPILED = {
    kind: [(value, re.compile(regex, re.IGNORECASE if kind != "system" else 0)) for value, regex in signs.items()]
    for kind, signs in _SIGNS.items()
}
# TensorFlow's source files that a release moved; JAX kept a copy below a different folder.
_BEFORE = {"tensorflow/stream_executor/": "2.12", "tensorflow/compiler/xla/": "2.15", "tensorflow/tsl/": "2.15"}
_OF_JAX = "external/org_tensorflow/"  # and of TensorFlow Serving
# A line counts for each framework that it mentions.
_FRAMEWORKS = {
    "tensorflow": re.compile(
        r"(?i)(?<!external/org_)(?<!external/org_tensorflow/)tensorflow|keras|\btf\.\w|\btf2?xla\b|\bTF_[A-Z]|external/local_(?:xla|tsl)"
    ),
    "jax": re.compile(
        r"(?i)\bexternal/xla/|\bStreamExecutorGpuDevice\b|\bjax(?:lib)?\b|\bjax[._]|jax-cuda|\bxla_bridge\b|\bflax\b"
    ),
    "torch": re.compile(
        r"(?i)\btorch\b|\bpytorch\b|libtorch|\btriton[/\\]+(?:backends|compiler|runtime)\b"
        r"|\bc10[:/_]|torch[./]|\bDataLoader worker\b|CUDA out of memory\. Tried to"
        r"|RuntimeError: CUDA error:|implemented for '(?:Half|BFloat16)'"
    ),
}
_TYPED = re.compile(
    r"^(?:.{0,80}?[$#>%!] ?)?((?:sudo |!)?(?:python3?|pip3?|conda|mamba|uv|poetry|docker|podman|kubectl"
    r"|apptainer|singularity|export|unset|nvidia-smi|apt(?:-get)?|modprobe|rmmod|brew) [^\n]{1,200}|nvidia-smi$)"
)
_PYTHON = re.compile(r"python(3\.\d{1,2})[/\\]|[/\\]Python(3)(\d{1,2})[/\\]|\bcp(3)(\d{1,2})-|\bPython (3\.\d{1,2})\.\d")
_NUMBERED = re.compile(r"(?i)(?:python|pip|\bcp|\bc) ?\d")  # a line whose meaning could depend on its digits
# A file in a traceback: the package that it belongs to, if it is installed.
_FRAME = re.compile(
    r'^(?:File ["~/]|Cell |\[?/)(?:[^"\n]*[/\\](?:site|dist)-packages[/\\](\w+)[/\\])?[^"\n]*'
    r'(?:", line \d+|\.py:\d+$|,? in (?:\w+\(|<module>))'
)
# A file in a traceback that is not installed, generated or part of Python: the program's own.
_PROGRAM = re.compile(
    r'\bFile "(?![^"\n]*(?:[/\\](?:site|dist)-packages[/\\]|[/\\][Ll]ib[/\\]'
    r'|[/\\]tensorflow[/\\]python[/\\]|[/\\]keras[/\\]src[/\\]|ipykernel_|__autograph))([^"\n<>]+\.py)", line (\d+)'
)
_NEVER = ("jax", "jaxlib", "numpy", "tensorflow", "keras", "torch")  # packages whose frames only pass on an exception
_WITH_GPU = ("gpu-created", "gpu-found", "driver-lists-gpu")
_SYSTEMS = {"windows": "win32", "macos": "darwin", "linux": "linux", "wsl": "linux"}


class ContextReader:
    """A reader of a stream of lines that another consumer iterates over."""

    def __init__(self) -> None:
        self._found: dict[str, Counter[str]] = {kind: Counter() for kind in _SIGNS}
        self._frameworks = Counter(dict.fromkeys(_FRAMEWORKS, 0))  # if counts are equal, the first in the table is used
        self._pythons: Counter[str] = Counter()
        self._tried: dict[str, None] = {}
        self._before: set[str] = set()
        self._shared = False  # a line mentions a file that TensorFlow Serving and JAX share
        # Lines, with masked digits, that only show their frameworks, whatever their digits: most lines of a log.
        self._frameworks_by_line: dict[str, list[str]] = {}
        self._raised_in: str | None = None
        self.program: tuple[str, str] | None = None  # the program's file that a traceback mentions last, and the line

    def through(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the same lines, and read the first ones."""
        stream = iter(lines)
        return chain(self._tee(islice(stream, _MOST_LINES)), stream)

    def context(self, log: Log) -> Context:
        """Return the context from the lines read, and from the log's events."""
        events = Events(log)
        form = events.infer(infer_form)
        wsl = form.os == "wsl" or events.has("wsl-inside")
        system = _SYSTEMS.get(form.os or "") or (
            "linux" if wsl else self._first("system") or (self._first("distribution") and "linux")
        )
        arm = events.of("architecture", machine=".*aarch64")
        system = system or ("linux" if arm else None)
        kind = self._first("container")
        inside = (
            kind is not None or events.has("container-host") or any(event.fields.get(PLACE) == CONTAINER for event in log.events)
        )
        return Context(
            framework=self._framework(),
            framework_version=form.tensorflow or first_value(events.of("package-installed"), "version"),
            raised_in=self._raised_in,
            framework_before=min(self._before, default=None),
            python_version=form.python or next(iter(dict(self._pythons.most_common(1))), None),
            amd=events.has("amd-gpu") and not events.has("gpu-on-bus", "driver-lists-gpu"),
            notebook=self._first("notebook"),
            manager=self._first("manager"),
            uv_project=self._first("project") is not None,
            powershell=self._first("shell") is not None,
            jax_plugin=self._first("jax_plugin"),
            scheduler=self._first("scheduler"),
            task_sees_gpus={"task": "one", "all": "all"}.get(self._first("gpus") or ""),
            tried=tuple(self._tried),
            system=System(
                platform=system, os_id=self._first("distribution"), architecture=first_value(arm, "machine") and "aarch64"
            )
            if system
            else None,
            wsl=Wsl(inside=True, version=2) if wsl else None,
            container=Container(inside=True, kind=kind) if inside else None,
            driver=_driver(events),
            gpus=_gpus(events.of(*_WITH_GPU)),
        )

    def _tee(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self._read(line[:_WIDEST].strip())
            yield line

    def _read(self, line: str) -> None:
        shape = line.translate(DIGITS)
        frameworks = self._frameworks_by_line.get(shape)
        if frameworks is None:
            frameworks = [framework for framework, sign in _FRAMEWORKS.items() if sign.search(line)]
            if not self._read_signs(line) and not _NUMBERED.search(line):
                self._frameworks_by_line[shape] = frameworks
        self._frameworks.update(frameworks)
        self._shared |= _OF_JAX in line

    def _read_signs(self, line: str) -> bool:
        """Whether the line shows more than its frameworks."""
        found = [(kind, value) for kind, signs in _COMPILED.items() for value, sign in signs if sign.search(line)]
        for kind, value in found:
            self._found[kind][value] += 1
        frame, own, typed = _FRAME.search(line), _PROGRAM.search(line), _TYPED.match(line)
        if frame and frame[1] not in _NEVER:
            self._raised_in = frame[1] or ""
        if own:
            self.program = own[1], own[2]
        moved = {release for folder, release in _BEFORE.items() if folder in line and _OF_JAX not in line}
        self._before |= moved
        pythons = list(_PYTHON.finditer(line))
        for match in pythons:
            self._pythons[next(filter(None, (match[1], match[6])), None) or ".".join(filter(None, match.groups()))] += 1
        if typed and len(self._tried) < _MOST_TRIED:
            self._tried[" ".join(typed[1].removeprefix("!").split())] = None
        return bool(found or frame or own or typed or moved or pythons)

    def _first(self, kind: str) -> str | None:
        """Return the value found for a kind; if there are several, the first in the table."""
        return next((value for value, _ in _COMPILED[kind] if self._found[kind][value]), None)

    def _framework(self) -> str | None:
        name, count = max(self._frameworks.items(), key=lambda item: item[1])
        return name if count else "tensorflow" if self._shared else None


def _driver(events: Events) -> Driver | None:
    named = events.of("driver-version")
    version, cuda = first_value(named, "kernel"), first_value(named, "cuda")
    return Driver(status="ok", version=version, cuda_version=cuda) if version else None


def _gpus(events: list[Event]) -> Gpus | None:
    """Return the GPUs that a program or nvidia-smi listed, by name."""
    named = {event.fields["name"]: event for event in events if event.fields.get("name")}
    gpus = []
    for index, (name, event) in enumerate(named.items()):
        capability = versions.parse(event.fields.get("capability", ""))
        gpus.append(
            Gpu(index=index, name=name, compute_capability=(capability[0], capability[1]) if len(capability) == 2 else None)
        )
    return Gpus(gpus=tuple(gpus)) if gpus else None
