"""Repair and check again until no fault remains: one fault can mask the next."""

import json
import os
import stat

from one_rule import changed

from gpucheck.core.engine.recorded import replay
from gpucheck.core.repairs.verify import ROUNDS_MAX, verify

REFUSED = {"status": "failed", "result": 101, "result_name": "CUDA_ERROR_INVALID_DEVICE", "driver_version": "13.0"}
HIDDEN = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}


def report(plain):
    """The report of a machine's facts."""
    return replay(json.dumps({"schema_version": "1.0", "facts": plain}).encode())


def machine(seen):
    """A check of a machine whose CUDA responds to variables as the driver does."""

    def check(env):
        seen.append(dict(env))
        changes = {"environment.variables": dict(env)}
        if env.get("CUDA_DEVICE_ORDER", "PCI_BUS_ID") != "PCI_BUS_ID":
            changes |= {
                "cuda": REFUSED,
                "environment.variables": {"CUDA_DEVICE_ORDER": env["CUDA_DEVICE_ORDER"]},
            }  # hides the next
        elif env.get("CUDA_VISIBLE_DEVICES") == "-1":
            changes["cuda"] = HIDDEN
        if "cache" in env:
            changes |= {"limits.kernel_cache_writable": "CUDA_CACHE_PATH" in env, "limits.kernel_cache_other": env["cache"]}
        return report(changed(changes, quick=True))

    return check


def test_healthy_machine_is_checked_once():
    seen = []
    verified = verify(machine(seen), {"A": "1"})
    assert (verified.assignments, seen) == ((), [{"A": "1"}])


def test_each_fault_is_repaired_and_checked_again():
    seen, env = [], {"CUDA_DEVICE_ORDER": "FOO", "CUDA_VISIBLE_DEVICES": "-1"}
    verified = verify(machine(seen), env)
    assert [(one.variable, one.value) for one in verified.assignments] == [
        ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
        ("CUDA_VISIBLE_DEVICES", ""),
    ]
    assert seen[-1] == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert verified.report.facts["cuda"].status == "ok"
    assert env["CUDA_DEVICE_ORDER"] == "FOO"


def test_repairing_stops_when_a_variable_does_not_help():
    """A machine on which the variable makes no difference."""
    seen = []

    def check(env):
        seen.append(dict(env))
        return report(changed({"environment.variables": {"CUDA_VISIBLE_DEVICES": "-1"}, "cuda": HIDDEN}, quick=True))

    verified = verify(check, {"CUDA_VISIBLE_DEVICES": "-1"})
    assert [one.variable for one in verified.assignments] == ["CUDA_VISIBLE_DEVICES"]
    assert len(seen) <= ROUNDS_MAX + 1


def test_new_kernel_cache_is_private_to_the_user(tmp_path):
    folder = tmp_path / "cuda-cache"
    verified = verify(machine([]), {"cache": str(folder)})
    assert [(one.variable, one.value) for one in verified.assignments] == [("CUDA_CACHE_PATH", str(folder))]
    status = os.stat(folder)
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o700, os.geteuid())
