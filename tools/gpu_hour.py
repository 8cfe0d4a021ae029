"""Run the items of tests/gpu on a machine with NVIDIA GPUs, within a time limit, and keep a record.

    python tools/gpu_hour.py MINUTES NAME [--site FOLDER] [--place gpu|fake|cpu] [--into FOLDER] [--only ITEM,...]

The machine needs Python, and gpucheck's requirements with TensorFlow and NVIDIA's wheels, installed or in one folder (--site, as
after ``pip install --target``), but neither network nor pytest. The most valuable items run first; those that no longer fit into
the time are skipped. The record, docs/measured/NAME, is complete after each item: if this program is killed, the record has all
items that ended, and the same command continues with the others. README.md there has the table, and the differences from the
expected results and from the previous record. If chromium or google-chrome is installed, pictures show the pages of the most
informative reports. ``--place fake`` and ``--place cpu`` test this tool without a GPU.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from typing import Any

CHECKOUT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT), str(CHECKOUT / "tests")]

from gpu.items import Item, items  # noqa: E402 - they are in this checkout
from gpu.measures import Row  # noqa: E402
from gpu.place import CPU, FAKE, GPU, Place, ends_with_parent  # noqa: E402

MUCH = 1.2  # ratio: figures that differ by less match
ROWS, MACHINE, PAGE = "rows.jsonl", "machine.json", "README.md"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PICTURED = ("healthy-quick", "healthy", "full", "soak")  # rows for which a picture of the report's page is taken
WINDOW = "1100,1600"  # pixels; the rest of the page is in the report
PICTURE_SECONDS = 60
VERSIONS = """
import importlib.metadata, json
found = {}
for one in importlib.metadata.distributions():
    name = (one.metadata["Name"] or "").lower()
    if name in ("tensorflow", "keras", "numpy") or name.startswith("nvidia-"):
        found.setdefault(name, one.version)
print(json.dumps(found))
"""


def main() -> int:
    """Parse the command line, run the items, and print the differences; exit code 1 if a result is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float)
    parser.add_argument("name")
    parser.add_argument("--site", type=pathlib.Path)
    parser.add_argument("--place", choices=(GPU, FAKE, CPU), default=GPU)
    parser.add_argument("--into", type=pathlib.Path, default=CHECKOUT / "docs/measured")
    parser.add_argument("--only", type=lambda text: text.split(","))
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    chosen = [item for item in items() if given.place in item.on and (given.only is None or item.name in given.only)]
    record_of = str((given.into / given.name).resolve())  # the same after a kill, and different for two concurrent records
    work = pathlib.Path(tempfile.gettempdir()) / f"gpu-hour-{given.name}-{zlib.crc32(record_of.encode()):08x}"
    shutil.rmtree(work, ignore_errors=True)
    place = Place(given.place, work, given.site.resolve() if given.site else None)
    record = Record(given.into / given.name, chosen)
    try:
        record.begin(place)
        for item in chosen:
            if item.name not in record.done and time.monotonic() + 60 * item.minutes <= until:
                record.add(item, place)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(record.summary())
    return int(bool(record.unexpected()))


def namespaces() -> list[str]:
    """Return the namespaces of this process, which differ in a container."""
    try:
        return [os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "ipc", "uts")]
    except OSError:
        return []


