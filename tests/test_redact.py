"""What a redacted report still tells, and what it does not."""

import re

import msgspec
import pytest
from reports.builders import report
from reports.cases import CASES
from reports.hostile import HOST, LINES, SECRETS, USER, UUID, leaks, redacted, secretive

from gpucheck.redact import redact
from gpucheck.reports import json


def log(*lines, hosts=(), users=(), changes=()):
    """Log lines after redaction."""
    events = [{"kind": "xid", "line": number, "text": line, "fields": {}} for number, line in enumerate(lines)]
    made = redact(report("h200", [("log.events", events), *changes]), hosts=hosts, users=users)
    return [event.text for event in made.facts["log"].events]


def test_nothing_secret_is_left_anywhere():
    assert set(leaks(json.render(secretive()))) == SECRETS.keys()  # they were in it
    assert leaks(json.render(redacted())) == []


@pytest.mark.parametrize("name", SECRETS)
def test_the_report_alone_teaches_what_is_secret(name):
    """A replayed report comes from another machine: nobody passes its host and user."""
    assert name not in leaks(json.render(redact(secretive())))


def test_the_same_thing_has_the_same_alias_everywhere():
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


def test_different_things_have_different_aliases():
    first, second = log(f"GPU-{UUID} 10.0.0.1", f"GPU-{UUID[:-1]}0 10.0.0.2")
    assert first != second


def test_a_cluster_s_own_names():
    role = "kubectl create rolebinding a --serviceaccount=acme-research:falcon-trainer --namespace=acme-research"
    (line,) = log(role)
    assert "acme" not in line
    assert "falcon" not in line
    assert re.fullmatch(r"kubectl create rolebinding a --serviceaccount=(host-\d+):user-\d+ --namespace=\1", line)
    (default,) = log("kubectl get pods --namespace=default")
    assert default.endswith("--namespace=default")


def test_homes():
    (line,) = log("/home/ann/a /home/annabel/b x/home/ann", changes=[("limits.home", "/home/ann")])
    assert re.fullmatch(r"~/a ~user-(\d)/b x/home/user-(?!\1)\d", line)
    assert log("/root/x /rooted", changes=[("limits.home", "/root")]) == ["~/x /rooted"]
    assert log("/a/b", changes=[("limits.home", "/")]) == ["/a/b"]


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-cublas-cu12==12.5.3.2 needs version 9.3.0.75 of libcublas.so.12.5.3.2",
        "NVRM: Xid (PCI:0000:3b:00.0): 79, at 12:34:56 on /device:GPU:0",
        "2026-01-02 03:04:05.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] std::vector<a::b> 0x7f0123456789",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1099511627776 bytes, driver 580.159.04",
        "bound to 127.0.0.1, 0.0.0.0 and ::1 on localhost as user root",
        "XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda CUDA_VISIBLE_DEVICES=0,1",
        "The tokenizer was loaded; see https://www.tensorflow.org/install/pip#linux",
        "the port of the report is supported; x is not of the form host:port.",
        "the host: it was built-in; grpc://address:port is where; on the host: fine.",
        "Node: 'sequential_1/dense_1/MatMul' with sequential_1 and dense_1, Node: 'model_2'",
        "from google.protobuf.internal import builder; google.protobuf.internal.builder; No module named 'google.protobuf.internal'",
        "threading.local() self.local tensorflow.python.framework.internal /etc/rc.local ~/.local/lib /usr/local/lib settings.local.py",
        "libcudnn.so.9: cannot open shared object file; CUDA 12.4.1 cudnn 9.1.0.70 module 'tensorflow.python.framework'",
        "tensorflow/core/common_runtime/gpu.cc:2348] ops.py:1024 tensorflow.python.ops:1024 float32:1024 conv2d:4096 resnet50:2048",
        "/job:worker/replica:0/task:0/device:GPU:0 //tensorflow/core/kernels:ops //usr/lib a//b/c // comment C++ https://keras.io/api/x",
        "INFO: task nvidia-smi:18213 blocked for more than 122 seconds; [host1:2222]; see nvidia-smi",
        "looked in /usr/local/cuda-12:/usr/bin, see metadata.google.internal, http://localhost:8888/lab and host.docker.internal:2222",
        "tensorflow/tensorflow:2.21.0-gpu@sha256:abc nvcr.io/nvidia/tensorflow:24.02-tf2-py3 cookie-cutter cookie: none",
    ],
)
def test_what_identifies_nobody_stays(line):
    assert log(line, hosts=["localhost", "gpu"], users=["root", "user", "keras"]) == [line]


