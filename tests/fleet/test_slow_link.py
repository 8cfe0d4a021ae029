"""Three real workers, one behind a slow link: it is named, although the joint training is slow for all."""

import asyncio
import concurrent.futures
import contextlib
import json
import os
import sys
import threading

import pytest
from recipe_helpers import run
from systems.slurm import free_ports

from gpucheck.commands.fleet.joint_training import training

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow, pytest.mark.timeout(200)]
BYTES_PER_SECOND = 10e6
BLOCK = 1 << 16


async def pump(reader, writer, pause):
    with contextlib.suppress(OSError):
        while data := await reader.read(BLOCK):
            await asyncio.sleep(pause * len(data) / BLOCK)
            writer.write(data)
            await writer.drain()
    writer.close()


async def slow_proxy(port, target):
    """Forward connections on the port to the target and slow down what the target sends back."""

    async def serve(reader, writer):
        try:
            there, to = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, to, 0.0), pump(there, writer, BLOCK / BYTES_PER_SECOND))

    async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
        await server.serve_forever()


def test_worker_behind_a_slow_link_is_named(tmp_path):
    *ports, detour = free_ports(4)
    threading.Thread(target=lambda: asyncio.run(slow_proxy(detour, ports[2])), daemon=True).start()

    def worker(place):
        seen = [*ports[:2], ports[2] if place == 2 else detour]
        cluster = {"worker": [f"127.0.0.1:{port}" for port in seen]}
        env = {
            "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": place}}),
            "CUDA_VISIBLE_DEVICES": "-1",
        }
        report = tmp_path / f"n{place}.json"
        strategies = ["--strategy", "one_device", "--strategy", "multi_worker_mirrored"]
        argv = [
            sys.executable,
            "-m",
            "gpucheck",
            *strategies,
            "--allow-cpu",
            "--timeout",
            "150",
            "--format",
            "json",
            "--output",
            report,
        ]
        done = run(argv, env, timeout=180, cwd=os.getcwd())
        assert report.exists(), done.stderr
        return report.read_bytes()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        reports = {f"n{place}": text for place, text in enumerate(pool.map(worker, range(3)))}
    trained = training({f"n{place}": f"127.0.0.1:{port}" for place, port in enumerate(ports[:3])}, reports, {})
    assert (trained.status, trained.reason, trained.slow) == ("passed", None, ("n2",))
