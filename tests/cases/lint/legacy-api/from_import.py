from tensorflow import placeholder
from tensorflow.train import GradientDescentOptimizer as SGD

x = placeholder("float32", [None, 8])  # finding
step = SGD(learning_rate=0.1)  # finding
