"""The record of tools/gpu_hour.py: complete whenever the run is killed, and compared with the previous record."""

import json
import random
import subprocess
import sys

import gpu_hour
import pytest
from gpu.items import items
from gpu.measures import Row
from gpu.place import CHECKOUT, GPU

ROW = {
    "item": "quick",
    "name": "quick",
    "expected": "no error",
    "found": "pass, exit 0",
    "ok": True,
    "figures": {"seconds": 1.0},
    "seconds": 1,
}


def record(folder, name, rows, started="2026-01-01", place=GPU):
    (folder / name).mkdir(parents=True)
    (folder / name / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / name / "machine.json").write_text(json.dumps({"started": started, "place": place}))
    return folder / name


def test_item_with_a_truncated_line_is_run_again(tmp_path):
    folder = record(tmp_path, "now", [ROW])
    with (folder / "rows.jsonl").open("a") as file:
        file.write(json.dumps({**ROW, "item": "full"})[:40])
    again = gpu_hour.Record(folder, items())
    assert again.done == {"quick"}
    assert "- full" in again.summary()
    assert (folder / "rows.jsonl").read_text() == json.dumps(ROW) + "\n"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"figures": {"seconds": 1.15}}, []),
        ({"found": "pass, exit 3"}, []),  # differing numbers are compared as figures only
        ({"figures": {"seconds": 1.3}}, ["quick: seconds 1.3; before: 1"]),
        ({"found": "fail, exit 1: gpu-lost", "ok": False}, ["quick: fail, exit 1: gpu-lost; before: pass, exit 0"]),
        ({"name": "new"}, []),
    ],
)
def test_record_is_compared_with_the_last_record_of_the_same_kind(tmp_path, now, expected):
    record(tmp_path, "older", [{**ROW, "found": "fail"}], "2025-01-01")
    record(tmp_path, "last", [ROW], "2025-06-01")
    record(tmp_path, "fake", [{**ROW, "found": "fail"}], "2025-12-01", place="fake")
    record(tmp_path, "later", [{**ROW, "found": "fail"}], "2027-01-01")
    made = gpu_hour.Record(record(tmp_path, "now", [{**ROW, **now}]), [])
    assert made.changed() == expected
    assert "Different from last: " in made.summary()


def test_exception_of_an_item_is_recorded_as_a_row(tmp_path):
    def run(place):
        yield Row("a", "b", "c | d", ok=True)
        raise OSError("gone")

    made = gpu_hour.Record(record(tmp_path, "now", []), [])
    made.add(items()[0]._replace(run=run), None)
    assert made.unexpected() == ["at-first: expected no error of the test itself, found OSError: gone"]
    assert "| at-first | no error of the test itself | OSError: gone | **differs** |" in (tmp_path / "now/README.md").read_text()


def test_most_valuable_items_come_first_and_names_are_unique():
    names = [item.name for item in items()]
    assert names[:4] == ["at-first", "healthy-node", "healthy-quick", "healthy"]
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_record_is_complete_whenever_the_run_is_killed(tmp_path, seed):
    wanted = ["healthy-quick", "run"]
    command = [sys.executable, str(CHECKOUT / "tools/gpu_hour.py"), "5", "cut", "--place", "cpu", "--into", str(tmp_path)]
    command += ["--only", ",".join(wanted)]
    chance = random.Random(seed)
    page = tmp_path / "cut/README.md"
    killed = 0
    for longest in (1.0, 3.0, 3.0, 3.0):  # short enough to kill the first run on the fastest machine
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(chance.uniform(0.2, longest))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
        names = [row["name"] for row in gpu_hour.rows_of(tmp_path / "cut")]
        assert names == wanted[: len(names)]
        assert not page.exists() or page.read_text().endswith(("|\n", ".png)\n"))
    assert killed
    assert subprocess.run(command, stdout=subprocess.DEVNULL, timeout=200).returncode == 0
    assert [row["name"] for row in gpu_hour.rows_of(tmp_path / "cut")] == wanted
    assert "Not as expected: 0" in page.read_text()
    assert not list((tmp_path / "cut").glob(".*"))
    picture = tmp_path / "cut/pictures/healthy-quick.png"
    if gpu_hour.BROWSER is None:
        assert "| pictures | skipped: there is no chromium or google-chrome |" in page.read_text()
    else:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert "![the page of healthy-quick](pictures/healthy-quick.png)" in page.read_text()
