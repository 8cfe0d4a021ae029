"""Values that a redacted report keeps and removes."""

import json
import pathlib
import re

import msgspec
import pytest
from reports.builders import report
from reports.cases import CASES
from reports.hostile import HOST, LINES, SECRETS, USER, UUID, leaks, redacted, secretive

from gpucheck.core.reports import json as json_report
from gpucheck.core.reports.redaction import redact

REDACTION = pathlib.Path(__file__).parent / "redaction"


def log(*lines, hosts=(), users=(), changes=()):
    """Log lines after redaction."""
    events = [{"kind": "xid", "line": number, "text": line, "fields": {}} for number, line in enumerate(lines)]
    made = redact(report("h200", [("log.events", events), *changes]), hosts=hosts, users=users)
    return [event.text for event in made.facts["log"].events]


def test_every_secret_is_redacted():
    assert set(leaks(json_report.render(secretive()))) == SECRETS.keys()  # all of them are in the original
    assert leaks(json_report.render(redacted())) == []


def test_secrets_are_derived_from_the_report_alone():
    """A replayed report comes from another machine, so its host and user are not given."""
    assert leaks(json_report.render(redact(secretive()))) == []


def test_value_has_the_same_alias_everywhere():
    made = redacted()
    event = [event.text for event in made.facts["log"].events]
    host = re.search(r"05 (host-\d+) kernel", event[0])[1]
    assert event[1].startswith(f"{host}:1234:1250 [0] NCCL")
    assert event[2] == f"hostname: {host}"
    uuid = made.facts["gpus"].gpus[0].uuid
    assert re.fullmatch(r"GPU-uuid-\d+", uuid)
    assert made.facts["environment"].variables["CUDA_VISIBLE_DEVICES"] == uuid  # CUDA takes a prefix
    assert uuid in event[3]
    serial = re.search(r"serial-\d+", event[0])[0]
    finding = made.findings[0]
    assert finding.summary == f"{uuid} on {host} is lost; its serial number is {serial}."
    assert finding.affects == (uuid,)
    user = re.match(r"user-\d+", event[4])[0]
    assert finding.fix[0] == msgspec.structs.replace(
        finding.fix[0], text=f"Ask {user} to reboot {host}", command=f"ssh {user}@{host} sudo reboot"
    )
    assert [item.value for item in finding.evidence[: len(LINES)]] == event
    ip = re.search(r"eth0:(ip-\d+)<0>", event[1])[1]
    assert f'"{ip}:2222"' in made.facts["environment"].variables["TF_CONFIG"]


def test_different_values_have_different_aliases():
    first, second = log(f"GPU-{UUID} 10.0.0.1", f"GPU-{UUID[:-1]}0 10.0.0.2")
    assert first != second


def test_kubernetes_namespaces_and_accounts_are_redacted():
    role = "kubectl create rolebinding a --serviceaccount=acme-research:falcon-trainer --namespace=acme-research"
    (line,) = log(role)
    assert "acme" not in line
    assert "falcon" not in line
    assert re.fullmatch(r"kubectl create rolebinding a --serviceaccount=(host-\d+):user-\d+ --namespace=\1", line)
    (default,) = log("kubectl get pods --namespace=default")
    assert default.endswith("--namespace=default")


def test_home_folders_are_redacted():
    (line,) = log("/home/ann/a /home/annabel/b x/home/ann", changes=[("limits.home", "/home/ann")])
    assert re.fullmatch(r"~/a ~user-(\d)/b x/home/user-(?!\1)\d", line)
    assert log("/root/x /rooted", changes=[("limits.home", "/root")]) == ["~/x /rooted"]
    assert log("/a/b", changes=[("limits.home", "/")]) == ["/a/b"]


LINES_TO_KEEP = (REDACTION / "identifies_nobody.txt").read_text(encoding="utf-8").splitlines()
SHAPES = json.loads((REDACTION / "secret_by_its_shape.json").read_text(encoding="utf-8"))


def test_values_that_identify_no_one_are_kept():
    """Each line alone: names learned in one line are redacted in others."""
    changed = [line for line in LINES_TO_KEEP if log(line, hosts=["localhost", "gpu"], users=["root", "user", "keras"]) != [line]]
    assert changed == []


def test_secrets_in_free_text_are_detected_by_shape():
    redacted_lines = [(case, *log(case["line"])) for case in SHAPES]
    assert [text for case, text in redacted_lines if re.search(case["secret"], text)] == []
    assert [text for case, text in redacted_lines if case["redacted"] not in (None, text)] == []


def test_host_with_a_short_or_common_first_label_is_redacted_only_in_full():
    variables = {"TF_CONFIG": '{"cluster": {"worker": ["a.sekret.example.com:1", "gpu.sekret.example.com:2"]}}'}
    assert log("gpu a gpu.sekret.example.com", changes=[("environment.variables", variables)]) == ["gpu a host-2"]


def test_package_versions_are_not_taken_for_addresses():
    changes = [("packages.nvidia[0].version", "11.6.3.83")]
    assert log("cusolver 11.6.3.83 at 11.6.3.84", changes=changes) == ["cusolver 11.6.3.83 at ip-1"]


def test_values_of_secret_keys_are_redacted():
    lines = log(
        'Authorization: Bearer abc.def-ghi password="two words" api_key=xyz', "--token s3cr3tvalue", "https://u:pass@example.org/"
    )
    for secret in ("abc.def", "two words", "xyz", "s3cr3t", "u:pass"):
        assert secret not in " ".join(lines)


@pytest.mark.parametrize("case", CASES)
def test_verdict_codes_numbers_and_structure_are_kept(case):
    made = CASES[case]()
    shared = redact(made)
    assert shape(msgspec.to_builtins(shared)) == shape(msgspec.to_builtins(made))
    assert [finding.code for finding in shared.findings] == [finding.code for finding in made.findings]
    assert (shared.verdict, shared.exit_code, shared.outcomes) == (made.verdict, made.exit_code, made.outcomes)


def shape(value):
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [shape(entry) for entry in value]
    return "text" if isinstance(value, str) else repr(value)


def test_report_without_facts_is_unchanged():
    made = msgspec.structs.replace(report("h200"), facts={}, probes=(), outcomes=(), training=())
    assert redact(made, hosts=[HOST], users=[USER]) == made
