import tensorflow as tf
def show(verbose):
    if verbose is None:
        raise ValueError(verbose)
    print(tf.config.list_logical_devices("GPU"))
    if not verbose:
        return
    print("shown")
def main(verbose):
    show(verbose)
    for g in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(g, True)  # finding
