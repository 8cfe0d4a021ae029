"""Child processes as several probes and `gpucheck bench` use them: which one trains, what the driver answered, how one died."""
