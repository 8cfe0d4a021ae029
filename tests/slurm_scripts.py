"""The Slurm scripts, run with fakes of gpucheck and scontrol that print the output of a case and record their arguments."""

import json
import re

from recipe_helpers import RECIPES, adapted, installed, program, run

JOB = {"SLURM_JOB_GPUS": "0", "SLURM_JOB_ID": "17", "SLURM_JOB_USER": "alice"}
NODE = "NodeName={name} CPUAlloc=0 Gres=gpu:8 State={state} ActiveFeatures=(null) CapWatts=n/a Reason={reason} [root@{time}] Comment=x"
HEALTHY = "echo 'PASS: No fault found on this node: 8 GPUs.'"
FAULT = "echo gpucheck gpu-lost: GPU 1 is lost.; exit 1"
UNKNOWN = "echo >&2 gpucheck: No verdict: no time; exit 3"
BROKEN = "echo >&2 'Traceback (most recent call last):'; echo >&2 gpucheck gpu-lost: in a traceback; exit 1"
DRAINED = "update|nodename=node-1|state=drain|reason=gpucheck gpu-lost: GPU 1 is lost.{}|"
RESUMED = "update|nodename=node-1|state=resume|"
OURS = "gpucheck gpu-lost: before"
EDITS = ("/etc/gpucheck/", "/var/lib/gpucheck", "/run/gpucheck", "/usr/bin/logger", "PATH=/opt/gpucheck/bin:")


def line(state="IDLE", reason="none", time="2026-11-24T00:00:00", name="node-1"):
    """A node in the format of scontrol."""
    return NODE.format(name=name, state=state, reason=reason, time=time)


def script(tmp_path, name, changes=None, *, body=None, shown=None, after=None, proof="exit 1", **switches):
    """The recipe as an administrator would adapt it, in a folder; arguments of scontrol and logger are recorded in files of that name.

    Args:
        tmp_path: the folder.
        name: the recipe's name.
        changes: changes to the machine that gpucheck judges.
        body: shell commands that replace gpucheck.
        shown: the nodes in the format of scontrol, one per line.
        after: the nodes in the format of scontrol after its first other command.
        proof: what prove_node.sh runs.
        **switches: variables of gpucheck.sh.
    """
    bin_folder = installed(tmp_path / "bin", changes, body=body)
    (tmp_path / "config").write_text("")
    (tmp_path / "nodes").write_text(f"{shown or line()}\n")
    (tmp_path / "after").write_text(f"{after or line('IDLE+DRAIN', OURS)}\n")
    note = f"printf '%s|' \"$@\" >> '{tmp_path}/"
    record = f"{note}scontrol'; cp '{tmp_path}/after' '{tmp_path}/nodes'"
    program(
        bin_folder / "scontrol",
        f"#!/bin/sh\ncase $1 in --oneliner) cat '{tmp_path}/nodes' ;; show) cat '{tmp_path}/config' ;; *) {record} ;; esac\n",
    )
    program(bin_folder / "logger", f"#!/bin/sh\n{note}logger'\n")
    program(bin_folder / "setsid", '#!/bin/sh\nexec "$@"\n')
    program(bin_folder / "sleep", "#!/bin/sh\n")
    program(tmp_path / "prove_node.sh", f"{proof}\n")
    if name == "task_prolog.sh":
        return program(tmp_path / name, adapted(f"slurm/{name}", {"gpucheck=/opt": f"gpucheck={bin_folder}/gpucheck #/opt"}))
    targets = (f"{tmp_path}/", tmp_path / "state", tmp_path / "run", bin_folder / "logger", f"PATH={bin_folder}:")
    for recipe, own in (("gpucheck.sh", "slurm.sh"), (name, name)):
        text = (RECIPES / "slurm" / recipe).read_text()
        for old, new in zip(EDITS, targets, strict=True):
            text = text.replace(old, str(new))
        for switch, value in switches.items() if recipe == "gpucheck.sh" else ():
            text, count = re.subn(rf"(?m)^{switch}=.*$", f"{switch}={value}", text)
            assert count == 1
        program(tmp_path / own, text)
    return tmp_path / name


def run_script(path, **env):
    return run([path], {"SLURMD_NODENAME": "node-1", "SLURM_CONF": "/nowhere", **env})


def noted(tmp_path, name):
    return (tmp_path / name).read_text() if (tmp_path / name).exists() else ""


def decisions(tmp_path):
    """The journal's entries, by check."""
    return [json.loads(text)["decision"] for text in noted(tmp_path, "logger").split("|") if text.startswith("{")]
