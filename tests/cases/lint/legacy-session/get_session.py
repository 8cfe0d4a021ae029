from keras import backend as K
s=K.get_session()  # finding
