"""The baseline for reading a log: search every line once, in lower case, for three words.

python plain_reading.py FILE; with --make, first write the log of a normal training there: 64 MB of progress bars.
"""

import re
import sys

EPOCH = (
    "Epoch {epoch}/4000",
    *(
        "{}/1875 [=====>........................] - ETA: {}s 3ms/step - accuracy: 0.9{} - loss: 0.0{}".format(*[n] * 4)
        for n in range(99)
    ),
    "INFO:root:saved checkpoint at /data/run/ckpt-{epoch}",
    "2026-11-20 17:28:29.0{epoch}: I tensorflow/core/framework/local_rendezvous.cc:405] Local rendezvous is aborting: "
    "OUT_OF_RANGE: End of sequence",
)
BYTES = 64_000_000


def make(path):
    written = epoch = 0
    with open(path, "w") as file:
        while written < BYTES:
            epoch += 1
            written += file.write("\n".join(EPOCH).replace("{epoch}", str(epoch)) + "\n")


def read(path):
    words = re.compile("error|failed|out of memory")
    with open(path) as file:
        return sum(words.search(line.lower()) is not None for line in file)


if __name__ == "__main__":
    if "--make" in sys.argv:
        make(sys.argv[1])
    print(read(sys.argv[1]))
