"""The answers for machines: tests/cases/setup/answers.txt. Lines describe a machine, and the lines below them its answer.

driver 470.57 | gpu 8.0 | python 3.11 | system darwin | architecture aarch64 | glibc 2.17 | musl | wsl | uv | tpu v5e | unread
for RTX 4090, driver 535, WSL2 (a whole machine, as --for describes it) | wish tensorflow >=2.16 | wish backend jax | wish python 3.13 | wish cpu
"""

import pathlib
import re
import subprocess

import case_files

from gpucheck.commands.setup import describe
from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.solver import commands
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements

CASES = pathlib.Path(__file__).parents[1] / "cases" / "setup" / "answers.txt"


def machine(lines):
    """The machine and the requirements of a case."""
    fields = {"gpus": [], "pythons": []}
    requirements, described = {}, None
    for line in lines:
        key, _, value = line.partition(" ")
        if key == "gpu":
            fields["gpus"].append(Gpu(capability=tuple(map(int, value.split(".")))) if value else Gpu(name="GPU"))
        elif key == "python":
            version, _, without = value.partition(" ")
            fields["pythons"].append(
                Python(version=version, executable=f"/usr/bin/python{version}", has_venv=False if without else None)
            )
        elif key == "wish":
            name, _, wish = value.partition(" ")
            requirements[name] = {"cpu": True, "python": Python(version=wish)}.get(name, wish)
        elif key == "for":
            described = describe.machine(value)
        elif key == "unread":
            fields["gpus"] = None
        else:
            fields[key] = value or True
    lists = {name: None if fields[name] is None else tuple(fields[name]) for name in ("gpus", "pythons")}
    return described or Machine(**{**fields, **lists}), Requirements(**requirements)


def outcome(case):
    answer = solve(*machine(case.given))
    lines = []
    for choice in answer.choices[:2]:
        what = choice.image or " ".join((*choice.packages, *([choice.index] if choice.index else [])))
        lines.append(f"-> {choice.tensorflow or choice.backend}, Python {choice.python.version}, CUDA {choice.cuda}: {what}")
        lines += [f"-> set {assignment.variable} {assignment.value}" for assignment in choice.assignments]
    lines += [f"-> remark {remark}" for remark in (answer.best.remarks if answer.best else ())]
    lines += [f"-> out {entry.tensorflow}: {reason.text}" for entry in answer.excluded[:1] for reason in entry.reasons]
    lines += [f"-> {limit.text}" for limit in answer.limits]
    lines += [f"-> first {answer.first}"] if answer.first else []
    lines += [f"-> depends {line}" for line in answer.depends]
    return lines + [f"-> advice {line}" for line in answer.advice]


def test_answers_for_machines(pytestconfig):
    case_files.check(CASES, case_files.read(CASES), outcome, pytestconfig.getoption("--update-goldens"))


def test_every_command_is_valid_shell(tmp_path):
    lines = []
    for case in case_files.read(CASES):
        here, requirements = machine(case.given)
        for choice in solve(here, requirements).choices:
            folder = commands.default_folder(here)
            lines += [*commands.make(choice, here), *commands.keep(choice, folder), commands.check(choice, here, folder)]
            lines += [commands.activate(choice, folder, here.system), commands.remove(choice, folder, here.system)]
    script = tmp_path / "commands.sh"
    script.write_text("\n".join(lines))
    assert subprocess.run(["sh", "-n", script], capture_output=True, text=True, timeout=60).stderr == ""
    words = {line.split()[0].partition("=")[0] for line in lines} - {
        "uv",
        "py",
        "LD_LIBRARY_PATH",
        "echo",
        ".",
        "rm",
        "docker",
        "export",
        "$env:KERAS_BACKEND",
        "gpucheck",
        "conda",
        "python",
        "~/tensorflow-env/bin/python",
    }
    assert {word for word in words if not re.fullmatch(r"(/usr/bin/)?python3\.[\d.]+", word)} == {
        "tensorflow-env\\Scripts\\python.exe",
        "tensorflow-env\\Scripts\\activate",
    }
    assert len(lines) > 100


def test_every_reason_has_a_source():
    reasons = [
        reason for case in case_files.read(CASES) for entry in solve(*machine(case.given)).excluded for reason in entry.reasons
    ]
    assert {reason.text for reason in reasons if not reason.source.startswith("https://")} == set()
    assert reasons
