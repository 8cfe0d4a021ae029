"""Arbitrary library headers are read without an exception."""

import struct

from fakes import FakeHost
from fuzz.inputs import Bounded, changed, fuzzed
from hypothesis import given

from gpucheck.core.probes import _elf

HEADER = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
LOADED = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 400, 400, 4096)
DYNAMIC = struct.pack("<IIQQQQQQ", 2, 6, 176, 176, 176, 64, 64, 8)
ENTRIES = struct.pack("<qQqQqQqQ", 29, 1, 5, 240, 15, 1, 0, 0)
LIBRARY = HEADER + LOADED + DYNAMIC + ENTRIES + b"\0$ORIGIN/../lib:/opt/x\0" + b"\0" * 200


@fuzzed
@given(changed(LIBRARY, LIBRARY[:100]))
def test_any_header_is_read(data):
    with Bounded():
        host = FakeHost({"/l.so": data})
        _elf.problem(host, "/l.so", "x86_64")
        _elf.search_path(host, "/l.so")
