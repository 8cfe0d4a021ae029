"""Which kernel log is read, and what of it belongs to this start of the machine and this life of the driver."""

import datetime
import time

import pytest
from fakes import FakeHost

from gpucheck.host import Completed
from gpucheck.model import Level, Request
from gpucheck.probes import kernel_log

BOOT = int(datetime.datetime(2026, 3, 1, 8, 0, tzinfo=datetime.timezone.utc).timestamp())
STAT = {"/proc/stat": f"cpu 1 2 3\nbtime {BOOT}\n"}
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
QUICK = Request(level=Level.QUICK)
JOURNAL = "journalctl -k -b --no-pager -q -o short-iso"


def iso(seconds, text):
    at = datetime.datetime.fromtimestamp(BOOT + seconds, datetime.timezone.utc)
    return f"{at.isoformat()} node1 kernel: {text}\n"


def dmesg(*texts):
    return "".join(f"[{number:6}.500000] {text}\n" for number, text in enumerate(texts, 60))


def asked(*texts, **more):
    return kernel_log.read(FakeHost(STAT, programs={"dmesg": dmesg("Linux version 6.8.0", *texts)}, **more))


def test_syslog_file_of_this_start_needs_no_program():
    old = iso(-90_000, "NVRM: Xid (PCI:0000:3b:00): 48, DBE")
    host = FakeHost({**STAT, "/var/log/kern.log": old + iso(1, "Linux version") + iso(3600, LOST)}, request=QUICK)
    fact = kernel_log.read(host)
    assert (fact.readable, fact.source, fact.problem) == (True, "/var/log/kern.log", None)
    (event,) = fact.events
    assert (event.code, event.device, event.time) == (79, "0000:3b:00.0", "2026-03-01T09:00:00Z")
    assert event.text == LOST
    assert host.ran == []


@pytest.fixture
def berlin(monkeypatch):
    if not hasattr(time, "tzset"):
        pytest.skip("this system's clock knows one zone")
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def test_syslog_lines_without_a_year(berlin):
    lines = f"Feb 27 09:00:00 node1 kernel: [    1.000000] {LOST}\nMar  1 09:01:00 node1 kernel: [   60.000000] {LOST}\n"
    fact = kernel_log.read(FakeHost({**STAT, "/var/log/messages": lines}, request=QUICK))
    assert [event.time for event in fact.events] == ["2026-03-01T08:01:00Z"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (iso(-90_000, LOST), "/var/log/kern.log does not go on into this start"),
        ("no date at all\n", "does not go on into this start"),
        ("", "does not go on into this start"),
    ],
)
def test_a_stale_file_proves_nothing(text, problem):
    fact = kernel_log.read(FakeHost({**STAT, "/var/log/kern.log": text}, request=QUICK))
    assert not fact.readable
    assert problem in fact.problem
    assert "--quick" in fact.problem


def test_lines_of_programs_are_not_the_kernels():
    text = iso(5, "Linux version") + iso(6, LOST).replace(" kernel: ", " train.py: ")
    assert kernel_log.read(FakeHost({**STAT, "/var/log/syslog": text}, request=QUICK)).events == ()


def test_dmesg():
    fact = asked(LOST)
    assert (fact.readable, fact.source) == (True, "dmesg")
    assert fact.events[0].time == "2026-03-01T08:01:01Z"


def test_dmesg_is_not_asked_with_quick():
    assert not asked(LOST, request=QUICK).readable


def test_what_was_said_before_the_module_was_loaded_anew_is_over():
    loading = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build"
    fact = asked(LOST, "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed!", loading, "NVRM: Xid (PCI:0000:5e:00): 94, Contained")
    assert [event.code for event in fact.events] == [94]
    assert fact.nvrm == ()


def test_other_complaints_and_no_chatter():
    fact = asked(
        "NVRM: GPU at PCI:0000:3b:00: GPU-509665ad-b600-ac93-3616-d754b23d636d",
        "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1589)",
        "usb 1-1: device descriptor read error",
    )
    assert fact.nvrm == ("NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1589)",)


@pytest.mark.parametrize(
    ("written", "device"),
    [
        ("(PCI:0000:9b:00)", "0000:9b:00.0"),
        ("(0000:03:00)", "0000:03:00.0"),
        ("(PCI:0018:01:00)", "0018:01:00.0"),
        ("(PCI:0000:10:1C GPU-I:05)", "0000:10:1c.0"),
        ("(PCI:00000001:3b:00.0)", "0001:3b:00.0"),
    ],
)
def test_devices_as_nvml_writes_them(written, device):
    assert [event.device for event in asked(f"NVRM: Xid {written}: 94, Contained").events] == [device]


def test_a_flood_of_one_kind_does_not_wash_the_others_away():
    fact = asked(LOST, *[f"NVRM: Xid (PCI:0000:5e:00): 31, pid={pid}, MMU Fault" for pid in range(500)])
    assert [event.code for event in fact.events] == [79, 31, 31, 31]
    assert "pid=499" in fact.events[-1].text


def test_at_most_fifty():
    fact = asked(*[f"NVRM: Xid (PCI:0000:{bus:02x}:00): 94, Contained" for bus in range(80)])
    assert len(fact.events) == 50
    assert fact.events[-1].device == "0000:4f:00.0"


REFUSED = Completed("exited", 1, "", "dmesg: read kernel buffer failed: Operation not permitted\n", 0.01)


def test_the_journal_is_the_last_resort():
    journal = f"2026-03-01T08:02:00+0000 node1 kernel: {LOST}\n"
    fact = kernel_log.read(FakeHost(STAT, programs={"dmesg": REFUSED, JOURNAL: journal}))
    assert (fact.source, fact.events[0].time) == ("journalctl -k -b", "2026-03-01T08:02:00Z")


@pytest.mark.parametrize(
    ("dmesg", "files", "words"),
    [
        (REFUSED, {"/proc/sys/kernel/dmesg_restrict": "1\n"}, "only root may read"),
        (REFUSED, {"/proc/sys/kernel/dmesg_restrict": "0\n"}, "dmesg: read kernel buffer failed: Operation not permitted"),
        (Completed("timed out", None, "", "", 3.0), {}, "dmesg: timed out"),
        (Completed("exited", 0, "", "", 0.1), {}, "dmesg: nothing to read"),
    ],
)
def test_it_says_why_it_cannot_be_read(dmesg, files, words):
    fact = kernel_log.read(FakeHost({**STAT, **files}, programs={"dmesg": dmesg, "journalctl": ""}))
    assert not fact.readable
    assert words in fact.problem
    assert "journalctl: shows this user no line" in fact.problem


def test_the_copy_of_the_start_says_that_it_ends_there():
    fact = kernel_log.read(FakeHost({**STAT, "/var/log/dmesg": dmesg("Linux version", LOST)}, request=QUICK))
    assert (fact.readable, fact.source) == (True, "/var/log/dmesg")
    assert "start only" in fact.problem
    assert fact.events[0].time


def test_without_the_start_of_the_machine_dmesg_still_tells():
    (event,) = kernel_log.read(FakeHost(programs={"dmesg": dmesg(LOST)})).events
    assert (event.code, event.time) == (79, None)


def test_elsewhere_there_is_none():
    assert not kernel_log.read(FakeHost(platform="darwin")).readable
