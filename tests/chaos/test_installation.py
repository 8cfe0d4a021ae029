"""Every required file of an installation, removed and truncated, with two commands: none is reported as a fault of the machine."""

import shutil
import subprocess
import sys
import time

import pytest
from installation import COMMANDS, Installation, checks_during, switch

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_installation_is_not_reported_as_a_fault(tmp_path, part, record_property):
    installed = Installation(tmp_path / "env")
    names = [*installed.files()][part::PARTS]
    started = time.monotonic()
    problems = [problem for name in names for problem in installed.problems(name)]
    column = f"{len(names)} files, {2 * len(COMMANDS)} runs of each,"
    record_property(
        "chaos", ("damaged installation", f"part {part}: {column}", "WRONG" if problems else "ok", time.monotonic() - started)
    )
    assert problems == []


def test_check_during_a_pip_upgrade_reports_no_fault(tmp_path):
    """The package is replaced again and again as pip does it: renamed away, copied file by file, its list of files last."""
    installed = Installation(tmp_path / "env")
    package, old, record = installed.site / "gpucheck", installed.site / "~pucheck", installed.record.read_text()

    def upgrade():
        installed.record.unlink()
        package.rename(old)
        # Checks that run during the upgrade create __pycache__ folders there.
        shutil.copytree(old, package, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        installed.record.write_text(record)
        shutil.rmtree(old)

    checks, upgrades = checks_during(upgrade, installed.program, 200)
    assert len(upgrades) > 5
    assert [done for done in checks if done.stdout] == []
    assert {done.returncode for done in checks} <= {0, 1, 3}
    # Exit code 1 is Python's own, if even the first file was missing.
    assert [done.stderr for done in checks if done.returncode == 1 and "Error" not in done.stderr] == []


def test_check_during_a_link_switch_gives_a_verdict(tmp_path):
    versions = [Installation(tmp_path / name).folder for name in ("0.1.0", "0.2.0")]
    link = tmp_path / "gpucheck"
    switch(link, versions[0])
    checks, upgrades = checks_during(lambda: switch(link, *versions), link / "bin" / "gpucheck", 200)
    assert len(upgrades) > 200
    assert {(done.returncode, done.stdout, done.stderr) for done in checks} == {(0, "", "")}


def test_check_during_replacement_of_the_zipapp_reports_no_fault(tmp_path, monkeypatch):
    """Each of the two files unpacks itself on its first run."""
    pytest.importorskip("shiv", reason="shiv is not installed: pip install shiv")
    monkeypatch.setenv("SHIV_ROOT", str(tmp_path / "unpacked"))
    site = Installation(tmp_path / "env").site
    program, new = tmp_path / "gpucheck", tmp_path / "new"
    files = []
    for name in ("one", "other"):
        (site / "version.txt").write_text(name)
        built = tmp_path / name
        argv = [sys.executable, "-m", "shiv.cli", "--site-packages", site, "--console-script", "gpucheck", "--output-file", built]
        subprocess.run([*argv, "--python", sys.executable, "--no-deps", "-q", "six"], check=True, timeout=120)
        files.append(built)
    shutil.copy2(files[0], program)

    def upgrade():
        files.reverse()
        shutil.copy2(files[0], new)
        new.replace(program)

    checks, upgrades = checks_during(upgrade, program, 60, pause=0.5)
    assert len(upgrades) > 10
    assert [done for done in checks if done.stdout] == []
    assert {done.returncode for done in checks} <= {0, 1, 3}
    assert sum(done.returncode == 0 for done in checks) > 30
