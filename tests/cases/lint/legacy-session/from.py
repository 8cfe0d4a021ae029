from tensorflow import Session, ConfigProto
s=Session(config=ConfigProto())  # finding
