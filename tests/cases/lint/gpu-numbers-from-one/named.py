from tensorflow.distribute import MirroredStrategy
GPUS = ['/GPU:1', '/GPU:2', '/GPU:3', '/GPU:4']
s = MirroredStrategy(GPUS)  # finding
