import tensorflow as tf
def show():
    print(tf.config.experimental.list_logical_devices("GPU"))
def setup(gpus):
    for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, True)  # finding
def main():
    show()
    setup(tf.config.list_physical_devices("GPU"))
if __name__ == "__main__":
    main()
