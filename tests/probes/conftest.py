"""A pod of a Kubernetes cluster: this machine, a real API server, and the folder of a service account."""

import os
import shutil
import time

import fake_kubernetes
import pytest
from fake_kubernetes import ApiServer

from gpucheck.core.child.messages.cluster import Account, ApiResponse, KubernetesTask
from gpucheck.core.cluster import kubernetes
from gpucheck.core.cluster.kubernetes_api import FOLDER, Unknown
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request


class PodHost(LocalHost):
    """This machine, with the folder of a service account."""

    def __init__(self, folder, env, seconds, waits=True):
        super().__init__(Request(strategies=("multi_worker_mirrored",), timeout_seconds=seconds), env={**os.environ, **env})
        self.folder, self.waits = folder, waits

    def remaining(self):
        """The seconds left; ``waits=False``: none at the first call, which limits how long pods are awaited."""
        if self.waits:
            return super().remaining()
        self.waits = True
        return 0.0

    def real(self, path):
        return path.replace(FOLDER, str(self.folder)) if path.startswith(FOLDER) else super().real(path)

    def stat(self, path):
        return super().stat(self.real(path))


@pytest.fixture(scope="session")
def pki(tmp_path_factory):
    """A folder with the API server's key and certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to create a certificate")
    folder = tmp_path_factory.mktemp("kubernetes")
    fake_kubernetes.certificate(folder, "127.0.0.1")
    return folder


@pytest.fixture
def api_server(pki):
    with ApiServer(pki) as running:
        yield running


@pytest.fixture
def ask_pods(api_server, pki, tmp_path):
    """``ask_pods("train-0-x7f2k")``: the addresses and the number that a pod finds, or the text of the exception; ``ask_pods.heard`` is the child's report."""

    def one(name, seconds=30.0, *, waits=True, claimed=True, text=None, ca=None, **env):
        folder = fake_kubernetes.account(tmp_path / "account", ca or pki / "ca.crt", name if claimed else None, text)
        with PodHost(folder, {"HOSTNAME": "train-0", **api_server.env, **env}, seconds, waits) as host:
            try:
                return kubernetes.pods(host)
            except (Unknown, kubernetes.Alone, kubernetes.Unusable) as error:
                return f"{type(error).__name__}: {error}"
            finally:
                _, child = next(iter(host.children(KubernetesTask)), (None, None))
                one.heard = "" if child is None else f"{child.message(Account)} {child.messages(ApiResponse)} {child.log()}"

    return one


@pytest.fixture
def pod_host():
    """``pod_host(folder, env, seconds)``: the machine inside a pod."""
    return PodHost


@pytest.fixture
def berlin(monkeypatch):
    """Set another time zone."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone can't be set on this system")
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()
