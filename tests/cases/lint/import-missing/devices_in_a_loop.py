for name in ["/gpu:1", "/gpu:2"]:
    tf.device(name)  # finding: import-missing, device-not-entered
