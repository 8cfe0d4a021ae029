"""The folder that ``gpucheck run --watch`` puts first on PYTHONPATH. It holds nothing but ``sitecustomize``."""
