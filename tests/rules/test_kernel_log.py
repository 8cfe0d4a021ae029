"""Xid messages of the kernel's log: of which GPU, whether it still stands, and what they ask for."""

import pytest
from fakes import facts
from one_rule import changed, found, only_log, outcome, roots, severity, status

from gpucheck.logs import causes
from gpucheck.model import Severity, Status
from gpucheck.probes.log import Log

LOST, ECC, LINK = "gpu-lost", "ecc-errors", "nvlink-down"
HGX = "hgx-h200"
THIRD = 3


def address(name, gpu):
    return changed(name=name)["gpus"]["gpus"][gpu]["pci_address"]


def xid(code, gpu=0, name="h200", device=None, text=""):
    where = device or address(name, gpu)
    return {
        "code": code,
        "device": where,
        "time": "2026-03-01T09:00:00Z",
        "text": f"NVRM: Xid (PCI:{where[:-2]}): {code}, {text}",
    }


def machine(*events, name="h200", quick=False, nvrm=(), **changes):
    log = {"readable": True, "source": "dmesg", "events": list(events), "nvrm": list(nvrm)}
    return changed({"kernel_log": log, **changes}, name, quick=quick)


@pytest.mark.parametrize("code", [13, 31, 43, 45])
@pytest.mark.parametrize("quick", [True, False])
def test_what_programs_cause_accuses_no_gpu(code, quick):
    assert roots(machine(xid(code), quick=quick)) == []


@pytest.mark.parametrize("code", [79, 48, 74, 95, 119])
def test_gpus_that_are_not_here_do_not_count(code):
    assert roots(machine(xid(code, device="0000:ff:00.0"))) == []


def test_a_container_sees_the_bus_and_the_log_of_its_host():
    other = xid(79, 5, HGX)
    plain = machine(other, name=HGX)
    plain["gpus"]["gpus"] = plain["gpus"]["gpus"][:2]
    assert status(LOST, plain) is Status.FOUND
    plain["container"] = {"inside": True, "kind": "docker"}
    assert status(LOST, plain) is Status.CLEAR


def test_the_xid_of_a_lost_gpu_is_decoded():
    lost = {"index": THIRD, "problem": "GPU is lost", "result": 15, "pci_address": address(HGX, THIRD)}
    plain = machine(xid(79, THIRD, HGX), name=HGX, **{f"gpus.gpus[{THIRD}]": lost})
    finding = found(LOST, plain)
    assert finding.summary.startswith(f"GPU 3 at {address(HGX, THIRD)} no longer answers its driver: GPU is lost and ")
    assert "fallen off the bus (Xid 79)" in finding.summary
    assert finding.fix[0].text.startswith("Xid 79 means: the GPU has fallen off the bus. Do now: power the machine off and on.")
    assert "Drain this machine" in finding.fix[0].text
    assert finding.affects == ("GPU 3",)
    assert any(item.fact == "kernel_log" for item in finding.evidence)


def test_a_hung_driver_whose_kernel_names_the_gpu():
    hung = {"status": "hung", "problem": "no answer within 20 s"}
    plain = machine(xid(119, THIRD, HGX), name=HGX, quick=True, driver=hung, cuda=hung, gpus=None)
    assert roots(plain) == [LOST]
    assert severity(LOST, plain) is Severity.ERROR
    assert roots(machine(name=HGX, quick=True, driver=hung, cuda=hung, gpus=None)) == ["driver-unresponsive"]


def test_the_kernels_last_words_about_a_hung_driver():
    hung = {"status": "hung", "problem": "no answer within 20 s"}
    words = "NVRM: GPU 0000:00:06.0: RmInitAdapter failed! (0x62:0x40:2469)"
    plain = machine(quick=True, nvrm=["NVRM: first", words], driver=hung, cuda=hung, gpus=None)
    assert words in [item.value for item in found("driver-unresponsive", plain).evidence]


@pytest.mark.parametrize("quick", [True, False])
def test_a_gpu_that_answers_again_is_a_warning(quick):
    plain = machine(xid(119, THIRD, HGX), xid(119, THIRD, HGX), name=HGX, quick=quick)
    assert roots(plain) == [LOST]
    assert severity(LOST, plain) is Severity.WARNING
    assert found(LOST, plain).summary == (
        f"GPU 3 at {address(HGX, THIRD)} answers now, but since its driver was loaded the kernel reported of it:"
        " the GPU's firmware (GSP) did not answer (Xid 119)."
    )


@pytest.mark.parametrize("code", [48, 63, 64, 94, 95])
def test_memory_errors_that_a_reset_repaired_are_history(code):
    assert roots(machine(xid(code))) == []


