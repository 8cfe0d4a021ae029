"""The precision is chosen after the model was built.

Symptom:
    - Training with mixed_float16 is not faster than without, and takes as much memory.
    - model.layers[0].dtype_policy still says float32.
Cause:
    A layer reads the global policy when it is created, and keeps it. A policy that is set later applies only to later layers.
Fix:
    1. Call keras.mixed_precision.set_global_policy before the first layer is created.
Verify:
    print(model.layers[0].dtype_policy) prints the policy.
Unless:
    Layers are created after the policy is set; such programs are not reported.
Example:
    bad:
        import keras
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        keras.mixed_precision.set_global_policy("mixed_float16")
        model.compile(loss="mse")
        model.fit(x, y)
    good:
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(x, y)
References:
    https://www.tensorflow.org/guide/mixed_precision
    https://keras.io/api/mixed_precision/policy/
"""

from gpucheck.commands.lint.layers import policies
from gpucheck.commands.lint.lookup import before
from gpucheck.commands.lint.models import is_model
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call


@rule(severity="warning", words=("set_global_policy", "set_dtype_policy", "set_policy"))
def check(script: Script) -> Findings:
    """Report the first policy other than float32 if it comes between a model and its training, and no layer is created later."""
    for policy, value in [pair for pair in policies(script) if pair[1] != "float32"][:1]:
        late = any(_creates(call) and call.place.order > policy.place.order for call in script.calls)
        if value not in ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16") or late:
            continue
        for fit, models in script.trainings:
            if len(models) == 1 and before(models[0].place, policy.place) and before(policy.place, fit.place):
                built = script.where(models[0].node)
                message = f"The policy {value} is set after the model was built ({built}): its layers keep their policy."
                yield at(policy.node, message, "Move it above the first layer of this model.")
                break


def _creates(call: Call) -> bool:
    return call.name.startswith(("keras.layers.", "keras.applications.")) or is_model(call)
