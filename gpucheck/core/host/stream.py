"""The output of a child on one stream: a limited part of its start and its end is kept.

The pipe between the two buffers little, so a child that writes faster than we read is blocked and takes no memory.
"""

import contextlib
import os
import select
import threading

PIECE_BYTES = 1 << 16  # the size of a pipe on Linux
PIECES_MAX = 32  # read in one call from a child that never stops writing
CLOSE_SECONDS = 0.5
POLLS = hasattr(select, "poll")  # on Windows reading from a pipe always blocks, so only ``follow`` may read


class Stream:
    """The reading end of a pipe. All methods are thread-safe."""

    def __init__(self, begin_bytes: int, end_bytes: int) -> None:
        """Open the pipe.

        Args:
            begin_bytes: how much of the start is kept.
            end_bytes: how much of the end is kept.
        """
        self.size = 0  # bytes read so far, kept or not
        self._begin_bytes, self._end_bytes = begin_bytes, end_bytes
        self._begin, self._end = bytearray(), bytearray()
        self._reading = threading.Lock()  # keeps pieces in the order of reading
        self._keeping = threading.Lock()
        self._reader: int | None
        self._reader, self.writer = os.pipe()
        if POLLS:
            os.set_blocking(self._reader, False)

    def drain(self) -> bool:
        """Read what has arrived; return whether more can arrive."""
        if not self._reading.acquire(blocking=POLLS):
            return True
        try:
            for _ in range(PIECES_MAX):
                if self._reader is None or not self._read(self._reader):
                    return False
        except BlockingIOError:
            pass
        finally:
            self._reading.release()
        return True

    def read(self, offset: int) -> bytes:
        """Return the output from an offset on, within the start that is kept."""
        self.drain()
        with self._keeping, memoryview(self._begin) as begin:
            return bytes(begin[offset:])

    def text(self, limit: int) -> str:
        """Return the output; above ``limit`` bytes, the start, a note of the omitted part, and three times as much of the end."""
        self.drain()
        limit = min(limit, self._begin_bytes + self._end_bytes)
        with self._keeping:
            size, begin, end = self.size, bytes(self._begin), bytes(self._end[-self._end_bytes :])
        if size <= limit:
            return (begin + end).decode("utf-8", "replace")
        if size == len(begin) + len(end):
            begin = end = begin + end
        begin = begin[: limit // 4].rpartition(b"\n")[0]
        end = end[-(limit - limit // 4) :].partition(b"\n")[2]
        left_out = f"\n... {size - len(begin) - len(end)} bytes left out ...\n"
        return begin.decode("utf-8", "replace") + left_out + end.decode("utf-8", "replace")

    def close(self) -> None:
        """Close the pipe; the kept output stays available."""
        reading = self._reading.acquire(timeout=CLOSE_SECONDS)  # else a read could hit a new file with the same descriptor
        self._close_reader()
        if reading:
            self._reading.release()

    def wait(self, poller: "select.poll") -> None:
        """Register the pipe with a poller."""
        reader = self._reader
        if reader is not None:
            poller.register(reader, select.POLLIN)

    def _read(self, reader: int) -> bool:
        data = os.read(reader, PIECE_BYTES)
        if not data:
            self._close_reader()
            return False
        with self._keeping:
            self.size += len(data)
            room = max(0, self._begin_bytes - len(self._begin))
            self._begin += data[:room]
            self._end += data[room:]
            if len(self._end) > 2 * self._end_bytes:  # twice the size, to move data less often
                del self._end[: len(self._end) - self._end_bytes]
        return True

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with contextlib.suppress(OSError):
                os.close(reader)


def follow(streams: list[Stream]) -> None:
    """Read the streams until they end."""
    while streams:
        if POLLS:
            poller = select.poll()
            for stream in streams:
                stream.wait(poller)
            poller.poll(1000)
        streams = [stream for stream in streams if stream.drain()]
