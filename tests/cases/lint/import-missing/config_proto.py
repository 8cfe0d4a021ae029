config = tf.ConfigProto()  # finding: import-missing, legacy-session
session = tf.Session(config=config)  # finding: legacy-session
