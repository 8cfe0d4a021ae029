export LD_LIBRARY_PATH="/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"  # libcusolver.so.11 is outside the search path of TensorFlow's loader
