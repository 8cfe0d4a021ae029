import click
import tensorflow as tf
@click.group()
def cli():
    pass
@cli.command()
@click.option("--size")
def train(size):
    strategy = tf.distribute.MirroredStrategy()
    model = tf.keras.Sequential([tf.keras.layers.Dense(size)])  # finding
    model.compile("adam", "mse")
    model.fit(x, y)
cli()
