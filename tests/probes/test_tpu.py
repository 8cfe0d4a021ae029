import os

import pytest
from fakes import FakeHost

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.tpu import Tpu, read

SITE = "/venv/lib/python3.12/site-packages"
PATH = {"path": ["/usr/lib/python312.zip", SITE]}
LOCK = "/tmp/libtpu_lockfile"


def bus(*functions):
    """sysfs of Google functions: (device, subsystem device)."""
    files = {}
    for number, (device, subsystem) in enumerate(functions):
        folder = f"/sys/bus/pci/devices/0000:00:0{number + 4}.0"
        files.update({f"{folder}/vendor": "0x1ae0\n", f"{folder}/device": f"{device}\n"})
        files[f"{folder}/subsystem_device"] = f"{subsystem}\n"
    return files


def test_a_machine_without_a_tpu():
    assert read(FakeHost(interpreter=PATH)) == Tpu()


def test_a_compute_engine_network_card_is_no_tpu():
    host = FakeHost(bus(("0x0042", "0x0058")), nodes={"/dev/vfio/0": 0o600, "/dev/vfio/vfio": 0o666})
    assert read(host) == Tpu()


def test_v5e_with_runtime():
    files = {
        **bus(("0x0063", "0x0000"), ("0x0063", "0x0000"), ("0x0042", "0x0058")),
        f"{SITE}/tensorflow_tpu-2.20.0.dist-info/METADATA": "",
        f"{SITE}/libtpu-0.0.21.dist-info/METADATA": "",
        f"{SITE}/libtpu/libtpu.so": "",
    }
    nodes = {"/dev/vfio/0": 0o666, "/dev/vfio/1": 0o666, "/dev/vfio/vfio": 0o666}
    assert read(FakeHost(files, nodes=nodes, interpreter=PATH)) == Tpu(
        generations=("v5e", "v5e"),
        nodes=("/dev/vfio/0", "/dev/vfio/1"),
        expected=True,
        tensorflow_tpu="2.20.0",
        libtpu="0.0.21",
        libtpu_path=f"{SITE}/libtpu/libtpu.so",
    )


def test_v2_and_v3_differ_in_the_subsystem():
    tpu = read(FakeHost(bus(("0x0027", "0x004e"), ("0x0027", "0x004f")), nodes={"/dev/accel0": 0o660}))
    assert (tpu.generations, tpu.nodes) == (("v2", "v3"), ("/dev/accel0",))


def test_accel_node_alone_is_expected_but_another_vendors_is_not():
    assert read(FakeHost(nodes={"/dev/accel0": 0o660})).expected is True
    assert read(FakeHost(nodes={"/dev/accel/accel0": 0o660})) == Tpu()  # the kernel's own accel class


@pytest.mark.parametrize(
    ("env", "variables"),
    [
        ({"TPU_NAME": "local"}, ("TPU_NAME",)),
        ({"TPU_NAME": ""}, ()),
        ({"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "10.0.0.2:8470"}, ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS",)),
        ({"TPU_ACCELERATOR_TYPE": "v5litepod-8"}, ("TPU_ACCELERATOR_TYPE",)),
        ({"COLAB_TPU_ADDR": "10.1.1.2:8470"}, ("COLAB_TPU_ADDR",)),
        ({"TPU_CONFIG": "{}"}, ("TPU_CONFIG",)),
        ({"TPU_WORKER_ID": "0"}, ()),
        ({"TPU_WORKER_ID": "0", "TPU_WORKER_HOSTNAMES": "a,b"}, ("TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES")),
        ({"PJRT_DEVICE": "TPU"}, ("PJRT_DEVICE",)),
        ({"PJRT_DEVICE": "CUDA"}, ()),
        ({"TPU_SKIP_MDS_QUERY": "1", "LIBTPU_INIT_ARGS": "--x", "TPU_LIBRARY_PATH": "/opt/libtpu.so"}, ()),
    ],
)
def test_variables_that_announce_one(env, variables):
    tpu = read(FakeHost(env=env))
    assert (tpu.variables, tpu.expected) == (variables, bool(variables))


def test_library_path_of_the_environment_wins():
    files = {f"{SITE}/libtpu_nightly-0.1.dev20240101.dist-info/METADATA": "", f"{SITE}/libtpu/libtpu.so": ""}
    tpu = read(FakeHost(files, interpreter=PATH, env={"TPU_LIBRARY_PATH": "/opt/libtpu.so"}))
    assert (tpu.libtpu, tpu.libtpu_path, tpu.expected) == ("0.1.dev20240101", "/opt/libtpu.so", False)


def test_package_without_its_library():
    tpu = read(FakeHost({f"{SITE}/libtpu-0.0.21.dist-info/METADATA": ""}, interpreter=PATH))
    assert (tpu.libtpu, tpu.libtpu_path) == ("0.0.21", None)


def test_first_on_the_path_wins():
    files = {"/a/libtpu-1.0.dist-info/METADATA": "", "/b/libtpu-2.0.dist-info/METADATA": ""}
    assert read(FakeHost(files, interpreter={"path": ["/b", "/a"]})).libtpu == "2.0"


def test_interpreter_that_gave_no_answer():
    assert read(FakeHost(interpreter="timed out")) == Tpu()


def test_lock_file_of_another_user():
    tpu = read(FakeHost({LOCK: ""}, user=1000))
    assert (tpu.lock_file, tpu.lock_owner) == (LOCK, "root")
    tpu = read(FakeHost({LOCK: ""}, user=0))
    assert (tpu.lock_file, tpu.lock_owner) == (LOCK, None)


def processes(node, parent):
    return {
        "files": {"/proc/812/status": f"Name:\tpython3\nPid:\t812\nPPid:\t{parent}\n", "/proc/99/status": "Name:\tsh\n"},
        "links": {"/proc/self": "4711", "/proc/99/fd/0": "/dev/null", "/proc/812/fd/7": node},
    }


def test_holder_of_a_chip():
    assert read(FakeHost(nodes={"/dev/accel0": 0o666}, **processes("/dev/accel0", 1))).holder_pid == 812


def test_nobody_holds_it():
    assert read(FakeHost(nodes={"/dev/accel0": 0o666}, **processes("/dev/accel1", 1))).holder_pid is None


def test_a_child_of_this_run_is_no_holder():
    assert read(FakeHost(nodes={"/dev/accel0": 0o666}, **processes("/dev/accel0", 4711))).holder_pid is None


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems(platform):
    assert read(FakeHost(platform=platform, user=None)) == Tpu()


def test_this_machine():
    with LocalHost(Request(), env={"PATH": os.environ["PATH"]}) as host:
        tpu = read(host)
    assert tpu.variables == ()
    assert tpu.expected is bool(tpu.generations or tpu.nodes)
