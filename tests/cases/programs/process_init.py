import ctypes, os, sys, time
sys.path.insert(0, sys.argv[1])
from gpucheck.core.host.process import Process
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER: adopt orphans, like init in a container
process = Process(["sh", "-c", "sh -c 'sleep 600 & sleep 600' & exit 0"], dict(os.environ))
process.wait(time.monotonic() + 10)
process.kill()
process.reap()
process.close()
try:
    print("left:", os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("none left")
