import tensorflow

for name in ("/GPU:0", "/GPU:1"):
    tensorflow.device(name)  # finding
    result = tensorflow.ones((2, 2))
