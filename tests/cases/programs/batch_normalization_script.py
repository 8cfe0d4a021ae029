from gpucheck.core.training.experiments import batch_normalization

found["correct"] = batch_normalization.run(setting)
real = network.model
network.model = lambda keras, compiled, synchronized=False, dropout=0.3: real(keras, compiled, False, dropout)
found["never"] = batch_normalization.run(setting)
network.model = lambda keras, compiled, synchronized=False, dropout=0.3: real(keras, compiled, True, dropout)
found["always"] = batch_normalization.run(setting)
