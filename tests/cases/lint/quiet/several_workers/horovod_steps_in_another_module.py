"""The project's own module may wrap the optimizer, broadcast the weights and select the GPU."""
import horovod.tensorflow.keras as hvd
import keras
import project
hvd.init()
model = keras.Sequential([keras.layers.Dense(1)])
project.compile(model)
model.fit(project.x, project.y)
