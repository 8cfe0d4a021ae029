import os, time
for _ in range(2):  # twice forked, in a session of its own: nobody's child, and in nobody's group
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            time.sleep(100)
        os._exit(0)
