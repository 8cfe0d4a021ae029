import msgspec
import pytest
from fakes import FakeHost, machine

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.container import Container, read

HOST_ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
OVERLAY = (
    "900 700 0:60 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib/{where}/l/A:/var/lib/{where}/l/B,"
    "upperdir=/var/lib/{where}/x/diff,workdir=/var/lib/{where}/x/work\n"
)
DOCKER_ROOT = OVERLAY.format(where="docker/overlay2")
NVIDIA = (
    "910 900 0:70 / /proc/driver/nvidia rw,nosuid - tmpfs tmpfs rw,mode=555\n"
    "911 900 8:1 /usr/bin/nvidia-smi /usr/bin/nvidia-smi ro,nosuid - ext4 /dev/sda1 rw\n"
    "912 900 8:1 /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15 /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15 ro"
    " - ext4 /dev/sda1 rw\n"
    "913 900 0:6 /nvidia0 /dev/nvidia0 ro - devtmpfs udev rw\n"
)
LIBCUDA = "912 900 8:1 /x /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15 ro - ext4 /dev/sda1 rw\n"
KUBELET = "920 900 8:1 /var/lib/kubelet/pods/6b2f1c9e-0000/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
CUDA_IMAGE = {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}


def linux(mountinfo=HOST_ROOT, cgroup="0::/user.slice/user-1000.slice/session-2.scope\n", files=None, **more):
    tables = {"/proc/self/mountinfo": mountinfo, "/proc/self/cgroup": cgroup}
    return FakeHost({**{path: text for path, text in tables.items() if text is not None}, **(files or {})}, **more)


def test_recorded_h200():
    env = {"NVIDIA_VISIBLE_DEVICES": "0", "NVIDIA_DRIVER_CAPABILITIES": "compute,graphics,utility"}
    host = linux(cgroup="0::/process_api/core\n", files={"/.dockerenv": ""}, env=env)
    assert read(host) == msgspec.convert(machine("h200")["container"], Container)


def test_bare_machine():
    assert read(linux(env={**CUDA_IMAGE})) == Container(inside=False)


def test_docker_with_gpus():
    host = linux(DOCKER_ROOT + NVIDIA, "0::/\n", {"/.dockerenv": ""}, env=CUDA_IMAGE)
    assert read(host) == Container(
        inside=True,
        kind="docker",
        nvidia_visible_devices="all",
        driver_capabilities="compute,utility",
        gpu_requested=True,
        driver_files_mounted=True,
    )


def test_cuda_image_without_gpus_asks_but_gets_nothing():
    container = read(linux(DOCKER_ROOT, "0::/\n", {"/.dockerenv": ""}, env=CUDA_IMAGE))
    assert (container.kind, container.gpu_requested, container.driver_files_mounted) == ("docker", True, False)


@pytest.mark.parametrize("value", [None, "", "void", "none", " NONE "])
def test_no_devices_asked_for(value):
    env = {} if value is None else {"NVIDIA_VISIBLE_DEVICES": value}
    container = read(linux(DOCKER_ROOT, "0::/\n", {"/.dockerenv": ""}, env=env))
    assert container.gpu_requested is False
    assert container.nvidia_visible_devices == value


def test_cdi_hands_over_with_void():
    container = read(linux(DOCKER_ROOT + LIBCUDA, "0::/\n", {"/.dockerenv": ""}, env={"NVIDIA_VISIBLE_DEVICES": "void"}))
    assert (container.gpu_requested, container.driver_files_mounted) == (False, True)


@pytest.mark.parametrize(
    "point",
    ["/dev/nvidia0", "/usr/local/nvidia", "/.singularity.d/libs/libnvidia-ml.so.1", "/dev/dxg", "/usr/bin/nvidia-smi"],
)
def test_each_driver_mount_counts(point):
    mount = f"912 900 8:1 /x {point} ro - ext4 /dev/sda1 rw\n"
    assert read(linux(DOCKER_ROOT + mount, "0::/\n", {"/.dockerenv": ""})).driver_files_mounted is True


@pytest.mark.parametrize("point", ["/usr/local/nvidia-tools", "/proc/driver", "/dev/shm", "/data/libcudart.so.12"])
def test_other_mounts_do_not(point):
    mount = f"912 900 8:1 /x {point} ro - ext4 /dev/sda1 rw\n"
    assert read(linux(DOCKER_ROOT + mount, "0::/\n", {"/.dockerenv": ""})).driver_files_mounted is False


