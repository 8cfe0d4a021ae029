import multiprocessing as mp
import tensorflow as tf
def download(url): return fetch(url)
tf.constant(1)
with mp.Pool(4) as pool:
    pool.map(download, urls)
