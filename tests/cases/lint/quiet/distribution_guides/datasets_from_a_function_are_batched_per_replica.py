import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
def dataset_fn(input_context):
    per_replica_batch_size = input_context.get_per_replica_batch_size(64)
    dataset = tf.data.Dataset.from_tensors([1.0]).repeat(100).batch(per_replica_batch_size)
    return dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id).prefetch(2)
dist = strategy.distribute_datasets_from_function(dataset_fn)
