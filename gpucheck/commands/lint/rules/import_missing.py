"""The script uses tf, keras or np, but does not import them.

Symptom:
    - NameError: name 'tf' is not defined
    - NameError: name 'keras' is not defined
Cause:
    A code sample was copied without its imports.
Fix:
    1. Add the import at the top: import tensorflow as tf, import keras, or import numpy as np.
Verify:
    The script runs without the NameError.
Unless:
    Another program defines the name before it runs this text with exec. Scripts with a star import, exec or globals(), and
    notebooks that run another notebook, are not reported.
Example:
    bad:
        gpus = tf.config.list_physical_devices("GPU")
    good:
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
References:
    https://docs.python.org/3/tutorial/modules.html
    https://www.tensorflow.org/install/pip
"""

import ast
import re

from gpucheck.commands.lint.edits import add_import
from gpucheck.commands.lint.script import Findings, Script, at, rule

IMPORTS = {"tf": "import tensorflow as tf", "keras": "import keras", "np": "import numpy as np"}
# Attributes that only these modules have, so the name definitely means the module.
KNOWN = re.compile(
    r"(tf\.(config|data|debugging|distribute|keras|device|function|constant|Variable|GradientTape|tpu|train|Session|ConfigProto)"
    r"|keras\.(layers|models|Sequential|Model|Input|utils|backend|mixed_precision|optimizers|losses|datasets|applications|callbacks)"
    r"|np\.(array|zeros|ones|random|float32|arange|load))\b"
)


@rule(words=("tf.", "keras."))
def check(script: Script) -> Findings:
    """Report the first use of each name that nothing in the file binds."""
    left = set(IMPORTS) & script.unbound
    uses = [node for node in ast.walk(script.tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    for use in sorted(uses, key=lambda node: (node.lineno, node.col_offset)):
        name = ast.unparse(use.value)
        if name in left and KNOWN.fullmatch(ast.unparse(use)):
            left.remove(name)
            message, statement = f"{name} is not defined: its import is missing.", IMPORTS[name]
            if name == "keras" and "tensorflow" in script.modules() and "keras" not in script.modules():
                statement = "from tensorflow import keras"
            yield at(use.value, message, f"Add: {statement}", add_import(script, statement, use))
