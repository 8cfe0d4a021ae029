"""A CUDA variable has a value that CUDA rejects, so that it does not start at all.

Symptom:
    failed call to cuInit: CUDA_ERROR_INVALID_DEVICE: invalid device ordinal
    nvidia-smi works, and no CUDA program does
Cause:
    CUDA_DEVICE_ORDER takes exactly two values, FASTEST_FIRST and PCI_BUS_ID, in capitals. With any other, cuInit itself fails
    with error 101 (measured on driver 580), although no GPU was asked for by number.
Fix:
    1. See what is set
       ? env | grep -E '^(CUDA|NVIDIA)_'
    2. Give CUDA_DEVICE_ORDER a value that CUDA knows
       $ export CUDA_DEVICE_ORDER=PCI_BUS_ID
    3. Or leave the order to CUDA, which means FASTEST_FIRST
       $ unset CUDA_DEVICE_ORDER
Verify:
    gpucheck --quick finds nothing.
Unless:
    Never; no CUDA program runs with it.
Example:
    environment.variables = {"CUDA_DEVICE_ORDER": "FOO"}
    cuda = {"status": "failed", "result": 101, "result_name": "CUDA_ERROR_INVALID_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA does not start because CUDA_DEVICE_ORDER=FOO is none of the values it knows: FASTEST_FIRST and PCI_BUS_ID.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (CUDA Environment Variables)
"""

from gpucheck.advice.shells import statement
from gpucheck.engine.plugin import rule
from gpucheck.model import Assignment, Finding, Fix, Operation, Scope, Severity, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.environment import Environment
from gpucheck.rules.gpu_not_detected import WITHOUT_CUDA

_INVALID_DEVICE = 101
_TEXTS = {"FASTEST_FIRST": "Let CUDA number the fastest GPU first", "PCI_BUS_ID": "Number the GPUs as nvidia-smi does"}
_ORDERS = tuple(_TEXTS)


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=(*WITHOUT_CUDA, "devices-hidden"))
def check(environment: Environment, cuda: Cuda) -> Finding | None:
    """A foreign value, and CUDA's refusal: a value that CUDA lets pass is no finding."""
    order = environment.variables.get("CUDA_DEVICE_ORDER")
    if not order or order in _ORDERS or cuda.result != _INVALID_DEVICE:
        return None
    assignment = _assignment(order)
    return Finding(
        summary=f"CUDA does not start because CUDA_DEVICE_ORDER={order} is none of the values it knows: {' and '.join(_ORDERS)}.",
        evidence=(*saw(environment, "variables.CUDA_DEVICE_ORDER"), *saw(cuda, "status", "result_name")),
        fix=(
            Fix(text=_TEXTS[assignment.value], command=statement(assignment)),
            Fix(text="Or leave the choice to CUDA", command="unset CUDA_DEVICE_ORDER"),
        ),
        assignments=(assignment,),
    )


def _assignment(order: str) -> Assignment:
    """What was meant, where only its letters or blanks are wrong; else the order in which nvidia-smi numbers GPUs."""
    meant = order.strip().upper()
    return Assignment(
        variable="CUDA_DEVICE_ORDER",
        operation=Operation.SET,
        value=meant if meant in _ORDERS else "PCI_BUS_ID",
        reason=f"CUDA does not start with {' '.join(order.split()) if order.isprintable() else 'its value'}:"
        f" it knows {' and '.join(_ORDERS)} only",
    )
