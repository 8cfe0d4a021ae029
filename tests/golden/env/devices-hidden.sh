unset CUDA_VISIBLE_DEVICES  # it hides every GPU (-1)
