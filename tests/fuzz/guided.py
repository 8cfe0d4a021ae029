"""The same tests, guided by coverage: atheris (libFuzzer) mutates the bytes for hypothesis, and keeps those that reach new code.

    python tests/fuzz/guided.py [SECONDS]    for each test; `make fuzz` runs it where atheris is installed

Exit status 1 if a test failed; libFuzzer prints the name of the file with the failing input.
"""

import importlib
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SLACK_SECONDS = 120  # for imports, and for the last example


def targets():
    """Yield the module and name of each module-level hypothesis test in this folder."""
    for path in sorted(HERE.glob("test_*.py")):
        for name in re.findall(r"^@given\(.*\)\ndef (\w+)\(", path.read_text(), re.MULTILINE):
            yield path.stem, name


def fuzz(module, name, seconds, corpus):
    """Fuzz one test; libFuzzer ends this process."""
    import atheris

    with atheris.instrument_imports(include=["gpucheck"]):
        test = getattr(importlib.import_module(f"fuzz.{module}"), name)
    sys.setrecursionlimit(1000)
    limits = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=2048"]
    output = [f"-artifact_prefix={name}-", "-verbosity=0", "-print_final_stats=1"]
    atheris.Setup([name, *limits, *output, str(corpus)], test.hypothesis.fuzz_one_input)
    atheris.Fuzz()


def main(seconds):
    if importlib.util.find_spec("atheris") is None:
        print("coverage-guided fuzzing: not run, atheris is not installed")
        return 0
    failed = 0
    for module, name in targets():
        with tempfile.TemporaryDirectory() as corpus:
            argv = [sys.executable, __file__, str(seconds), module, name, corpus]
            done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=seconds + SLACK_SECONDS)
            runs = re.findall(r"number_of_executed_units: +(\d+)", done.stderr)
            kept = len(list(pathlib.Path(corpus).iterdir()))
        print(f"{module}.{name}: {runs[-1] if runs else '?'} examples, {kept} of new code, exit {done.returncode}", flush=True)
        if done.returncode:
            failed += 1
            print(done.stdout[-2000:], done.stderr[-4000:], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    limit = int(sys.argv[1]) if sys.argv[1:] else 60
    if sys.argv[2:]:
        fuzz(sys.argv[2], sys.argv[3], limit, pathlib.Path(sys.argv[4]))
    else:
        sys.exit(main(limit))
