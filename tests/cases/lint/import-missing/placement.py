tf.debugging.set_log_device_placement(True)  # finding
