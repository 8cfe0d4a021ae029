"""Only the driver's messages in the kernel log are read."""

import sys

import pytest
from case_files import table
from command import in_a_process
from fakes import FakeHost
from lab import fake_driver

from gpucheck.core.host import Completed
from gpucheck.core.model import Level, Request
from gpucheck.core.probes import kernel_log

STAT = {"/proc/stat": "cpu 1 2 3\nbtime 1772352000\n"}  # 2026-03-01 08:00 UTC
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
XID = "NVRM: Xid (PCI:0000:00:06): 74, pid=1"
JOURNAL = "journalctl -k -b -n 50000 --no-pager -q -o short-iso"
PROGRAMS = {"dmesg": "dmesg", "journal": JOURNAL}
START = {"dmesg": "[    0.000000] Linux version 6.8.0\n", "journal": "2026-03-01T08:00:00+0000 n1 kernel: Linux version 6.8.0\n"}
NO_DMESG = Completed("exited", 1, "", "dmesg: read kernel buffer failed: Operation not permitted\n")


def read(source, text, level=Level.NODE):
    """The fact read from a source with a first line and a text, in which XID is replaced by the driver's message."""
    programs = {"dmesg": NO_DMESG, JOURNAL: ""}
    files = dict(STAT)
    if source in PROGRAMS:
        programs[PROGRAMS[source]] = START[source] + text.replace("XID", XID) + "\n"
    else:
        files[source] = text.replace("XID", XID) + "\n"
    return kernel_log.read(FakeHost(files, programs=programs, request=Request(level=level)))


@table
def test_lines_of_other_programs_are_ignored(source, text):
    fact = read(source, text)
    assert fact.source == {"dmesg": "dmesg", "journal": "journalctl -k -b"}[source]
    assert (fact.events, fact.nvrm) == ((), ())


@table
def test_lines_of_the_driver_are_read(source, text):
    assert [event.code for event in read(source, text).events] == [74]


@pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
@pytest.mark.parametrize(("code", "forged"), [(74, False), *((code, True) for code in (74, 136, 145, 149, 150, 155, 79))])
def test_forged_message_does_not_drain_a_node(tmp_path, driver_folder, code, forged):
    xid = f"NVRM: Xid (PCI:0000:00:06): {code}, pid=1"
    text = f"overlayfs: failed to resolve '{xid}': -2" if forged else xid
    dmesg = tmp_path / "dmesg"
    dmesg.write_text(f"#!/bin/sh\necho '{START['dmesg'].strip()}'\necho \"[  812.100000] {text}\"\n")
    dmesg.chmod(0o755)
    scenario = fake_driver.write_scenario(tmp_path / "scenario.txt", {"gpus": 1})
    env = {**fake_driver.environment(driver_folder, scenario), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = in_a_process("node", "--exit-style", "slurm", "--drain-reason", *(["--strict"] if code == 79 else []), env=env)
    if forged:
        assert (done.returncode, done.stdout) == (0, "")
    else:
        assert done.returncode == 1, "the driver's own message drains the node"
        assert done.stdout.startswith("gpucheck ")


@table
def test_files_of_the_syslog_daemon_are_not_read(path, text):
    for level in Level:
        fact = read(path, text, level)
        assert not fact.readable
        assert (fact.events, fact.nvrm) == ((), ())


def test_local_time_is_converted_to_utc(berlin):
    (event,) = read("/var/log/dmesg", "[Sun Mar  1 09:01:00 2026] XID").events
    assert event.time == "2026-03-01T08:01:00Z"


@pytest.mark.parametrize(
    ("lines", "codes", "last"),
    [
        ([LOST, *(f"NVRM: Xid (PCI:0000:5e:00): 31, pid={pid}, MMU Fault" for pid in range(500))], [79, 31, 31, 31], "pid=499"),
        ([f"NVRM: Xid (PCI:0000:{bus:02x}:00): 94, Contained" for bus in range(80)], [94] * 50, "0000:4f:00"),
    ],
)
def test_other_events_are_kept_despite_many_of_one_kind(lines, codes, last):
    dmesg = "".join(f"[{number:6}.500000] {text}\n" for number, text in enumerate(lines, 60))
    fact = kernel_log.read(FakeHost(STAT, programs={"dmesg": dmesg}))
    assert [event.code for event in fact.events] == codes
    assert last in fact.events[-1].text