@pytest.mark.parametrize(("code", "expected"), [(48, Severity.ERROR), (63, Severity.WARNING), (94, Severity.ERROR)])
def test_memory_errors_that_nobody_counts(code, expected):
    fields = ("ecc_uncorrected_volatile", "remapping_failed", "remapping_pending", "retired_pages_pending")
    plain = machine(xid(code), **{f"gpus.gpus[0].{field}": None for field in fields})
    assert severity(ECC, plain) is expected
    assert f"(Xid {code})" in found(ECC, plain).summary


def test_many_corrected_errors_are_a_warning():
    plain = machine(xid(92))
    assert roots(plain) == [ECC]
    assert severity(ECC, plain) is Severity.WARNING


def test_counted_errors_and_their_xid_are_one_finding():
    plain = machine(xid(48, 5, HGX), xid(94, 5, HGX), name=HGX, **{"gpus.gpus[5].ecc_uncorrected_volatile": 2})
    finding = found(ECC, plain)
    assert "2 uncorrectable memory errors" in finding.summary
    assert [fix.text.partition(" means")[0] for fix in finding.fix[:2]] == ["Xid 48", "Xid 94"]
    assert "need not be drained" in finding.fix[1].text
    assert roots(plain) == [ECC]


@pytest.mark.parametrize(
    ("code", "text", "links", "expected"),
    [
        (74, "NVLink: fatal error detected on link 2", "up", Severity.WARNING),
        (74, "NVLink: fatal error detected on link 2", None, Severity.ERROR),
        (149, "NETIR_LINK_EVT Fatal XC0 i0 Link 08", "up", Severity.WARNING),
        (149, "NETIR_LINK_EVT Nonfatal XC0 i0 Link 08", "up", None),
    ],
)
def test_links(code, text, links, expected):
    more = {} if links else {"gpus.gpus[2].nvlinks": []}
    plain = machine(xid(code, 2, HGX, text=text), name=HGX, **more)
    if expected is None:
        assert roots(plain) == []
        return
    assert severity(LINK, plain) is expected
    assert found(LINK, plain).affects == ("GPU 2",)
    assert roots(plain) == [LINK]


def test_links_that_are_down_name_their_xid():
    plain = machine(xid(74, 2, HGX), name=HGX, **{"gpus.gpus[2].nvlinks[1].active": False})
    finding = found(LINK, plain)
    assert "1 of 18 NVLinks" in finding.summary
    assert finding.fix[0].text.startswith("Xid 74 means: an NVLink connection failed.")


def test_a_gpu_that_could_not_be_initialised():
    failed = {"status": "failed", "result": 999, "result_name": "CUDA_ERROR_UNKNOWN", "driver_version": "13.0"}
    finding = found("cuda-init-failed", machine(xid(143), quick=True, cuda=failed))
    assert finding.fix[0].text.startswith("Xid 143 means")
    assert finding.affects == ("GPU 0",)


@pytest.mark.parametrize("code", [LOST, ECC, LINK, "cuda-init-failed", "driver-unresponsive"])
def test_a_log_that_cannot_be_read_changes_nothing(code):
    plain = machine()
    plain["kernel_log"] = {"readable": False, "problem": "dmesg: only root may read it"}
    assert outcome(code, plain).outcome == outcome(code, changed()).outcome


def test_the_same_lines_pasted_by_a_user():
    def pasted(code, text="NVRM: Xid"):
        return only_log(("xid", text, {"code": str(code), "device": "PCI:0000:3b:00"}))

    def names(plain):
        return list(causes.judge(facts(plain).get(Log)))

    assert names(pasted(79)) == [LOST]
    assert names(pasted(48)) == [ECC]
    assert names(pasted(149, "NETIR_LINK_EVT Fatal XC0")) == [LINK]
    for own in (13, 31, 43):
        assert names(pasted(own)) == ["training-failed"]
    assert names(pasted(45)) == []
    assert names(pasted(149, "NETIR_LINK_EVT Nonfatal XC0")) == []
    assert severity(ECC, pasted(63)) is Severity.WARNING
    assert found(ECC, pasted(48)).fix[0].text.startswith("Xid 48 means")
    assert found(LINK, pasted(74)).fix[0].text.startswith("Xid 74 means")


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (("xid", "Xid 119", {"code": "119"}), "the GPU's firmware (GSP) did not answer (Xid 119)"),
        (
            ("gpu-lost", "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", {"message": "fallen off the bus"}),
            "fallen off the bus",
        ),
        (("nvml-failed", "GPU is lost", {"code": "15"}), "GPU is lost"),
        (("nvml-failed", "Driver Not Loaded", {"code": "9"}), None),
    ],
)
def test_a_lost_gpu_in_a_log(event, words):
    cause = causes.judge(facts(only_log(event)).get(Log)).get(LOST)
    assert words in cause.summary if words else cause is None