def test_mounts_unreadable_is_unknown():
    container = read(linux(None, "0::/\n", {"/.dockerenv": ""}))
    assert (container.inside, container.driver_files_mounted) == (True, None)


ID = "3f4e5d6c7b8a90123f4e5d6c7b8a90123f4e5d6c7b8a90123f4e5d6c7b8a9012"


@pytest.mark.parametrize(
    ("kind", "host"),
    [
        ("docker", linux(cgroup=f"4:memory:/docker/{ID}\n")),
        ("docker", linux(cgroup=f"0::/system.slice/docker-{ID}.scope\n")),
        ("docker", linux(DOCKER_ROOT, "0::/\n")),  # a build step has no /.dockerenv
        ("podman", linux(cgroup="0::/\n", files={"/run/.containerenv": 'engine="podman-5"\n'})),
        ("podman", linux(cgroup=f"0::/machine.slice/libpod-{ID}.scope\n")),
        ("podman", linux(OVERLAY.format(where="containers/storage/overlay"), "0::/\n")),
        ("kubernetes", linux(cgroup=f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope\n")),
        ("kubernetes", linux(OVERLAY.format(where="containerd/io.containerd") + KUBELET, "0::/\n")),
        (
            "kubernetes",
            linux(OVERLAY.format(where="containerd/io.containerd"), "0::/\n", env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
        ),
        ("kubernetes", linux(files={"/.dockerenv": "", "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt": ""})),
        ("kubernetes", linux(None, None, env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"})),
        ("containerd", linux(OVERLAY.format(where="containerd/io.containerd.snapshotter.v1.overlayfs"), "0::/\n")),
        ("containerd", linux(cgroup=f"0::/default/{ID}\n")),
        ("apptainer", linux(env={"APPTAINER_CONTAINER": "/tmp/tf.sif"})),
        ("apptainer", linux(env={"SINGULARITY_CONTAINER": "/tmp/tf.sif"})),
        ("apptainer", linux(files={"/.dockerenv": "", "/.singularity.d/runscript": ""})),
        ("enroot", linux(HOST_ROOT + "40 27 0:50 /enroot/c/.lock /.lock ro - xfs /dev/md0 rw\n")),
        ("lxc", linux(env={"container": "lxc"})),
        ("lxc", linux(cgroup="0::/lxc.payload.web/init.scope\n")),
        ("lxc", linux(HOST_ROOT + "50 27 0:44 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw\n", "0::/\n")),
        ("lxc", linux(files={"/run/systemd/container": "lxc\n"})),
        ("docker", linux(files={"/.dockerenv": "", "/run/systemd/container": "lxc\n"})),  # docker inside an LXC guest
        ("nspawn", linux(files={"/run/host/container-manager": "systemd-nspawn\n"})),
        ("nspawn", linux(env={"container": "systemd-nspawn"})),
        (None, linux(env={"container": "oci"})),
    ],
)
def test_kind(kind, host):
    container = read(host)
    assert (container.inside, container.kind) == (True, kind)


@pytest.mark.parametrize(
    "host",
    [
        linux(env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),  # exported by hand on a laptop
        linux(cgroup="0::/system.slice/docker.service\n"),
        linux(cgroup="0::/system.slice/containerd.service\n"),
        linux(cgroup="0::/user.slice/docker-backup.scope\n"),
        linux(env={"APPTAINER_CACHEDIR": "/scratch", "SINGULARITY_BIND": "/data"}),
        linux(env={"container": "a blue one"}),
        linux(files={"/run/systemd/container": "wsl\n"}),
        linux(files={"/.dockerenv": ""}, folders=("/run/WSL",)),  # imported into WSL from a docker export
        linux("30 1 0:60 / / rw - overlay overlay rw,lowerdir=/run/rootfsbase,upperdir=/run/overlayfs\n"),  # a live CD
        FakeHost(platform="darwin", env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
        FakeHost(platform="win32", user=None),
        FakeHost(),  # no /proc at all
    ],
)
def test_no_container(host):
    assert read(host) == Container(inside=False)


def test_this_machine():
    with LocalHost(Request()) as host:
        container = read(host)
        assert container.inside or host.stat("/.dockerenv") is None
        assert container.driver_files_mounted is not None or not container.inside
