import tensorflow as tf
STEPS = {}
def step(name):
    def register(method):
        STEPS[name] = method
        return method
    return register
class Job:
    @step("build")
    def build(self):
        self.strategy = tf.distribute.MirroredStrategy()
        with self.strategy.scope():
            self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    def run(self):
        self.build()
        self.model.compile(tf.keras.optimizers.Adam(), "mse")  # finding
Job().run()
