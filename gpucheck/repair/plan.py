"""From facts to the smallest set of assignments that repairs what variables can repair. Nothing is touched or looked at."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from gpucheck.advice.wording import listing
from gpucheck.combiners.library_faults import find_faults
from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.facts import Facts
from gpucheck.engine.pipeline import judge
from gpucheck.engine.plugin import load_rules
from gpucheck.model import Request
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.environment import Environment
from gpucheck.probes.libraries import Libraries, Tool
from gpucheck.probes.limits import Limits
from gpucheck.probes.packages import Packages
from gpucheck.rules.gpu_not_detected.cuda_libraries_unreachable import folders_of

SEPARATORS = {"XLA_FLAGS": " "}  # the others are lists of folders
ORDERS = ("FASTEST_FIRST", "PCI_BUS_ID")
_DATA_FOLDER = re.compile(r"""--xla_gpu_cuda_data_dir=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)\s*""")


class Assignment(NamedTuple):
    """One variable to change. ``value`` None: it is taken out of the environment."""

    name: str
    value: str | None
    prepend: bool  # put before what the variable holds already
    reason: str  # one line
    apply: bool = True  # False: a suggestion, printed as a comment

    @property
    def separator(self) -> str:
        """What stands between the value and what follows it."""
        return SEPARATORS.get(self.name, ":")


def plan(facts: Facts) -> tuple[Assignment, ...]:
    """The assignments that these facts call for; empty where nothing is wrong that a variable can repair."""
    wanted = [rule for rule in load_rules() if rule.code in REPAIRS]
    found = [judgement.rule.code for judgement in judge(facts, wanted) if judgement.finding is not None]
    assignments: dict[tuple[str, str | None], Assignment] = {}
    for code in REPAIRS:
        for assignment in REPAIRS[code](facts) if code in found else ():
            assignments.setdefault((assignment.name, assignment.value), assignment)
    return tuple(assignments.values())


def growth(env: Mapping[str, str]) -> tuple[Assignment, ...]:
    """Let TensorFlow take GPU memory as it needs it, if it is not told so already."""
    if env.get("TF_FORCE_GPU_ALLOW_GROWTH", "").lower() == "true":
        return ()
    reason = "TensorFlow takes GPU memory as it needs it, not nearly all of it at once"
    return (Assignment("TF_FORCE_GPU_ALLOW_GROWTH", "true", False, reason),)


def applied(assignments: Iterable[Assignment], env: Mapping[str, str]) -> dict[str, str]:
    """The environment with the assignments made."""
    changed = dict(env)
    for one in assignments:
        if not one.apply:
            continue
        if one.value is None:
            changed.pop(one.name, None)
        elif one.prepend and changed.get(one.name):
            changed[one.name] = f"{one.value}{one.separator}{changed[one.name]}"
        else:
            changed[one.name] = one.value
    return changed


def _libraries(facts: Facts) -> Iterator[Assignment]:
    libraries, packages = facts.get(Libraries), facts.get(Packages)
    if libraries is None or packages is None:
        return
    unreachable = [fault for fault in find_faults(libraries) if fault.kind == "unreachable" and fault.library.required]
    missing = folders_of(unreachable, packages)
    if any(":" in folder or ";" in folder or not _plain(folder) for folder in missing):
        return  # the loader splits the variable there, and knows no way to quote
    names = listing([fault.soname for fault in unreachable])
    verb = "lies" if len(unreachable) == 1 else "lie"
    yield Assignment("LD_LIBRARY_PATH", ":".join(missing), True, f"{names} {verb} where TensorFlow's loader does not look")


def _compiler(facts: Facts) -> Iterator[Assignment]:
    libraries, driver, environment = facts.get(Libraries), facts.get(Driver), facts.get(Environment)
    if libraries is None or environment is None:
        return
    folder = _toolkit(libraries, driver)
    if folder is None or folder.path is None:
        return
    lacking = [name for name, tool in (("ptxas", libraries.ptxas), ("libdevice", libraries.libdevice)) if tool.path is None]
    verb = "lies" if len(lacking) == 1 else "lie"
    flag = f"--xla_gpu_cuda_data_dir={_flag_value(folder.path)}"
    reason = f"{listing(lacking)} {verb} where XLA does not look"
    flags = environment.variables.get("XLA_FLAGS", "")
    kept = _DATA_FOLDER.sub("", flags).strip()
    if kept == flags.strip():
        yield Assignment("XLA_FLAGS", flag, True, reason)
    else:  # of two such flags the last counts
        yield Assignment("XLA_FLAGS", f"{flag} {kept}".strip(), False, f"{reason}, and the folder named so far has none")


def _toolkit(libraries: Libraries, driver: Driver | None) -> Tool | None:
    """The folder whose ptxas fits best: of the CUDA that TensorFlow was built for, else any that the driver can follow."""
    known = releases.release(libraries.tensorflow or "")
    newest = versions.parse(driver.cuda_version)[:1] if driver is not None and driver.cuda_version else None

    def major(tool: Tool) -> tuple[int, ...]:
        return versions.parse(tool.version or "")[:1]

    fitting = [tool for tool in libraries.xla_folders if tool.path and _plain(tool.path)]
    fitting = [tool for tool in fitting if newest is None or not major(tool) or major(tool) <= newest]
    own = [tool for tool in fitting if known is not None and major(tool) == (known.cuda_major,)]
    return next(iter([*own, *fitting]), None)


def _order(facts: Facts) -> Iterator[Assignment]:
    environment = facts.get(Environment)
    value = environment.variables.get("CUDA_DEVICE_ORDER", "") if environment is not None else ""
    meant = value.strip().upper()
    shown = " ".join(value.split()) if value.isprintable() else "its value"
    reason = f"CUDA does not start with {shown}: it knows {' and '.join(ORDERS)} only"
    yield Assignment("CUDA_DEVICE_ORDER", meant if meant in ORDERS else ORDERS[1], False, reason)


def _visible(facts: Facts) -> Iterator[Assignment]:
    environment, cuda, request = facts.get(Environment), facts.get(Cuda), facts.get(Request)
    if environment is None or cuda is None or "CUDA_VISIBLE_DEVICES" not in environment.variables:
        return  # a container that was given no GPU: no variable in it changes that
    if request is not None and request.allow_cpu:
        return  # hidden on purpose
    value = environment.variables["CUDA_VISIBLE_DEVICES"]
    shown = f" ({value})" if value.strip() and value.isprintable() else ""
    if "SLURM_JOB_ID" in environment.variables:
        reason = f"Slurm's list of GPUs{shown} is not what CUDA finds: ask Slurm for GPUs, others' jobs may run on these"
        yield Assignment("CUDA_VISIBLE_DEVICES", None, False, reason, apply=False)
    elif cuda.device_count:
        reason = f"CUDA stops at the first name it does not know{shown}, and offers {cuda.device_count}"
        yield Assignment("CUDA_VISIBLE_DEVICES", None, False, reason, apply=False)
    else:
        yield Assignment("CUDA_VISIBLE_DEVICES", None, False, f"it hides every GPU{shown}")


def _kernel_cache(facts: Facts) -> Iterator[Assignment]:
    limits = facts.get(Limits)
    if limits is None:
        return
    if limits.kernel_cache_disabled:
        yield Assignment("CUDA_CACHE_DISABLE", None, False, "kernels compiled for this GPU are thrown away at every end")
    other = limits.kernel_cache_other
    if limits.kernel_cache_writable is False and other is not None and _plain(other):
        yield Assignment("CUDA_CACHE_PATH", other, False, "kernels compiled for this GPU can't be kept where CUDA puts them")


def _plain(text: str) -> bool:
    """Fit for a line of a shell script, a dotenv file or a Dockerfile."""
    return text.isprintable() and bool(text)


def _flag_value(folder: str) -> str:
    """XLA splits its flags at blanks; a value may be quoted (tsl/util/command_line_flags, parse_flags_from_env)."""
    if not re.search(r"[\s'\"\\]", folder):
        return folder
    return '"' + re.sub(r'(["\\])', r"\\\1", folder) + '"'


# In the order in which they are printed; each is asked only where the rule of that code found something.
REPAIRS: dict[str, Callable[[Facts], Iterable[Assignment]]] = {
    "cuda-libraries-unreachable": _libraries,
    "ptxas-missing": _compiler,
    "libdevice-missing": _compiler,
    "kernel-cache-unwritable": _kernel_cache,
    "cuda-environment-malformed": _order,
    "devices-hidden": _visible,
}
