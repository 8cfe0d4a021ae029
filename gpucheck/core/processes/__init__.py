"""Child processes shared by probes and `gpucheck bench`: queries of the driver, NVML's sampler, too little memory on purpose."""
