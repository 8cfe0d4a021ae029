from tensorflow import config
def setup():
    devices = config.experimental.list_physical_devices("GPU")
    config.experimental.set_memory_growth(devices[0], enable=True)  # finding
