"""Failures of a Kubernetes API server: a real HTTPS server, queried by the real child."""

import http.server
import socket
import threading
import time

import fake_kubernetes
import pytest
from case_files import table
from fake_kubernetes import SECRET, job_pods

from gpucheck.core.child.messages.cluster import Account, KubernetesTask
from gpucheck.core.cluster import kubernetes
from gpucheck.core.cluster.kubernetes_api import FOLDER, Unknown


def drip(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.5)


def flood(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * (1 << 20))


class TestNoAnswer:
    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (lambda handler: handler.fail(401, "Unauthorized"), "does not accept this pod's token (status 401)"),
            (lambda handler: handler.fail(404, "NotFound"), "it responded with status 404"),
            (lambda handler: handler.fail(503, "ServiceUnavailable"), "it responded with status 503"),
            (lambda handler: handler.respond(b"<html>log in</html>"), "its response is not valid (JSONDecodeError)"),
            (lambda handler: handler.respond(b"\xff\xfe"), "its response is not valid"),
            (lambda handler: handler.respond(["not", "an", "object"]), "its response is not valid"),
            (lambda handler: handler.respond({"items": [7]}), "its response is not valid"),
            (lambda handler: handler.respond({"items": [{"metadata": {"name": 7}}]}), "`$[0].metadata.name`"),
            (
                lambda handler: handler.respond({"items": [{"metadata": {"name": "a", "labels": []}}]}),
                "its response is not valid",
            ),
            (lambda handler: handler.respond({"items": None}), "has no pod named 'train-0-x7f2k'"),
            (lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH\r\n"), "its response is not valid (BadStatusLine)"),
            (lambda handler: handler.connection.shutdown(socket.SHUT_RDWR), "could not be queried: "),
            (flood, "its response is too large"),
        ],
    )
    def test_invalid_responses_are_reported(self, api_server, ask_pods, answer, words):
        api_server.override = answer
        said = ask_pods("train-0-x7f2k")
        assert said.startswith("Unknown: ")
        assert words in said

    def test_missing_permission_is_reported_with_the_commands_to_allow_it(self, api_server, ask_pods):
        api_server.override = lambda handler: handler.fail(403, "Forbidden")
        commands = (
            "kubectl create role gpucheck-pods --verb=get,list --resource=pods,jobs.batch,statefulsets.apps --namespace=ml"
            " && kubectl create rolebinding gpucheck-pods --role=gpucheck-pods --serviceaccount=ml:trainer --namespace=ml"
        )
        assert ask_pods("train-0-x7f2k").endswith(f"is not allowed to list pods (status 403); allow it: {commands}")
        assert "--serviceaccount=ml:ACCOUNT" in ask_pods("", text="opaque")

    def test_server_with_an_endless_response_times_out(self, api_server, ask_pods):
        api_server.override = drip
        began = time.monotonic()
        assert "does not respond in time" in ask_pods("train-0-x7f2k", seconds=4.0)
        assert time.monotonic() - began < 30.0

    def test_redirection_is_not_followed(self, api_server, ask_pods):
        elsewhere = []

        class Elsewhere(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                elsewhere.append(dict(self.headers))

        with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as other:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{other.server_address[1]}/"
            api_server.override = lambda handler: handler.respond({}, 302, Location=address)
            assert "it responded with status 302" in ask_pods("train-0-x7f2k")
            other.shutdown()
        assert elsewhere == []

    def test_refused_connection_is_reported(self, api_server, ask_pods):
        api_server.shutdown()
        api_server.server_close()
        assert "it refuses the connection" in ask_pods("train-0-x7f2k")

    def test_certificate_of_another_authority_is_rejected(self, api_server, ask_pods, tmp_path):
        fake_kubernetes.certificate(tmp_path, "127.0.0.1")
        said = ask_pods("train-0-x7f2k", ca=tmp_path / "ca.crt")
        assert f"its certificate is not the one of {FOLDER}/ca.crt (self" in said
        assert api_server.asked == []

    def test_certificate_for_another_address_is_rejected(self, api_server, ask_pods):
        said = ask_pods("train-0-x7f2k", KUBERNETES_SERVICE_HOST="localhost")
        assert "its certificate is not the one of" in said
        assert api_server.asked == []

    def test_server_without_tls_is_reported(self, ask_pods):
        with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as plain:
            plain.handle_error = lambda *_: None
            threading.Thread(target=plain.serve_forever, daemon=True).start()
            assert "could not be queried: TLS fails (" in ask_pods(
                "train-0", KUBERNETES_SERVICE_PORT=str(plain.server_address[1])
            )
            plain.shutdown()

    @table
    def test_broken_service_account_folder_is_reported(self, api_server, pki, pod_host, tmp_path, name, text, words):
        folder = fake_kubernetes.account(tmp_path, pki / "ca.crt")
        (folder / name).unlink() if text is None else (folder / name).write_text(text)
        with pod_host(folder, api_server.env, 10.0) as host:
            with pytest.raises(Unknown) as caught:
                kubernetes.pods(host)
            assert words in str(caught.value)
            assert not any(
                "two" in child.log() or "two" in str(child.message(Account)) for _, child in host.children(KubernetesTask)
            )

    @table
    def test_invalid_variables_are_reported(self, ask_pods, env, words):
        assert words in ask_pods("train-0", **env)


def test_secrets_stay_with_the_child(api_server, ask_pods):
    api_server.pods = job_pods(2)
    assert ask_pods("train-0-x7f2k").number == 0
    assert "10.1.2.11" in ask_pods.heard
    assert SECRET not in ask_pods.heard
    assert fake_kubernetes.token("train-0-x7f2k").rsplit(".", 1)[1] not in ask_pods.heard
