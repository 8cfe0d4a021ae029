"""CUDA libraries that TensorFlow needs are installed, but outside the loader's search path.

Symptom:
    Successfully installed nvidia-cublas-cu12-12.9.1.4 nvidia-cudnn-cu12-9.13.1.26 tensorflow-2.21.0
      Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly
    - Skipping registering GPU devices...
    tf.config.list_physical_devices("GPU") returns [] after a clean pip install tensorflow[and-cuda] of 2.21.0
Cause:
    The loader searches LD_LIBRARY_PATH, then the folders written into libtensorflow_framework.so.2 (its RUNPATH), then the
    system's. TensorFlow 2.21.0 was built without pip's nvidia/cusolver/lib in that RUNPATH, so out of the box it never finds
    libcusolver.so.11. In other cases the libraries are in a toolkit's folder that is not in the loader's search path.
Verify:
    python -c 'import tensorflow as tf; print(tf.config.list_physical_devices("GPU"))' lists the GPU.
Unless:
    Something else loads the library before TensorFlow is imported; then TensorFlow finds it in the process.
Example:
    environment.variables.LD_LIBRARY_PATH = "/usr/local/nvidia/lib64:/usr/local/nvidia/lib"
    libraries.library_path = ["/usr/local/nvidia/lib64", "/usr/local/nvidia/lib"]
    libraries.libraries[4] = {"soname": "libcusolver.so.11", "required": true, "package": "nvidia-cusolver-cu12", "elsewhere": ["/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib/libcusolver.so.11"], "opened": false, "open_error": "libcusolver.so.11: cannot open shared object file: No such file or directory"}
    log.events = [{"kind": "library-missing", "line": 5, "text": "Could not load dynamic library 'libcusolver.so.11'", "fields": {"soname": "libcusolver.so.11", "error": "libcusolver.so.11: cannot open shared object file: No such file or directory"}}, {"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly", "fields": {}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 cannot use the GPU: it does not search the folder of libcusolver.so.11 (a bug in this release).
References:
    https://www.tensorflow.org/install/pip
    https://man7.org/linux/man-pages/man8/ld.so.8.html
"""

from gpucheck.core.combiners.library_faults import Fault, LibraryFaults
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Assignment, Evidence, Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.commands import search_first
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import statement, word

_PACKAGES = "$(python -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')/nvidia"
_REST = "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
_CUSOLVER = f'export LD_LIBRARY_PATH="{_PACKAGES}/cusolver/lib{_REST}"'
_ALL = f'export LD_LIBRARY_PATH="$(printf %s: {_PACKAGES}/*/lib)$LD_LIBRARY_PATH"'


@rule(
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "tensorflow-import-failed",
        "cpu-fallback",
    ),
)
def check(faults: LibraryFaults, packages: Packages, context: Context) -> Finding | Skip | None:
    """Report libraries that are installed outside the loader's search path."""
    unreachable = faults.blocking("unreachable")
    if not unreachable:
        return faults.skip
    libraries = faults.libraries
    names = list(dict.fromkeys(fault.soname for fault in unreachable))  # a library may have several faults
    release = releases.release(libraries.tensorflow or "")
    defect = release is not None and not release.cusolver_reachable and names == ["libcusolver.so.11"]
    assignment = _assignment(unreachable, packages)
    needing = list(dict.fromkeys(fault.library.soname for fault in unreachable))
    searching = "it does" if set(needing) & set(names) else f"{listing(needing)} {'does' if len(needing) == 1 else 'do'}"
    where = f"the {'folder' if len(names) == 1 else 'folders'} of {listing(names)}"
    return Finding(
        summary=f"TensorFlow {libraries.tensorflow} cannot use the GPU: {searching} not search {where}"
        f"{' (a bug in this release)' if defect else ''}.",
        evidence=(
            *(item for fault in unreachable for item in fault.evidence),
            *saw(libraries, "loader"),
            *_searched(faults),
            *saw(libraries, "library_path"),
        ),
        fix=repairs(context, assignment=assignment, found=True),
        assignments=() if assignment is None else (assignment,),
    )


def _searched(faults: LibraryFaults) -> tuple[Evidence, ...]:
    """Return the wheels' folders in the loader's RUNPATH by short name: "cublas" for .../nvidia/cublas/lib."""
    names = (folder.partition("/nvidia/")[2].partition("/")[0] for folder in faults.libraries.runpath)
    wheels = sorted({name for name in names if name})
    return (Evidence(fact="libraries", field="runpath", value=wheels),) if wheels else saw(faults.libraries, "runpath")


def _assignment(unreachable: list[Fault], packages: Packages) -> Assignment | None:
    """Return the assignment that adds the missing folders, each once; None if the variable can't contain a folder's name."""
    folders = list(dict.fromkeys(_folder(fault, packages) for fault in unreachable))
    if any(":" in folder or ";" in folder or not folder.isprintable() for folder in folders):
        return None  # the loader splits the variable at these characters and has no quoting
    names = list(dict.fromkeys(fault.soname for fault in unreachable))
    verb = "is" if len(names) == 1 else "are"
    return search_first(folders, f"{listing(names)} {verb} outside the search path of TensorFlow's loader")


def _folder(fault: Fault, packages: Packages) -> str:
    """Return the folder of the copy that was installed for this TensorFlow, else of the first one found."""
    sites = tuple({f"{package.folder}/nvidia/" for package in packages.nvidia})
    own = [copy for copy in fault.copies if copy.startswith(sites)] if sites else []
    return (own or list(fault.copies))[0].rpartition("/")[0]


def repairs(context: Context, *, sonames: str = "", assignment: Assignment | None = None, found: bool = False) -> Fixes:
    """Make the loader search the folders, or use a release that searches them.

    Args:
        context: what is known about the machine.
        sonames: the libraries, as a log names them: "libcusolver.so.11".
        assignment: the variable that lists their folders; None if unknown.
        found: whether the folders are known; without an assignment, no variable can then contain them.
    """
    release = releases.release(context.framework_version or "")
    defect = sonames == "libcusolver.so.11" or (not sonames and (release is None or not release.cusolver_reachable))
    export = statement(assignment) if assignment is not None else "" if found or not defect else _CUSOLVER
    if export:
        one = assignment is None or ":" not in assignment.value
        text = "Add only this folder before starting Python (adding every CUDA folder slows XLA's first step)"
        yield Fix(text=text if one else "Add these folders before starting Python", command=export)
    if export and context.interpreter is not None and context.interpreter.environment == "venv":
        activate = word(f"{context.interpreter.prefix}/bin/activate")
        command = f"printf '%s\\n' {word(export)} >> {activate}"
        yield Fix(text="Make it permanent in this virtual environment", command=command)
    yield context.with_cuda()
    if not found and not defect:
        yield Fix(text="Or add the folders of pip's libraries to LD_LIBRARY_PATH before Python starts", command=_ALL)
