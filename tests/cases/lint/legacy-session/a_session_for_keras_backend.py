from tensorflow.compat.v1 import ConfigProto, InteractiveSession
from tensorflow.compat.v1.keras import backend as K
config = ConfigProto()
config.gpu_options.allow_growth = True
K.set_session(InteractiveSession(config=config))  # finding