class Record:
    """The folder of a record, which is complete after each change."""

    def __init__(self, folder: pathlib.Path, chosen: list[Item]) -> None:
        """Read the existing rows; a truncated last line is ignored."""
        self.folder, self._chosen = folder, chosen
        (folder / "reports").mkdir(parents=True, exist_ok=True)
        (folder / "pictures").mkdir(exist_ok=True)
        self.rows: list[dict[str, Any]] = list(rows_of(folder))
        self.done = {row["item"] for row in self.rows}
        text = "".join(json.dumps(row) + "\n" for row in self.rows)
        written(folder / ROWS, text)

    def begin(self, place: Place) -> None:
        """Record the machine, unless an earlier run did."""
        path = self.folder / MACHINE
        if path.exists():
            return
        facts = place.gpucheck(("node",)).report.get("facts", {})
        versions = place.program(VERSIONS, limit=60)
        machine = {
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "place": place.kind,
            "python": platform.python_version(),
            "system": facts.get("system", {}).get("os_name"),
            "kernel": facts.get("system", {}).get("kernel"),
            "processors": os.cpu_count(),
            "namespaces": namespaces(),
            "driver": facts.get("driver", {}).get("version"),
            "gpus": [gpu["name"] for gpu in facts.get("gpus", {}).get("gpus", [])],
            "packages": json.loads(versions.out) if versions.code == 0 else {},
            "pictures": "taken" if BROWSER else "skipped: there is no chromium or google-chrome",
        }
        written(path, json.dumps(machine, indent=1) + "\n")
        self._write_page()

    def add(self, item: Item, place: Place) -> None:
        """Run an item, and write its rows, its report and the page."""
        print(f"{item.name} ...", end=" ", flush=True)
        began = time.monotonic()
        try:
            rows = list(item.run(place))
        except Exception as error:  # the next item may work
            rows = [Row(item.name, "no error of the test itself", f"{type(error).__name__}: {error}", ok=False)]
        seconds = round(time.monotonic() - began, 1)
        for row in rows:
            if row.done is not None:
                written(self.folder / f"reports/{row.name}.txt", row.done.out + row.done.err)
                if BROWSER is not None and row.name in PICTURED:
                    self._take_picture(BROWSER, row.name, row.done.out, place)
        entries = [
            {
                "item": item.name,
                "name": row.name,
                "expected": row.expected,
                "found": row.found,
                "ok": row.ok,
                "figures": {name: round(value, 4) for name, value in row.figures.items()},
                "seconds": seconds,
            }
            for row in rows
        ]
        self.rows += entries
        self.done.add(item.name)
        with (self.folder / ROWS).open("a") as file:
            file.write("".join(json.dumps(entry) + "\n" for entry in entries))
            file.flush()
            os.fsync(file.fileno())
        self._write_page()
        print("; ".join(row.found for row in rows), flush=True)

    def unexpected(self) -> list[str]:
        """Return the rows that differ from the expected results."""
        return [f"{row['name']}: expected {row['expected']}, found {row['found']}" for row in self.rows if row["ok"] is False]

    def changed(self) -> list[str]:
        """Return the differences from the previous record."""
        last = last_before(self.folder)
        before = {row["name"]: row for row in rows_of(last)} if last is not None else {}
        return [text for row in self.rows if row["name"] in before for text in differences(before[row["name"]], row)]

    def summary(self) -> str:
        """Return the differences and the skipped items, as a list."""
        left = [item.name for item in self._chosen if item.name not in self.done]
        parts = [("Not as expected", self.unexpected()), ("Not run, for lack of time or because the run was cut off", left)]
        last = last_before(self.folder)
        if last is not None:
            parts.insert(1, (f"Different from {last.name}", self.changed()))
        return "\n\n".join("\n".join([f"{title}: {len(texts)}", *(f"- {text}" for text in texts)]) for title, texts in parts)

    def _take_picture(self, browser: str, name: str, report: str, place: Place) -> None:
        """Take a picture of a report's page; a failure is ignored, because pictures are optional."""
        recorded, page, picture = (place.folder / f"{name}.{ending}" for ending in ("json", "html", "png"))
        recorded.write_text(report)
        page.write_text(place.gpucheck(("--replay", str(recorded), "--format", "html")).out)
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={WINDOW}"]
        # A separate profile: with the user's profile, a running browser would open the page, and no picture would be written.
        command += [f"--user-data-dir={place.folder / 'browser'}", f"--screenshot={picture}", page.resolve().as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=PICTURE_SECONDS, check=True, preexec_fn=ends_with_parent)
            written(self.folder / f"pictures/{name}.png", picture.read_bytes())
        except (OSError, subprocess.SubprocessError) as error:
            print(f"no picture: {error}", end=" ")

    def _write_page(self) -> None:
        machine = json.loads((self.folder / MACHINE).read_text())
        facts = [f"| {name} | {cell(value)} |" for name, value in machine.items()]
        table = []
        for row in self.rows:
            cells = (row["name"], row["expected"], row["found"], WORDS[row["ok"]], row["figures"], row["seconds"])
            table.append(f"| {' | '.join(map(cell, cells))} |")
        lines = [
            f"# {self.folder.name}",
            "",
            "Written by tools/gpu_hour.py.",
            "",
            self.summary(),
            "",
            "| machine | |",
            "| --- | --- |",
            *facts,
            "",
            "| what | expected | found | | figures | seconds |",
            "| --- | --- | --- | --- | --- | --- |",
            *table,
        ]
        for picture in sorted((self.folder / "pictures").glob("[!.]*.png")):
            lines += ["", f"![the page of {picture.stem}](pictures/{picture.name})"]
        written(self.folder / PAGE, "\n".join(lines) + "\n")


WORDS = {True: "ok", False: "**differs**", None: "skipped"}


def cell(value: Any) -> str:
    """Return a value as text in a table."""
    if isinstance(value, dict):
        value = ", ".join(f"{name} {number}" for name, number in value.items())
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return " ".join(str("–" if value in (None, "") else value).replace("|", "/").split())


def differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Yield differences between two rows of the same name: the outcome without its numbers, and figures by more than ``MUCH``."""
    if words(before["found"]) != words(now["found"]) or before["ok"] is not now["ok"]:
        yield f"{now['name']}: {now['found']}; before: {before['found']}"
    for name, value in now["figures"].items():
        other = before["figures"].get(name)
        if other is not None and not min(value, other) * MUCH >= max(value, other):
            yield f"{now['name']}: {name} {value:g}; before: {other:g}"


def words(text: str) -> str:
    """Return a text without its numbers."""
    return re.sub(r"\d[\d.,]*", "#", text)


def rows_of(folder: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a record; a truncated last line is ignored."""
    path = folder / ROWS
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        if line.endswith("\n"):
            yield json.loads(line)


def last_before(folder: pathlib.Path) -> pathlib.Path | None:
    """Return the newest other record of the same kind of place, by start time."""
    began = {}
    for path in folder.parent.glob(f"*/{MACHINE}"):
        machine = json.loads(path.read_text())
        began[path.parent] = (machine["started"], machine["place"])
    now = began.pop(folder, ("", ""))
    others = [other for other, (started, place) in began.items() if place == now[1] and started <= now[0]]
    return max(others, key=lambda other: began[other], default=None)


def written(path: pathlib.Path, content: str | bytes) -> None:
    """Write a file atomically."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(content.encode() if isinstance(content, str) else content)
    os.replace(beside, path)


if __name__ == "__main__":
    raise SystemExit(main())
