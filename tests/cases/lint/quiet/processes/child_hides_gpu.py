import multiprocessing as mp, os
import tensorflow as tf
def work():
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf2
    print(1)
tf.zeros(3)
mp.Process(target=work).start()
