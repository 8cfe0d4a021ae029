# libcusolver.so.11 is outside the search path of TensorFlow's loader
if test -n "$LD_LIBRARY_PATH"; set -gx LD_LIBRARY_PATH '/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib' $LD_LIBRARY_PATH; else; set -gx LD_LIBRARY_PATH '/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib'; end
