from tensorflow import placeholder  # finding
from tensorflow.train import GradientDescentOptimizer as SGD  # finding

x = placeholder("float32", [None, 8])
step = SGD(learning_rate=0.1)