@pytest.mark.parametrize(
    ("line", "secret", "rest"),
    [
        ("no answer from node17.sekretcluster.internal yet", "node17|sekret", "no answer from host-1 yet"),
        ("see node-4711.sekret.local, and node-4711.", "4711|sekret", "see host-1, and host-1."),
        ("'database.sekret.lan' is down; the database is down", "sekret", "'host-1' is down; the database is down"),
        ("connect to node99sekret:2222: refused", "sekret", "connect to host-1:2222: refused"),
        ("http://node99sekret:8888/lab?x=1", "sekret", "http://host-1:8888/lab?x=1"),
        ("a.sekret.example.com:2222 and b", "sekret", "host-1:2222 and b"),
        ("worker.sekret.internal left, worker stays", "sekret", "host-1 left, worker stays"),
        ("mounted from nas-sekret:/export/data", "sekret", "mounted from host-1:/export/data"),
        ("cannot read //nas-host/share/x", "nas-host", "cannot read //host-1/share/x"),
        (r"cannot read \\nas-host\share\x", "nas-host", r"cannot read \\host-1\share\x"),
        ("GET / Cookie: session=abc123; theme=sekret; see x = 1", "abc123|sekret", "GET / Cookie: secret-1; see x = 1"),
        ("{'Set-Cookie': 'sid=abc123; Path=/'}", "abc123", "{'Set-Cookie': 'secret-1'}"),
        ("JSESSIONID=abc123 and session_id: abc123", "abc123", "JSESSIONID=secret-1 and session_id: secret-1"),
        ("open /scratch/homes/annika/x and annika", "annika", "open ~user-1/x and user-1"),
        ("PYTHONPATH=/opt/x:/gpfs/fs1/home/annika/lib", "annika", None),
        ('{"worker": ["user:pa55@198.51.100.23:2"]}', "pa55|198", '{"worker": ["secret-1@ip-1:2"]}'),
    ],
)
def test_what_free_text_tells_by_its_shape(line, secret, rest):
    (told,) = log(line)
    assert not re.search(secret, told), told
    assert rest is None or told == rest


def test_an_address_with_a_short_or_common_first_name():
    variables = {"TF_CONFIG": '{"cluster": {"worker": ["a.sekret.example.com:1", "gpu.sekret.example.com:2"]}}'}
    assert log("gpu a gpu.sekret.example.com", changes=[("environment.variables", variables)]) == ["gpu a host-2"]


def test_versions_known_from_the_packages_are_no_addresses():
    changes = [("packages.nvidia[0].version", "11.6.3.83")]
    assert log("cusolver 11.6.3.83 at 11.6.3.84", changes=changes) == ["cusolver 11.6.3.83 at ip-1"]


def test_secrets_by_their_key():
    lines = log(
        'Authorization: Bearer abc.def-ghi password="two words" api_key=xyz', "--token s3cr3tvalue", "https://u:pass@example.org/"
    )
    for secret in ("abc.def", "two words", "xyz", "s3cr3t", "u:pass"):
        assert secret not in " ".join(lines)


@pytest.mark.parametrize("case", CASES)
def test_verdict_codes_numbers_and_shape_stay(case):
    made = CASES[case]()
    told = redact(made)
    assert shape(msgspec.to_builtins(told)) == shape(msgspec.to_builtins(made))
    assert [finding.code for finding in told.findings] == [finding.code for finding in made.findings]
    assert (told.verdict, told.exit_code, told.outcomes) == (made.verdict, made.exit_code, made.outcomes)


def shape(value):
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [shape(entry) for entry in value]
    return "text" if isinstance(value, str) else repr(value)


def test_a_report_without_facts():
    made = msgspec.structs.replace(report("h200"), facts={}, probes=(), outcomes=(), training=())
    assert redact(made, hosts=[HOST], users=[USER]) == made
