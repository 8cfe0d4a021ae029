"""A damaged installation gives no verdict. tests/chaos/test_installation.py damages every file in turn."""

import shutil

import pytest
from installation import Installation, checks_during, switch

EVERY = 60  # sample size: damaging every file is slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installation(tmp_path_factory.mktemp("installed") / "env")


def test_intact_installation_gives_a_verdict(installed):
    assert installed.run("node", "--gres", "0", "--drain-reason").returncode == 0


@pytest.mark.parametrize(
    "name",
    [
        "gpucheck/__init__.py",
        "gpucheck/cli/__init__.py",
        "gpucheck/cli/group.py",
        "gpucheck/cli/failure.py",
        "gpucheck/core/__init__.py",
        "gpucheck/core/system/__init__.py",
        "gpucheck/core/system/integrity.py",
        "gpucheck/core/rules/gpu_not_detected/gpu_lost.py",
        "gpucheck/core/child/nvml.py",
        "gpucheck/core/logs/reading/patterns/__init__.py",
        "click/core.py",
        "msgspec/__init__.py",
    ],
)
def test_damaged_file_is_named_without_a_verdict(installed, name):
    if not (installed.site / name).exists():
        (name,) = [one for one in installed.files() if one.startswith(name.rpartition("/")[0])][:1]
    assert list(installed.problems(name)) == []


@pytest.mark.parametrize("name", ["gpucheck/cli/group.py", "gpucheck/core/rules/gpu_not_detected/gpu_lost.py"])
def test_zeros_of_the_right_size_are_named(installed, name):
    """As a file system leaves them after a power failure."""
    path = installed.site / name
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)))
    try:
        done = installed.run("node", "--gres", "0", "--drain-reason")
    finally:
        path.write_bytes(content)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (3, "", 1), done.stderr
    assert f"this installation of gpucheck is damaged: {path}: " in done.stderr


def test_sample_of_all_files(installed):
    names = [*installed.files()][::EVERY]
    assert len(names) > 10
    assert [problem for name in names for problem in installed.problems(name, [("node", "--gres", "0", "--drain-reason")])] == []


@pytest.mark.parametrize("package", ["msgspec", "click", "psutil", "rich"])
@pytest.mark.parametrize("with_metadata", [False, True])
def test_missing_package_is_named(installed, package, with_metadata):
    (metadata,) = installed.site.glob(f"{package}-*.dist-info")
    folders = [installed.site / package, *([metadata] if with_metadata else [])]
    for folder in folders:
        folder.rename(folder.with_name(folder.name + ".away"))
    try:
        done = installed.run("node", "--gres", "0", "--exit-style", "slurm", "--drain-reason")
    finally:
        for folder in folders:
            folder.with_name(folder.name + ".away").rename(folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "gpucheck: no verdict: this installation of gpucheck is damaged" in done.stderr
    assert package in done.stderr


def test_packages_with_a_common_prefix_are_distinguished(installed):
    other = installed.site / "click_plugins-1.1.1.dist-info"
    other.mkdir()
    try:
        assert list(installed.problems("click/testing.py")) == []
    finally:
        other.rmdir()


def test_installation_without_file_list_is_unfinished(installed, tmp_path):
    shutil.copy2(installed.record, tmp_path / "RECORD")
    installed.record.unlink()
    try:
        done = installed.run("node", "--gres", "0")
    finally:
        shutil.copy2(tmp_path / "RECORD", installed.record)
    assert done.returncode == 3
    assert f"{installed.record} is missing" in done.stderr


def test_system_packages_have_no_file_list(installed, tmp_path):
    (metadata,) = installed.site.glob("click-*.dist-info")
    shutil.copytree(metadata, tmp_path / "metadata")
    (metadata / "RECORD").unlink()
    (metadata / "INSTALLER").write_text("debian\n")
    try:
        done = installed.run("node", "--gres", "0")
    finally:
        shutil.copytree(tmp_path / "metadata", metadata, dirs_exist_ok=True)
    assert done.returncode == 0


def test_upgrade_during_the_run_gives_no_verdict(installed):
    child = installed.site / "gpucheck" / "core" / "engine" / "pipeline.py"
    text = child.read_text()
    # The run itself replaces the list of files, as pip does at the end of an installation.
    hook = f"    import os, shutil; shutil.copy({str(installed.record)!r}, '{installed.record}.new'); os.replace('{installed.record}.new', {str(installed.record)!r})\n"
    record = installed.record.read_text()
    changed = text.replace("    integrity.verify_unchanged()\n", hook + "    integrity.verify_unchanged()\n")
    child.write_text(changed)
    installed.record.write_text(_resized(record, "gpucheck/core/engine/pipeline.py", len(changed.encode())))
    try:
        done = installed.run("node", "--gres", "0")
    finally:
        child.write_text(text)
        installed.record.write_text(record)
    assert done.returncode == 3
    assert "changed during the run" in done.stderr


def test_checks_during_a_link_switch_give_a_verdict(installed, tmp_path):
    other = Installation(tmp_path / "other")
    link = tmp_path / "gpucheck"
    switch(link, other.folder)
    checks, upgrades = checks_during(lambda: switch(link, installed.folder, other.folder), link / "bin" / "gpucheck", 10)
    assert len(upgrades) > 10
    assert {(done.returncode, done.stdout, done.stderr) for done in checks} == {(0, "", "")}


def _resized(record, name, size):
    return "\n".join(f"{name},sha256=0,{size}" if line.startswith(f"{name},") else line for line in record.split("\n"))
