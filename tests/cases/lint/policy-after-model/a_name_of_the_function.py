from tensorflow.keras import Sequential, layers
from tensorflow.keras.mixed_precision import set_global_policy

net = Sequential([layers.Dense(4), layers.Dense(1)])
set_global_policy(policy="mixed_float16")  # finding
net.compile("sgd", "mse")
net.fit(data)
