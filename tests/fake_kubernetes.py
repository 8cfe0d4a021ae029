"""A Kubernetes API server for tests: pods, Jobs and StatefulSets over HTTPS, for clients with the token; and the pods' folder.

Like the real one, it selects by labels and fields, pages its lists, and checks the token. Run as a program it serves a file:
``fake_kubernetes.py FOLDER PORT STATE``; a state is the JSON of ``{"pods": [...], "made": {path: object}}``.
"""

import base64
import http.server
import json
import pathlib
import signal
import ssl
import subprocess
import sys
import threading
import urllib.parse

NAMESPACE, ACCOUNT = "ml", "trainer"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/"
STATEFUL_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/"
SECRET = "hunter2-in-a-variable"
INDEX = "batch.kubernetes.io/job-completion-index"
NO_ROOM = (
    "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found."
)


def certificate(folder, *addresses):
    """Create a key and a self-signed certificate with few extensions."""
    pathlib.Path(folder, "openssl.cnf").write_text(
        "[req]\ndistinguished_name=name\nprompt=no\nx509_extensions=few\n[name]\nCN=kubernetes\n[few]\n"
        f"basicConstraints=critical,CA:TRUE\nsubjectAltName={','.join(f'IP:{address}' for address in addresses)}\n"
    )
    subprocess.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -config {folder}/openssl.cnf"
        f" -keyout {folder}/key.pem -out {folder}/ca.crt -days 2".split(),
        check=True,
        capture_output=True,
    )


def token(pod=None):
    """An unsigned service account token; without a pod, like one from before Kubernetes 1.21."""
    claims = {"iss": "https://kubernetes.default.svc.cluster.local", "sub": f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"}
    if pod is not None:
        account = {"name": ACCOUNT, "uid": "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798"}
        claims["kubernetes.io"] = {"namespace": NAMESPACE, "pod": {"name": pod, "uid": f"uid-{pod}"}, "serviceaccount": account}
    parts = ({"alg": "RS256", "kid": "OAjVVaejWFc0"}, claims, {"no": "signature"})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)


def account(folder, ca, pod=None, text=None):
    """Create the folder that is mounted at /var/run/secrets/kubernetes.io/serviceaccount."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token").write_text(token(pod) if text is None else text)
    (folder / "ca.crt").write_text(pathlib.Path(ca).read_text())
    (folder / "namespace").write_text(NAMESPACE)
    return folder


def pod(name, address=None, labels=None, owner=("Job", "train"), phase="Running", created="2026-05-01T08:00:00Z", **more):
    """A pod as the API server returns it; ``more``: annotations, deleted, waiting, unschedulable."""
    meta = {
        "name": name,
        "generateName": name[:-5],
        "namespace": NAMESPACE,
        "uid": f"uid-{name}",
        "resourceVersion": "81327",
        "creationTimestamp": created,
        "labels": labels or {},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET, **more.get("annotations", {})},
        "managedFields": [{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1"}],
    }
    if owner:
        kind, maker = owner
        group = "apps/v1" if kind == "StatefulSet" else "batch/v1"
        uid = f"uid-of-{maker}"
        meta["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Node", "name": "not-the-controller", "uid": "1"},
            {"apiVersion": group, "kind": kind, "name": maker, "uid": uid, "controller": True, "blockOwnerDeletion": True},
        ]
    if more.get("deleted"):
        meta["deletionTimestamp"] = "2026-05-01T09:00:00Z"
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": created}
    if more.get("unschedulable"):
        scheduled |= {"status": "False", "reason": "Unschedulable", "message": NO_ROOM}
    status = {"phase": phase, "conditions": [{"type": "Initialized", "status": "True"}, scheduled], "qosClass": "BestEffort"}
    if address:
        status |= {"podIP": address, "podIPs": [{"ip": address}], "hostIP": more.get("host", "192.168.7.7")}
    state = {"waiting": {"reason": more["waiting"]}} if "waiting" in more else {"running": {"startedAt": created}}
    if not more.get("unschedulable"):
        status["containerStatuses"] = [{"name": "trainer", "ready": phase == "Running", "restartCount": 0, "state": state}]
    variables = [{"name": "PASSWORD", "value": SECRET}]
    spec = {"containers": [{"name": "trainer", "image": "registry/trainer:1", "env": variables}], "nodeName": "gpu-node-3"}
    return {"metadata": meta, "spec": spec, "status": status}


def job_pods(count, address="10.1.2.{}", name="train", **more):
    """The pods of an Indexed Job."""
    return [
        pod(
            f"{name}-{index}-{suffix}",
            address.format(index + 10),
            {"batch.kubernetes.io/job-name": name, "job-name": name, INDEX: str(index)},
            ("Job", name),
            **more,
        )
        for index, suffix in zip(range(count), ("x7f2k", "b9qsl", "m2c4v", "zz81a", "k3k3k"), strict=False)
    ]


class ApiServer(http.server.ThreadingHTTPServer):
    """Serve a state in a thread. ``pods`` may be a function of the number of list requests with a label."""

    daemon_threads = True

    def __init__(self, folder, pods=(), made=None, address=("127.0.0.1", 0), tokens=None, page=500):
        super().__init__(address, _Handler)
        self.pods, self.made, self.page = pods, made or {}, page
        self.tokens = tokens  # None: any token created here
        self.override = None  # replaces the response; called with the handler
        self.asked, self.listed = [], 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/ca.crt", f"{folder}/key.pem")
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, *_):
        """Ignore clients that abort on purpose."""

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def env(self):
        """The environment of every pod."""
        return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.server_address[1])}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        self.server.asked.append((url.path, query))
        if self.server.override is not None:
            self.server.override(self)
            return
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.server.tokens is not None and given not in self.server.tokens:
            self.fail(401, "Unauthorized")
        elif url.path == PODS:
            self.list(query)
        elif url.path in self.server.made:
            self.respond(self.server.made[url.path])
        else:
            self.fail(404, "NotFound")

    def list(self, query):
        pods = self.server.pods
        if "labelSelector" in query:
            self.server.listed += 1
        found = [one for one in (pods(self.server.listed) if callable(pods) else pods) if _fits(one, query)]
        found.sort(key=lambda one: one["metadata"]["name"])
        start, size = int(query.get("continue", 0)), min(int(query.get("limit", 1 << 30)), self.server.page)
        rest = len(found) - start - size
        more = {"continue": str(start + size), "remainingItemCount": rest} if rest > 0 else {}
        meta = {"resourceVersion": "81400", **more}
        self.respond({"kind": "PodList", "apiVersion": "v1", "metadata": meta, "items": found[start : start + size]})

    def fail(self, code, reason):
        message = f'pods is forbidden: User "system:serviceaccount:{NAMESPACE}:{ACCOUNT}" cannot list resource "pods"'
        body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code}
        self.respond(body, code)

    def respond(self, body, code=200, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _fits(one, query):
    wanted = [part.split("=", 1) for part in query.get("labelSelector", "").split(",") if part]
    fields = [part.split("=", 1) for part in query.get("fieldSelector", "").split(",") if part]
    labeled = all(one["metadata"]["labels"].get(name) == value for name, value in wanted)
    return labeled and all(name == "metadata.name" and one["metadata"]["name"] == value for name, value in fields)


if __name__ == "__main__":
    state = json.loads(pathlib.Path(sys.argv[3]).read_text())
    with ApiServer(sys.argv[1], state["pods"], state["made"], ("0.0.0.0", int(sys.argv[2]))):
        signal.pause()
