import sys, json
import tensorflow as tf, keras
from gpucheck.core.training.smoke import network, tensorflow
losses = {}
for precision in sys.argv[1:]:
    reference = tensorflow.cpu_first_loss(tf, keras, precision, 16)
    keras.backend.clear_session()
    keras.mixed_precision.set_global_policy(precision)
    keras.utils.set_random_seed(network.SEED)
    model = network.model(keras, False)
    losses[precision] = reference, model.fit(network.dataset(tf, 16), steps_per_epoch=1, verbose=0).history["loss"][0]
print(json.dumps(losses))
