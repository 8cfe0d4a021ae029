import os, time
for _ in range(2):  # forked twice into its own session: reparented, and in another process group
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            time.sleep(100)
        os._exit(0)
