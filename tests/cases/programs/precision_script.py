from gpucheck.core.training.experiments import Setting
from gpucheck.core.training.experiments import precision

def account(device, name, rate):
    return replace(Job("one_device", (device,), name).planned_run, status="passed", samples_per_second=rate)

setting.results = [account("CPU:0", "float32", 100.0), account("CPU:0", "mixed_float16", 150.0),
                account("CPU:1", "mixed_bfloat16", 150.0)]
found["correct"] = precision.run(setting)
found["policy"] = keras.mixed_precision.global_policy().name

scaler = keras.optimizers.LossScaleOptimizer
scaler.__init__.__defaults__ = (2.0**40, *scaler.__init__.__defaults__[1:])
found["overflowing"] = precision.run(setting)
