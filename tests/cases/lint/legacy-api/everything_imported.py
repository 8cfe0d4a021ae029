from tensorflow import *

flags.DEFINE_string("data", "", "folder")  # finding
