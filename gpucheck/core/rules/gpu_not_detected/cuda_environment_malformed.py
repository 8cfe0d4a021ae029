"""A CUDA environment variable has a value that CUDA rejects, so CUDA can't be initialized.

Symptom:
    failed call to cuInit: CUDA_ERROR_INVALID_DEVICE: invalid device ordinal
    - nvidia-smi works, but no CUDA program does
Cause:
    CUDA_DEVICE_ORDER accepts exactly two values, FASTEST_FIRST and PCI_BUS_ID, in capitals. With any other value, cuInit fails
    with error 101 (measured on driver 580), although no GPU was selected by number. It fails in the same way if
    CUDA_VISIBLE_DEVICES lists a GPU twice, as in 0,0.
Verify:
    gpucheck --quick finds nothing.
Unless:
    Never: no CUDA program runs with this value.
Example:
    environment.variables = {"CUDA_DEVICE_ORDER": "FOO"}
    cuda = {"status": "failed", "result": 101, "result_name": "CUDA_ERROR_INVALID_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA can't be initialized because CUDA_DEVICE_ORDER=FOO is not a valid value: it must be FASTEST_FIRST or PCI_BUS_ID.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (CUDA Environment Variables)
"""

from gpucheck.core.compat.cuda import CUDA_ERROR_INVALID_DEVICE
from gpucheck.core.model import Assignment, Finding, Fix, Fixes, Operation, Scope, rule, saw
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.environment import Environment
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA
from gpucheck.core.system.shells import statement

_ORDER, _VISIBLE = "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES"
_TEXTS = {"FASTEST_FIRST": "Number the fastest GPU first", "PCI_BUS_ID": "Number the GPUs as nvidia-smi does"}
_ORDERS = tuple(_TEXTS)


@rule(scope=Scope.ENVIRONMENT, explains=(*WITHOUT_CUDA, "devices-hidden"))
def check(environment: Environment, cuda: Cuda, context: Context) -> Finding | None:
    """Report an invalid value if CUDA refused to start; a value that CUDA accepts is not reported."""
    if cuda.result != CUDA_ERROR_INVALID_DEVICE:
        return None
    order = environment.variables.get(_ORDER)
    if order and order not in _ORDERS:
        wrong, assignment = f"is not a valid value: it must be {' or '.join(_ORDERS)}", _order(order)
    else:
        listed = [entry.strip() for entry in environment.variables.get(_VISIBLE, "").split(",")]
        if len(set(listed)) == len(listed):
            return None
        twice = next(entry for entry in listed if listed.count(entry) > 1)
        wrong, assignment = f"lists {twice} more than once", _each_once(listed, twice)
    variable = assignment.variable
    return Finding(
        summary=f"CUDA can't be initialized because {variable}={environment.variables[variable]} {wrong}.",
        evidence=(*saw(environment, f"variables.{variable}"), *saw(cuda, "status", "result_name")),
        fix=repairs(context, variable=variable, value=assignment.value),
        assignments=(assignment,),
    )


def _order(order: str) -> Assignment:
    """Return the intended value if only case or spaces are wrong; else nvidia-smi's order."""
    meant = order.strip().upper()
    return _assign(
        _ORDER,
        meant if meant in _ORDERS else "PCI_BUS_ID",
        f"CUDA can't be initialized with {' '.join(order.split()) if order.isprintable() else 'its value'}:"
        f" it accepts only {' and '.join(_ORDERS)}",
    )


def _each_once(listed: list[str], twice: str) -> Assignment:
    """Return the same GPUs in the same order, each once."""
    shown = twice if twice.isprintable() else "a GPU"
    once = ",".join(dict.fromkeys(listed))
    return _assign(_VISIBLE, once, f"CUDA can't be initialized if {shown} is listed more than once")


def repairs(context: Context, *, variable: str = "", value: str = "") -> Fixes:
    """Set the variable to a value that CUDA accepts.

    Args:
        context: what is known about the machine.
        variable: the variable with the invalid value; empty if unknown.
        value: the correct value; empty if unknown.
    """
    if variable:
        text, leave = "List each GPU once", "Or make every GPU visible to CUDA"
        if variable == _ORDER:
            text, leave = _TEXTS[value], "Or use CUDA's default order"
        yield Fix(text=text, command=statement(_assign(variable, value)))
        yield Fix(text=leave, command=f"unset {variable}")
        return
    numbered = f"If {_ORDER} is set: number the GPUs as nvidia-smi does"
    yield Fix(text=numbered, command=statement(_assign(_ORDER, "PCI_BUS_ID")))
    once = f"If {_VISIBLE} lists a GPU twice: list each once"
    yield Fix(text=once, command=statement(_assign(_VISIBLE, "0")))
    look = Fix.look("Check which variables are set", "env | grep -E '^(CUDA|NVIDIA)_'")
    yield from context.only(look, system="linux|wsl")


def _assign(variable: str, value: str, reason: str = "") -> Assignment:
    return Assignment(variable=variable, operation=Operation.SET, value=value, reason=reason)
