import os, re, runpy, sys
leave = os._exit
def end(code):
    os.write(2, b"peak " + re.search(rb"VmHWM:\s+(\d+)", open("/proc/self/status", "rb").read())[1])
    leave(code)
os._exit = end
sys.argv[0] = "gpucheck"
runpy.run_module("gpucheck", run_name="__main__")
