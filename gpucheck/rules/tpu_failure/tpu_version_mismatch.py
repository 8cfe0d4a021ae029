"""The installed libtpu does not fit the installed tensorflow-tpu.

Symptom:
    F tpu_library_init_fns.inc:12] ConfigureDistributedTpuOp_DoWork not available in this library.
    Aborted (core dumped), at import tensorflow
    No matching distribution found for libtpu==2.18.0
Cause:
    tensorflow-tpu 2.20 accepts any libtpu from 0.0.14 on, so pip takes the newest; those from 0.0.45 on no longer have the
    functions that TensorFlow calls, and the import aborts. Older releases fit exactly one libtpu, and installing JAX for TPUs
    replaces it.
Fix:
    1. Install a pair that fits; for tensorflow-tpu 2.20
       $ python -m pip install "tensorflow-tpu==2.20.0" "libtpu==0.0.43.2"
    2. Up to 2.18
       $ python -m pip install "libtpu==2.18.0" -f https://storage.googleapis.com/libtpu-tf-releases/index.html
Verify:
    python -c "import tensorflow" ends without an abort.
Unless:
    Never: the import fails.
Example:
    machine: tpu-v5e
    packages.libtpu.version = "0.0.51"
    tpu.libtpu = "0.0.51"
    tpu_resolver = {"tried": false, "reason": "TensorFlow could not be imported"}
    tensorflow = {"imported": null, "error": "killed by SIGABRT", "ending": "killed by SIGABRT"}
    keras = {}
    training = {"runs": [], "ending": "killed by SIGABRT", "stage": "import"}
    -> libtpu 0.0.51 does not fit tensorflow-tpu 2.20.0, which then aborts or finds no TPU.
References:
    https://pypi.org/project/tensorflow-tpu/
    https://pypi.org/project/libtpu/
"""

from gpucheck.combiners.log_causes import LogCauses
from gpucheck.compat import tpu as tpus
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.tpu_resolver import TpuResolver
from gpucheck.rules._commands import install
from gpucheck.rules._tpu import connected, from_log, runtime


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "tpu-unreachable", "training-failed", "training-crashed"),
    tensorflow=True,
)
def check(
    tpu: Tpu | None,
    interpreter: Interpreter | None,
    tensorflow: TensorFlow | None,
    resolver: TpuResolver | None,
    log_causes: LogCauses,
) -> Finding | Skip | None:
    """The pair is known not to work, and nothing shows that it does."""
    if tpu is None:
        fix = (Fix(text="Install a pair that fits", command=install(interpreter, *runtime())),)
        return from_log(log_causes, "tpu-version-mismatch", fix)
    if tpu.tensorflow_tpu is None or connected(resolver):
        return None
    if not tpu.expected and tensorflow is not None and tensorflow.imported:
        return None  # no TPU is meant, and the import survived
    if tpu.libtpu is None:
        return None  # tpu-runtime-missing
    fits = tpus.libtpu_matches(tpu.tensorflow_tpu, tpu.libtpu)
    if fits is None:
        seen = from_log(log_causes, "tpu-version-mismatch", _fix(interpreter, tpu.tensorflow_tpu))
        return seen if isinstance(seen, Finding) else Skip(f"whether libtpu {tpu.libtpu} fits is not known")
    if fits:
        return None
    return Finding(
        summary=f"libtpu {tpu.libtpu} does not fit tensorflow-tpu {tpu.tensorflow_tpu}, which then aborts or finds no TPU.",
        evidence=saw(tpu, "tensorflow_tpu", "libtpu"),
        fix=_fix(interpreter, tpu.tensorflow_tpu),
    )


def _fix(interpreter: Interpreter | None, tensorflow_tpu: str) -> tuple[Fix, ...]:
    return (Fix(text="Install the libtpu that fits", command=install(interpreter, *runtime(tensorflow_tpu)[1:])),)
