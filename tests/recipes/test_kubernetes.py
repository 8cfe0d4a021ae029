"""The manifests, against the API's own schema; their scripts, run."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
import yaml
from recipe_helpers import ECC, PENDING, RECIPES, accepts, example, impatient, installed, program, report, run, tool

posix = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
MANIFESTS = ("job.yaml", "workers-job.yaml", "node-check.yaml", "node-problem-detector.yaml", "node-taint.yaml")


def documents(name):
    return {one["kind"]: one for one in yaml.safe_load_all((RECIPES / "kubernetes" / name).read_text())}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifest_is_valid(name):
    accepts("kubernetes-validate", "--strict", "-k", "1.37", RECIPES / "kubernetes" / name)


def job():
    return documents("job.yaml")["Job"]["spec"]


def test_job_fails_by_the_exit_code_of_the_init_container():
    pod = job()["template"]["spec"]
    assert pod["restartPolicy"] == "Never"  # else the API refuses podFailurePolicy
    (init,) = pod["initContainers"]
    rule = job()["podFailurePolicy"]["rules"][0]
    assert (rule["action"], rule["onExitCodes"]["containerName"]) == ("FailJob", init["name"])
    assert rule["onExitCodes"]["values"] == [4]  # a node with a full disk also ends with 2
    (main,) = pod["containers"]
    assert init["image"] == main["image"]
    assert init["resources"] == main["resources"]


@posix
@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        (None, 0, "PASS: "),
        (PENDING, 0, "WARNING ecc-errors (hardware): "),
        (ECC, 1, "ERROR ecc-errors (hardware): "),
        (example("driver-unresponsive"), 1, "ERROR driver-unresponsive (host): "),
        (example("cuda-libraries-unreachable"), 4, "ERROR cuda-libraries-unreachable (environment): "),
    ],
)
def test_init_container_distinguishes_a_bad_node_from_a_bad_image(tmp_path, changes, code, words):
    (init,) = job()["template"]["spec"]["initContainers"]
    (text,) = init["args"]
    log = tmp_path / "termination-log"
    log.write_text("")  # the kubelet creates it
    text = text.replace("/tmp/", f"{tmp_path}/").replace("/dev/termination-log", str(log))
    path = f"{installed(tmp_path / 'bin', changes)}:{os.environ['PATH']}"
    done = run([*init["command"], text], {"PATH": path})
    assert (done.returncode, done.stderr) == (code, "")
    message = log.read_bytes()
    assert message.decode().startswith(words)
    assert len(message) <= 4096


@posix
@pytest.mark.parametrize("code", [2, 3, 137])
def test_other_exit_codes_are_passed_on(tmp_path, code):
    (init,) = job()["template"]["spec"]["initContainers"]
    path = f"{installed(tmp_path / 'bin', body=f'exit {code}')}:{os.environ['PATH']}"
    assert run([*init["command"], *init["args"]], {"PATH": path}).returncode == code


def config_map():
    return documents("node-problem-detector.yaml")["ConfigMap"]["data"]


def test_plugin_meets_the_limits_of_node_problem_detector():
    config = json.loads(config_map()["gpucheck.json"])
    assert config["plugin"] == "custom"
    assert config["pluginConfig"]["max_output_length"] == 80
    (condition,), (rule,) = config["conditions"], config["rules"]
    assert rule["type"] == "permanent"
    assert rule["condition"] == condition["type"]
    assert rule["reason"] != condition["reason"]
    assert len(condition["message"]) <= 80
    assert seconds(rule["timeout"]) < seconds(config["pluginConfig"]["timeout"]) <= 5  # else the plugin refuses the rule
    assert seconds(config["pluginConfig"]["invoke_interval"]) >= 30


def seconds(text):
    return float(text.removesuffix("s"))


def test_mounted_paths_match_the_configuration():
    pod = documents("node-problem-detector.yaml")["DaemonSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    volumes = {one["name"]: one for one in pod["volumes"]}
    rule = json.loads(config_map()["gpucheck.json"])["rules"][0]
    assert rule["path"] == f"{mounts['gpucheck']}/gpucheck.sh"
    assert f"--config.custom-plugin-monitor={mounts['gpucheck']}/gpucheck.json" in container["args"]
    assert volumes["gpucheck"]["configMap"]["defaultMode"] == 0o755
    assert f"report={mounts['reports']}/gpucheck.prom\n" in config_map()["gpucheck.sh"]
    folder = volumes["reports"]["hostPath"]["path"]
    assert f"--report prometheus={folder}/gpucheck.prom" in (RECIPES / "systemd/gpucheck.service").read_text()
    check = documents("node-check.yaml")["DaemonSet"]["spec"]["template"]["spec"]
    assert folder in [volume["hostPath"]["path"] for volume in check["volumes"]]
    assert "--report prometheus=/reports/gpucheck.prom" in check["containers"][0]["args"][0]


@posix
def test_loop_continues_if_a_check_never_ends(tmp_path):
    (container,) = documents("node-check.yaml")["DaemonSet"]["spec"]["template"]["spec"]["containers"]
    (text,) = container["args"]
    folder = installed(tmp_path / "bin", body="trap '' TERM; sleep 45")
    impatient(folder)
    program(folder / "sleep", f"#!/bin/sh\n[ $1 = 300 ] || exec /bin/sleep $1\nkill $(cat '{tmp_path}/pid')\n")
    path = f"{folder}:{os.environ['PATH']}"
    done = run([*container["command"], f"echo $$ >'{tmp_path}/pid'\n{text}"], {"PATH": path}, timeout=20)
    assert done.returncode == -15  # it reached the pause, whose stub ends the loop


def plugin(tmp_path, changes=None, text=None, age_seconds=0.0, old="", new=""):
    """Exit code and line of the plugin on a report."""
    file = tmp_path / "gpucheck.prom"
    if text is None:
        recorded = tmp_path / "report.json"
        recorded.write_text(report(changes))
        run([sys.executable, "-m", "gpucheck", "--replay", recorded, "--report", f"prometheus={file}"])
        text = file.read_text()
        assert old in text
    file.write_text(text.replace(old, new) if old else text)
    os.utime(file, (time.time() - age_seconds,) * 2)
    script = program(tmp_path / "gpucheck.sh", config_map()["gpucheck.sh"].replace("/reports/gpucheck.prom", str(file)))
    done = subprocess.run([script], capture_output=True, stdin=subprocess.DEVNULL, timeout=5)
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1
    assert len(done.stdout) <= 80
    return done.returncode, done.stdout.decode().rstrip("\n")


@posix
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (None, (0, "PASS no fault of the node")),
        (PENDING, (0, "PASS no fault of the node")),
        (example("driver-unresponsive"), (1, "FAIL driver-unresponsive: see gpucheck explain driver-unresponsive")),
        (ECC, (1, "FAIL ecc-errors: see gpucheck explain ecc-errors")),
    ],
)
def test_plugin_reports_a_problem_for_a_fault(tmp_path, changes, expected):
    assert plugin(tmp_path, changes) == expected


@posix
def test_error_without_a_fail_verdict_is_unknown(tmp_path):
    """`ulimit -v` or `-t` of the process that checks: process-limit-too-low."""
    text = "".join(
        [
            'gpucheck_verdict{verdict="fail"} 0\ngpucheck_verdict{verdict="unknown"} 1\n',
            'gpucheck_finding{code="process-limit-too-low",row="r",severity="error",scope="host",action="",root="true"} 1\n',
        ]
    )
    assert plugin(tmp_path, text=text) == (2, "UNKNOWN gpucheck could not check everything")


@posix
def test_failed_probe_or_old_report_is_unknown(tmp_path):
    probe = 'gpucheck_probe_success{probe="gpus"} '
    could_not = "UNKNOWN gpucheck could not check everything"
    assert plugin(tmp_path, old=f"{probe}1", new=f"{probe}0") == (2, could_not)
    verdict = 'gpucheck_verdict{verdict="unknown"} '
    assert plugin(tmp_path, old=f"{verdict}0", new=f"{verdict}1") == (2, could_not)
    assert plugin(tmp_path, age_seconds=3600) == (2, "UNKNOWN no report of gpucheck in the last 15 minutes")
    assert plugin(tmp_path, age_seconds=-366 * 86400) == (
        2,
        "UNKNOWN the gpucheck report is from the future, so its age is unknown",
    )
    assert plugin(tmp_path, age_seconds=-60)[0] == 0  # clocks are set
    assert plugin(tmp_path, text="") == (2, "UNKNOWN this is not a gpucheck report")
    (tmp_path / "gpucheck.prom").unlink()
    assert run([tmp_path / "gpucheck.sh"]).returncode == 2


@posix
def test_shellcheck_has_no_findings(tmp_path):
    accepts("shellcheck", program(tmp_path / "gpucheck.sh", config_map()["gpucheck.sh"]))
    (init,) = job()["template"]["spec"]["initContainers"]
    accepts("shellcheck", "--shell=sh", program(tmp_path / "init.sh", init["args"][0]))


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_reads_the_file_mode_as_octal():
    """Only a parser of YAML 1.1 reads the file mode as octal."""
    folder = RECIPES / "kubernetes/node-problem-detector.yaml"
    done = run([tool("kubectl"), "patch", "--local", "--type=merge", "-p", "{}", "-o", "json", "-f", folder])
    assert done.returncode == 0, done.stderr
    assert '"defaultMode": 493' in done.stdout
