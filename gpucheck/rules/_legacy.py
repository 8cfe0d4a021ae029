"""What took the place of the names that TensorFlow 2 and Keras have removed."""

from gpucheck.model import Fix

# The names that are not here live on in tf.compat.v1.
_NOW = {
    "ConfigProto": "tf.config.experimental.set_memory_growth(gpu, True) and tf.config.set_visible_devices",
    "GPUOptions": "tf.config.experimental.set_memory_growth(gpu, True)",
    "InteractiveSession": "call functions directly, or tf.compat.v1.InteractiveSession",
    "Session": "call functions directly, or tf.compat.v1.Session",
    "contrib": "tf_keras, tensorflow-addons or tf-slim, which have parts of it; the rest is gone",
    "gfile": "tf.io.gfile",
    "layers": "tf.keras.layers",
    "log": "tf.math.log",
    "multi_gpu_model": "tf.distribute.MirroredStrategy",
    "multi_gpu_utils": "tf.distribute.MirroredStrategy",
    "set_random_seed": "tf.random.set_seed",
}


def replacements(name: str) -> tuple[Fix, ...]:
    """What to write in the place of that name, one use at a time or in the whole program."""
    last = name.rpartition(".")[2]
    return (
        Fix(text=f"Use in its place: {_NOW.get(last, f'tf.compat.v1.{last}')}"),
        Fix(text="Rewrite a whole program, as far as that goes", command="tf_upgrade_v2 --infile old.py --outfile new.py"),
    )
