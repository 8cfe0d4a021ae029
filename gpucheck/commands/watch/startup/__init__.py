"""The folder that ``gpucheck run --watch`` puts first on PYTHONPATH. It contains only ``sitecustomize``."""
