import horovod.tensorflow as hvd
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")  # finding
opt = hvd.DistributedOptimizer(tf.keras.optimizers.Adagrad(0.01))
hvd.broadcast_variables(opt.variables, root_rank=0)
