import sys
import tensorflow as tf
def show(verbose):
    if not verbose:
        return
    print(tf.config.list_logical_devices("GPU"))
def main():
    verbose = "-v" in sys.argv
    if verbose:
        show(verbose)
        return
    show(verbose)
    for g in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(g, True)
main()
