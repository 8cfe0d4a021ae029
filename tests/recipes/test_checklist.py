"""The checklist: its runs, its output, and its exit status if the result of a case differs."""

import os
import subprocess

import pytest
from recipe_helpers import RECIPES

STUB = """#!/bin/sh
case "$*" in
  *snapshot*) echo "[gpu]" >expected.toml ;;
  *--expect*) exit ${EXPECT_CODE:-0} ;;
  --quick) exit 1 ;;
esac
"""


@pytest.mark.parametrize(("code", "result"), [("0", "ok"), ("1", "**differs**")])
def test_checklist_reports_each_case_and_exits_with_its_result(tmp_path, code, result):
    (tmp_path / "gpucheck").write_text(STUB)
    (tmp_path / "gpucheck").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "OPTIONS": "--allow-cpu", "EXPECT_CODE": code}
    script = RECIPES / "checklist" / "checklist.sh"
    done = subprocess.run(["sh", str(script)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (int(code), "")
    lines = (tmp_path / "checklist.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")][2:]
    assert [row[-1] for row in rows] == ["ok", "ok", "ok", result]
    assert [row[0].partition(":")[0] for row in rows] == ["baseline", "edge case", "failure case", "rollback, if it differs"]
    assert rows[0][1] == "`gpucheck --allow-cpu --format json --output report.json`"
