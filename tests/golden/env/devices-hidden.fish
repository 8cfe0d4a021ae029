# it hides every GPU (-1)
set -e CUDA_VISIBLE_DEVICES
