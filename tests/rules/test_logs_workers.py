"""Logs of several GPUs and machines: NCCL, PyTorch, gRPC and MPI, replicas that are not alike, and what came right in the end."""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

NAMED = [
    # -- NCCL --
    ("nccl-failed", "[2025-03-02 10:00:01] [rank5]: [E ProcessGroupNCCL.cpp:1301] NCCL watchdog timeout."),
    ("nccl-failed", "[rank2]:[E0302 ProcessGroupNCCL.cpp:1316] [PG 0 Rank 2] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=4"),
    ("nccl-failed", "[rank2]:[F0302 ProcessGroupNCCL.cpp:1337] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives."),
    ("nccl-failed", "gpu-1:88:90 [0] transport/net_ib.cc:700 NCCL WARN NET/IB : Remote IB device is incompatible with the local [1]mlx5_1:1/RoCE."),
    ("nccl-failed", "NCCL WARN NET/IB : No device found"),
    ("nccl-failed", "NCCL WARN Message truncated : received 2048 bytes instead of 512"),
    ("nccl-failed", "NET/IB: Got completion from peer 10.3.0.7<51000> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0)"),
    ("nccl-failed", "[  98.7] pt_main_thread[4242]: segfault at 7f11aa000000 ip 00007f11bb000000 sp 00007f11cc000000 error 4 in libnccl.so.2[7f11bb000000+d3d3000]"),
    ("nvlink-down", "[ 5.1] NVRM: Xid (PCI:0000:18:00): 45, pid=12, name=python, Ch 00000008, previous Xid 145"),
    ("fabric-manager-down", "    Fabric\n        State                             : In Progress\n        Status                            : N/A"),
    ("mig-misconfigured", "Unable to enable MIG Mode for GPU 00000000:3B:00.0: Not Supported"),
    # -- a machine that does not answer --
    ("worker-unreachable", "A process or daemon was unable to complete a TCP connection\nto another process:\n  Local host:    node-a\n  Remote host:   node-b"),
    ("worker-unreachable", "ORTE has lost communication with a remote daemon."),
    ("worker-unreachable", "ssh: connect to host node-7 port 22: Connection timed out"),
    ("worker-unreachable", "[W TCPStore.cpp:115] [c10d] recvValueWithTimeout failed on SocketImpl(fd=12, addr=[node-0]:41234, remote=[node-0]:29500): Connection reset by peer"),
    ("worker-unreachable", "RuntimeError: makeDeviceForHostname(): unsupported gloo device"),
    ("worker-unreachable", "Error: The client socket has failed to connect"),
    ("worker-unreachable", "[W socket.cpp:601] [c10d] The client socket has failed to connect to [node-3.example.org]:29500 (errno: 110 - Connection timed out)."),
    ("worker-unreachable", "tensorflow.python.framework.errors_impl.UnavailableError: Endpoint read failed"),
    ("tpu-unreachable", "UnavailableError: Socket closed\nAdditional GRPC error information from remote target /job:worker/replica:0/task:0:\nipv4:10.9.8.7:8470"),
    # -- replicas --
    ("replica-count-mismatch", "NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 3b000\nncclInvalidUsage: This usually reflects invalid usage of NCCL library."),
    ("replica-count-mismatch", "MisconfigurationException: You requested GPUs: [0, 1]\n But your machine only has: [0]"),
    ("replicas-diverged", "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 12 params, while rank 1 has inconsistent 14 params."),
    ("replicas-diverged", "FloatingPointError: Fatal error: gradients are inconsistent between workers."),
    # -- TPUs --
    ("tpu-busy", "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization failed: Device or resource busy"),
    ("tpu-busy", "`RuntimeError: TPU initialization failed: ... Device or resource busy`"),
]  # fmt: skip

ONLY_WARNED = [
    ("peer-access-unavailable", "$ nvidia-smi topo -p2p r\n        GPU0    GPU1    GPU2\n GPU0   X       OK      CNS\n GPU1   OK      X       CNS"),
    ("replica-count-mismatch", """
        Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory) -> physical GPU (device: 0, name: A, pci bus id: 0000:01:00.0, compute capability: 7.0)
        Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:1 with 9000 MB memory) -> physical GPU (device: 1, name: A, pci bus id: 0000:02:00.0, compute capability: 7.0)
        Number of devices: 1
        """),
    ("gpu-throttled", "- `nvidia-smi` says `SW Power Cap: Active`, and `SW Thermal Slowdown: Active`"),
]  # fmt: skip

QUIET = [
    # NCCL did without, and says so
    """
        gpu-1:88:90 [0] transport/net_ib.cc:100 NCCL WARN NET/IB : Failed to open device mlx5_0
        gpu-1:88:90 [0] NCCL INFO Using network Socket
        gpu-1:88:90 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 - Init COMPLETE
        """,
    "algo-1:46:58 [0] configure_nvls_option:287 NCCL WARN NET/OFI Could not find ncclGetVersion symbol",
    "gpu-1:88:90 [0] transport/net_ib.cc:253 NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)",
    "NET/IB: Got completion from peer 10.3.0.7<51000> with status=IBV_WC_SUCCESS(0)",
    # the workers came
    """
        I master.cc:221] CreateSession still waiting for response from worker: /job:worker/replica:0/task:1
        I master_session.cc:1004] Start master session 2fea0abc with config:
        """,
    # an address of the other family was tried first
    "[W socket.cpp:697] [c10d] The client socket has failed to connect to [localhost]:12355 (errno: 99 - Cannot assign requested address).",
    "[W420 socket.cpp:764] [c10d] The client socket has failed to connect to [DESK]:50175 (system error: 10049 - not valid in its context).",
    """
        [W socket.cpp:663] [c10d] The client socket has failed to connect to [localhost]:12345 (errno: 101 - Network is unreachable).
        [GPU1] Epoch 3 | Batchsize: 32 | Steps: 32
        """,
    "        GPU0    GPU1\n GPU0   X       OK\n GPU1   OK      X",
    "    Fabric\n        State                             : Completed\n        Status                            : Success",
    "ssh: connect to host github.com port 22: Connection timed out",
    "Ticket 4711\nState : In Progress\nStatus : open",
    # an error that repaired itself, and a line that only names it
    """
        [ 1.0] NVRM: Xid (PCI:0000:18:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 02 (0x00000024 0x80000000)
        [ 2.0] NVRM: Xid (PCI:0000:18:00): 137, pid='<unknown>', name=<unknown>, previous Xid 145
        """,
    "INFO: parameters match across ranks; no weights differ between replicas",
    "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0',)\nNumber of devices: 1",
]  # fmt: skip


@pytest.mark.parametrize(("code", "text"), NAMED)
def test_the_cause_is_named(code, text):
    assert_named(code, text)


@pytest.mark.parametrize(("code", "text"), ONLY_WARNED)
def test_what_trains_all_the_same_is_a_warning(code, text):
    assert [(item.code, item.severity) for item in told_by(text)] == [(code, Severity.WARNING)]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_harmless_or_over_is_no_error(text):
    assert [item.code for item in told_by(text) if item.severity is Severity.ERROR] == []


def test_what_nccl_warned_of_in_another_process_still_stands():
    text = """
        gpu-1:88:90 [0] transport/net_ib.cc:100 NCCL WARN NET/IB : Failed to open device mlx5_0
        gpu-1:89:91 [1] NCCL INFO Using network Socket
        """
    assert_named("nccl-failed", text)
