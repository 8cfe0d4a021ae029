from gpucheck.core.training.experiments import batch_normalization

class Broken:
    """Keras, whose batch normalization ignores the argument synchronized."""
    def __init__(self, synchronized):
        self.layers, self.synchronized = self, synchronized
    def BatchNormalization(self, **options):
        return keras.layers.BatchNormalization(**{**options, "synchronized": self.synchronized})
    def __getattr__(self, name):
        return getattr(keras if hasattr(keras, name) else keras.layers, name)

found["correct"] = batch_normalization.run(setting)
found["never"] = batch_normalization.run(Setting(tf, Broken(False), setting.names, []))
found["always"] = batch_normalization.run(Setting(tf, Broken(True), setting.names, []))
