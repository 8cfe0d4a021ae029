"""The commands of the tutorial print the output that the page shows."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
TRAINS = "mkdir project && cd project\n$ gpucheck --allow-cpu\n"
BLOCKS = [block for block in re.findall(r"```console\n(.*?)```", TUTORIAL, re.DOTALL) if TRAINS not in block]
# Blocks of ```sh install packages; tools/install_ways.py tests them.


def plain(text):
    return " ".join(re.sub(r"TensorFlow 2[.\d]+", "TensorFlow", text).split())


@pytest.mark.tensorflow
def test_output_matches_the_tutorial(tmp_path):
    (tmp_path / "bin").mkdir()
    for name, text in {"gpucheck": "-m gpucheck ", "python": ""}.items():
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} {text}"$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    env = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    assert len(BLOCKS) >= 5
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            done = subprocess.run(["sh", "-c", command], cwd=project, env=env, capture_output=True, text=True, timeout=120)
            printed = plain((done.stdout + done.stderr).replace(str(tmp_path), "…"))
            assert [line for line in shown if plain(line) not in printed] == [], f"{command}\n{printed}"


@pytest.mark.slow
@pytest.mark.tensorflow
def test_first_run_of_the_tutorial(tmp_path):
    said = re.search(r"`(Ready for the CPU only[^`]*)`", TUTORIAL)[1]
    command = f"{TRAINS}".replace("$ gpucheck", f"exec {sys.executable} -m gpucheck")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    if "no accelerator was found" not in done.stdout:
        pytest.skip("the tutorial's machine has no accelerator")
    assert (done.returncode, said in plain(done.stdout)) == (0, True), done.stdout
