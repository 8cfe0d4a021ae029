import sys, threading
def trace(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "_train" and frame.f_code.co_filename.endswith("parallel_devices.py"):
        if frame.f_locals["self"].variables.device == "CPU:2":
            import os, signal
            os.kill(os.getpid(), signal.SIGSEGV)
    elif event == "call" and frame.f_code.co_name == "_recorder" and frame.f_code.co_filename.endswith("fit.py"):
        if "CPU:2" in frame.f_locals["job"]:
            import os, signal
            os.kill(os.getpid(), signal.SIGSEGV)
threading.settrace(trace)
sys.settrace(trace)
