from tensorflow.distribute import TPUStrategy
from tensorflow.distribute.cluster_resolver import TPUClusterResolver
strategy = TPUStrategy(TPUClusterResolver(""))  # finding
