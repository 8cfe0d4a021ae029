import os
from keras.models import Sequential
os.environ["KERAS_BACKEND"]="torch"  # finding
