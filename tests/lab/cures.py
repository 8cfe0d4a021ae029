"""Inject a fault, type the first printed repair in a shell, and run gpucheck there again."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

from lab import wheelhouse
from lab.bench import LEVEL_ARGS, Bench, Fault, Trial, Unavailable
from lab.environments import link_tree

LIMIT_SECONDS = 900.0
OTHERS = pathlib.Path(sys.prefix) / "cuda/others"  # wheels of JAX, tf_keras and the TPU's TensorFlow
DOWNLOADED = r"\bjax\[|tf_keras|tensorflow-tpu"
TYPED_BY_A_USER = ("environment", "code")  # scopes; others need an administrator or the owner of a job
OFFLINE = {
    "PIP_CONFIG_FILE": "/dev/null",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_COMPILE": "1",
    "PIP_NO_INDEX": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}


class Cure(NamedTuple):
    """The result of typing the first repair of a fault.

    ``outcome``: "cured" (the diagnosis is gone and nothing else is wrong), "changed" (another diagnosis is reported), "left" (it is still reported),
    or why nothing was typed: "look" or "words" (no repair is printed), "administrator", "image" (a container's), "another Python", "another scope".
    """

    code: str
    outcome: str
    typed: str = ""
    after: str = ""  # gpucheck's result after the repair: the first finding's code, or the verdict
    output: str = ""  # output of the repair


def cure(bench: Bench, fault: Fault) -> Cure:
    """Inject a fault, type the first repair, and check again. Raises Unavailable if it can't be injected."""
    with bench.injected(fault) as trial:
        result = typed(bench, fault, trial)
    if result is None:
        with bench.injected(fault, own=True) as trial:
            result = typed(bench, fault, trial)
            assert result is not None
    return result


def typed(bench: Bench, fault: Fault, trial: Trial) -> Cure | None:
    """The result of the first repair, or None if it would install into the shared environment."""
    shutil.copytree(commands(bench), trial.folder / "commands")
    root = ask(bench, fault, trial)["findings"][0]
    nothing = {"kind": "advice", "command": None, "needs": []}
    fix = next((fix for fix in root["fix"] if fix["kind"] == "repair"), (*root["fix"], nothing)[0])
    code, command = root["code"], fix["command"] or ""
    if not_typed := why_not_typed(root["scope"], fix):
        return Cure(code, not_typed, command)
    if "pip install" in command:
        if trial.environment is bench.environment:
            return None
        make_writable(trial)
        trial.env.update(OFFLINE, PIP_FIND_LINKS=" ".join(map(str, wheels(bench, command))))
    after = ask(bench, fault, trial, command)
    codes = [finding["code"] for finding in after["findings"] if finding["severity"] == "error" or finding["code"] == code]
    outcome = "left" if code in codes else "changed" if codes or after["verdict"] == "unknown" else "cured"
    return Cure(code, outcome, command, (codes or [after["verdict"]])[0], (trial.folder / "output.txt").read_text())


def why_not_typed(scope: str, fix: dict[str, Any]) -> str | None:
    """Why a repair is not typed, or None."""
    if scope not in TYPED_BY_A_USER:
        return "another scope"
    if fix["kind"] != "repair":
        return {"look": "look", "advice": "words"}[fix["kind"]]
    if {"sudo", "reboot"} & set(fix["needs"]):
        return "administrator"
    if "uv venv" in fix["command"]:
        return "another Python"
    return "image" if fix["command"].startswith("docker run") else None


def ask(bench: Bench, fault: Fault, trial: Trial, typed: str = ":") -> dict[str, Any]:
    """gpucheck's report in a shell after the typed commands."""
    command = shlex.join(bench.command(trial, *LEVEL_ARGS[fault.level], *fault.args))
    if "activate" in typed or "PATH=" in typed.replace("_PATH=", ""):  # the repair changes the shell's Python
        command = command.replace(shlex.quote(str(trial.environment.python)), '"$(command -v python)"')
    here, script = shlex.quote(str(trial.folder)), trial.folder / "typed.sh"
    script.write_text(f"PATH=$PATH:{here}/commands\n{{\n{typed}\n}} >{here}/output.txt 2>&1\n{command} >{here}/report.json\n")
    shutil.rmtree(trial.folder / "machine", ignore_errors=True)  # from the previous run
    done = subprocess.run(
        bench.on_machine(fault, trial, ["/bin/bash", "--norc", str(script)]),
        env=bench.surroundings(trial, fault.scenario),
        cwd=trial.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    text = (trial.folder / "report.json").read_text()
    assert text, done.stderr
    return json.loads(text)


def commands(bench: Bench) -> pathlib.Path:
    """A folder with the command `gpucheck`, created once."""
    script = bench.folder / "commands/gpucheck"
    if not script.exists():
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gpucheck "$@"\n')
        script.chmod(0o755)
    return script.parent


def wheels(bench: Bench, typed: str) -> list[pathlib.Path]:
    """The folders of wheels for pip, created once, including the release of TensorFlow that the repair names.

    Raises Unavailable if the repair installs what only `make cuda-wheels` downloads.
    """
    folder = bench.wheels
    if not folder.exists():
        wheelhouse.build(bench.environment, folder)
    if re.search(DOWNLOADED, typed):
        if not (OTHERS / ".done").exists():
            raise Unavailable("its wheels are not here: make cuda-wheels")
        return [folder, OTHERS]
    for version in re.findall(r"tensorflow\S*==(\d+\.\d+\.\d+)", typed):
        if not list(folder.glob(f"tensorflow-{version}-*")):
            wheelhouse.under_another_version(bench.environment, folder, version)
    return [folder]


def make_writable(trial: Trial) -> None:
    """Replace symbolic links to packages elsewhere, which pip would follow and change, with hard links."""
    for entry in list(trial.environment.site.iterdir()):
        if entry.is_symlink():
            target = entry.resolve()
            entry.unlink()
            link_tree(target, entry) if target.is_dir() else shutil.copy2(target, entry)
