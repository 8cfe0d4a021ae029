from tensorflow import config, data

dataset = data.Dataset.range(10)
config.set_visible_devices([], device_type="GPU")  # finding
