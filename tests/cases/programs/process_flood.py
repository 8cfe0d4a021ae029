import os, re, sys, time
sys.path.insert(0, sys.argv[1])
from gpucheck.core.host.process import Process
writer = "import os\nfor _ in range(4096): os.write(%d, b'x' * 65535 + b'\\n')\nos.write(1, b'done')"
for number, report_bytes in ((2, 1 << 20), (2, None), (1, None)):
    process = Process([sys.executable, "-c", writer % number], dict(os.environ), report_bytes=report_bytes)
    ended = process.wait(time.monotonic() + 120)
    stream = process.err if number == 2 else process.out
    stream.drain()  # like a caller that reads the output
    print(ended, process.returncode, stream.size >> 20)
    process.kill()
    process.close()
# ru_maxrss would count the memory of the process that forked this one
print(int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) >> 10)
