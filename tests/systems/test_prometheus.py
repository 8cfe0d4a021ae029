"""The alerts in real Prometheus, from node_exporter's metrics of `gpucheck node`."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

import pytest
from lab import fake_driver
from lab.machines import Machine, refusal
from recipe_helpers import RECIPES
from systems.slurm import free_ports, wait

import gpucheck

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
NEEDED = ("prometheus", "prometheus-node-exporter")


class Monitoring:
    """Prometheus, node_exporter and a node of two GPUs."""

    def __init__(self, folder):
        self.folder, (self.port, node) = folder, free_ports(2)
        self.driver = fake_driver.build(folder / "driver")
        (folder / "reports").mkdir()
        rules = re.sub(r"for: \d+[mh]", "for: 1s", (RECIPES / "prometheus/alerts.yaml").read_text())
        (folder / "alerts.yaml").write_text(rules)
        scrape = {"job_name": "any", "static_configs": [{"targets": [f"127.0.0.1:{node}"]}]}
        settings = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        (folder / "prometheus.yaml").write_text(
            json.dumps({"global": settings, "rule_files": [str(folder / "alerts.yaml")], "scrape_configs": [scrape]})
        )
        listen = "--web.listen-address=127.0.0.1"
        reads = ("--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={folder}/reports")
        self.processes = [
            self.start("prometheus-node-exporter", f"{listen}:{node}", *reads),
            self.start(
                "prometheus",
                f"{listen}:{self.port}",
                f"--config.file={folder}/prometheus.yaml",
                f"--storage.tsdb.path={folder}/data",
            ),
        ]

    def start(self, program, *arguments):
        with open(self.folder / "log", "ab") as log:
            argv = [shutil.which(program), *arguments]
            return subprocess.Popen(argv, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)

    def stop(self):
        for process in self.processes:
            os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            process.wait(20)

    def report(self, **scenario):
        """Write the node's report as the unit does, with this driver scenario."""
        file = fake_driver.write_scenario(self.folder / "scenario", {"gpus": 2, **scenario})
        machine = self.folder / f"machine{len(list(self.folder.glob('machine*')))}"
        machine.mkdir()
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.driver), "FAKE_DRIVER": str(file)}
        env["PYTHONPATH"] = str(pathlib.Path(gpucheck.__file__).parents[1])
        argv = [sys.executable, "-m", "gpucheck", "node", "--report", f"prometheus={self.folder}/reports/gpucheck.prom"]
        subprocess.run([*Machine(gpus=2).enter(machine), *argv, "--format", "npd"], env=env, check=False, timeout=60)

    def firing(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/alerts", timeout=5) as answer:
            alerts = json.load(answer)["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def fires(self, *names):
        def done():
            try:
                return self.firing() == set(names)
            except OSError:  # still starting
                return False

        wait(done, 60, f"{names or 'no alert'}", lambda: f"{self.firing()}\n{(self.folder / 'log').read_text()[-2000:]}")


@pytest.fixture
def monitoring(tmp_path):
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (tests/systems/install.sh)")
    if reason := refusal(tmp_path / "probe"):
        pytest.skip(reason)
    made = Monitoring(tmp_path)
    yield made
    made.stop()


def test_alerts_fire_and_clear(monitoring):
    monitoring.report()
    monitoring.fires()
    monitoring.report(**{"gpu.1.ecc_uncorrected": 3})
    monitoring.fires("GPUHardwareFault")
    monitoring.report(nvmlInit_v2="hang", cuInit="hang")
    monitoring.fires("GPUHostFault", "GPUNotChecked")  # its GPUs could not be queried
    monitoring.report()
    monitoring.fires()
    (monitoring.folder / "reports/gpucheck.prom").unlink()
    monitoring.fires("GPUReportMissing")
