"""The bench: shared parts of faults (driver, stub libraries, environment), and how a fault is injected, run and checked."""

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from lab import environments, fake_driver, machines
from lab.environments import Environment
from lab.machines import Machine
from leftovers import VARIABLE, leftovers_after

CHECKOUT = pathlib.Path(__file__).parents[2]
LEVELS = QUICK, NODE, NO_SMOKE, DEFAULT = "quick", "node", "no-smoke", "default"
LEVEL_ARGS = {NODE: ("node",), QUICK: ("--quick",), NO_SMOKE: ("--no-smoke",), DEFAULT: ()}
LIMIT_SECONDS = {NODE: 11.0, QUICK: 60.0, NO_SMOKE: 60.0, DEFAULT: 120.0}
NOTHING = ()  # expected of a healthy control: no finding of level error
SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
GONE_SECONDS = 2.0
PASSED_ON = ("LANG", "TMPDIR", "SYSTEMROOT", "PYTHONDONTWRITEBYTECODE", "TF_NUM_INTRAOP_THREADS")


class Unavailable(Exception):
    """Why a fault can't be injected on this machine."""


class Fault(NamedTuple):
    """One fault, injected into an otherwise healthy machine."""

    name: str
    expected: tuple[str, ...]  # the first finding must have one of these codes; NOTHING: no error is found
    exit: int = 1
    level: str = QUICK
    scenario: Mapping[str, object] = {}  # of the fake driver
    env: Mapping[str, str] = {}
    args: tuple[str, ...] = ()
    # None: the machine for the scenario, or without namespaces the one that runs the tests
    machine: Machine | None = None
    build: tuple[Callable[["Trial"], None], ...] = ()  # other changes
    limit_seconds: float | None = None  # of the complete run; None: that of the level
    also: tuple[str, ...] = ()  # other codes that must be among the findings
    verdict: str | None = None  # None: any that matches the exit code
    nvidia: str | None = None  # for a hardware fault: the action in NVIDIA's catalog or documentation
    action: str | None = None  # ours; None: any


class Trial:
    """One fault being injected: the command, and a separate folder to change."""

    def __init__(self, bench: "Bench", folder: pathlib.Path) -> None:
        self.bench, self.folder = bench, folder
        self.environment = bench.environment
        self.driver = bench.driver
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.env: dict[str, str] = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.env.update(
            PATH=f"{bench.environment.folder}/bin:{SYSTEM_PATH}",
            HOME=str(self.home),
            LD_LIBRARY_PATH=bench.environment.cusolver,
            PYTHONPATH="",
        )
        self.wrapper: list[str] = []
        self.python: str | None = None  # None: that of the environment; "": that of gpucheck

    def own_environment(self) -> Environment:
        """A copy of the environment that can be broken and is examined. Created once."""
        if self.environment is not self.bench.environment:
            return self.environment
        self.environment = self.bench.environment.copy(self.folder / "env")
        self.env["LD_LIBRARY_PATH"] = self.environment.cusolver
        self.env["PATH"] = f"{self.environment.folder}/bin:{SYSTEM_PATH}"
        return self.environment

    def search_first(self, *folders: pathlib.Path | str) -> None:
        """Put folders at the head of LD_LIBRARY_PATH."""
        self.env["LD_LIBRARY_PATH"] = ":".join([*map(str, folders), self.env.get("LD_LIBRARY_PATH", "")])

    def set_variables(self, env: Mapping[str, str]) -> None:
        """The fault's environment variables, whose values may refer to folders of the trial and to other variables."""
        names = {"folder": self.folder, "environment": self.environment.folder, "shared": self.bench.environment.folder}
        self.env.update({name: value.format_map({**names, **self.env}) for name, value in env.items()})

    def shell(self, line: str) -> None:
        """A line of shell before the command, such as a ulimit."""
        self.wrapper += ["/bin/sh", "-c", f'{line}; exec "$@"', "sh"]


class Result(NamedTuple):
    """The result of one fault; ``problems`` is empty if it matches the expected result."""

    named: str
    exit: int | None
    seconds: float
    problems: tuple[str, ...]
    report: dict[str, Any]
    skipped: str | None = None


class Bench:
    """The shared parts of all faults."""

    def __init__(self, folder: pathlib.Path, real: pathlib.Path | None = None) -> None:
        """Build everything once, the environment with stubs of NVIDIA's wheels. Raises Unavailable if that fails.

        Args:
            folder: for everything.
            real: the folder of an environment with NVIDIA's own wheels (`env`), and of its wheels (`wheels`).
        """
        if sys.platform != "linux":
            raise Unavailable("the fake driver is made for Linux")
        if fake_driver.COMPILER is None:
            raise Unavailable("no C compiler: the fake driver can't be built")
        tensorflow = environments.tensorflow_folder()
        if tensorflow is None:
            raise Unavailable("no TensorFlow for Linux is installed")
        self.folder = folder
        self.names = fake_driver.tensorflow_symbols(tensorflow / "libtensorflow_framework.so.2")
        self.driver = fake_driver.build(folder / "driver", self.names)
        self.environment = Environment(real / "env") if real else environments.clean(folder / "env", tensorflow, self.names)
        self.wheels = real / "wheels" if real else folder / "wheels"
        self.no_machines = machines.refusal(folder / "probe")
        self._numbers = itertools.count()

    def trial(self) -> Trial:
        """A new folder, and the command of a healthy machine."""
        return Trial(self, self.folder / f"trial{next(self._numbers)}")

    def run(self, fault: Fault) -> Result:
        """Inject a fault, run the command, check the result, and clean up."""
        try:
            with self.injected(fault) as trial:
                return self._run(fault, trial)
        except Unavailable as error:
            return Result("-", None, 0.0, (), {}, skipped=str(error))

    @contextlib.contextmanager
    def injected(self, fault: Fault, *, own: bool = False) -> Iterator[Trial]:
        """The machine with the fault, to run commands on; ``own``: they may change its environment. Raises Unavailable."""
        if fault.machine is not None and self.no_machines:
            raise Unavailable(self.no_machines)
        if fault.machine is not None and fault.machine.needs_root and os.geteuid() != 0:
            raise Unavailable("needs root: device files are created, or privileges dropped")
        trial = self.trial()
        try:
            if own:
                trial.own_environment()
            for step in fault.build:
                step(trial)
            trial.set_variables(fault.env)
            yield trial
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(trial.folder)

    def command(self, trial: Trial, *args: str) -> list[str]:
        """gpucheck's command line."""
        python = str(trial.environment.python) if trial.python is None else trial.python
        examined = ["--python", python] if python and args[:1] != LEVEL_ARGS[NODE] else []
        return [sys.executable, "-m", "gpucheck", *args, *examined, "--format", "json"]

    def on_machine(self, fault: Fault, trial: Trial, command: list[str]) -> list[str]:
        """The command line that runs a command on the trial's machine, after the fault's own lines of shell."""
        command = [*trial.wrapper, *command]
        machine = fault.machine or (None if self.no_machines else machines.around(fault.scenario))
        if machine is not None:
            return [*machine.enter(trial.folder), *command]
        if os.path.exists("/proc/driver/nvidia/version"):
            raise Unavailable("this machine has a real driver, which is visible next to the fake one")
        return command

    def surroundings(self, trial: Trial, scenario: Mapping[str, object]) -> dict[str, str]:
        """The environment variables of a run: the trial's, the fake driver's and the marker."""
        file = fake_driver.write_scenario(trial.folder / "scenario.txt", scenario)
        path = ":".join(part for part in (str(trial.driver), trial.env.get("LD_LIBRARY_PATH", "")) if part)
        own = {"LD_LIBRARY_PATH": path, "FAKE_DRIVER": str(file), VARIABLE: str(trial.folder)}
        return {**trial.env, **own, "PYTHONPATH": f"{CHECKOUT}:{trial.env['PYTHONPATH']}".rstrip(":")}

    def _run(self, fault: Fault, trial: Trial) -> Result:
        command = self.on_machine(fault, trial, self.command(trial, *LEVEL_ARGS[fault.level], *fault.args))
        limit = fault.limit_seconds or LIMIT_SECONDS[fault.level]
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            env=self.surroundings(trial, fault.scenario),
            cwd=trial.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            out, err = process.communicate(timeout=limit + 20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        seconds = time.monotonic() - began
        left = leftovers_after(str(trial.folder), GONE_SECONDS)
        problems = [f"left running: {left}"] if left else []
        if seconds > limit:
            problems.append(f"took {seconds:.1f} s, more than {limit:.0f} s")
        return judge(fault, process.returncode, out, err, seconds, problems)


def judge(fault: Fault, code: int, out: str, err: str, seconds: float, problems: list[str]) -> Result:
    """Compare the command's result with the expected one."""
    if "Traceback" in err:
        problems.append(f"a traceback on standard error: {err[-800:]}")
    if code != fault.exit:
        problems.append(f"exit {code} instead of {fault.exit}")
    try:
        report = json.loads(out)
    except ValueError:
        return Result("no report", code, seconds, (*problems, f"no JSON: {out[:200]!r} {err[-800:]!r}"), {})
    if report["exit_code"] != code:
        problems.append(f"the report says exit {report['exit_code']}")
    crashed = [outcome["code"] for outcome in report["outcomes"] if outcome["status"] == "crashed"]
    if crashed:
        problems.append(f"rules crashed: {crashed}")
    findings = report["findings"]
    named = findings[0]["code"] if findings else report["verdict"]
    problems += _misnamed(fault, findings, named)
    if fault.verdict is not None and report["verdict"] != fault.verdict:
        problems.append(f"verdict {report['verdict']} instead of {fault.verdict}: {report['unknown_because']}")
    roots = [finding for finding in report["findings"] if finding["explained_by"] is None]
    if fault.action is not None and [fault.action] != [finding["action"] or "none" for finding in roots]:
        problems.append(f"the root causes are {[(root['code'], root['action']) for root in roots]}, not one of {fault.action}")
    return Result(named, code, seconds, tuple(problems), report)


def _misnamed(fault: Fault, findings: list[dict], named: str) -> list[str]:
    """The errors in the reported codes."""
    problems = []
    codes = [finding["code"] for finding in findings]
    if fault.expected == NOTHING:
        if any(finding["severity"] == "error" for finding in findings):
            problems.append(f"reports errors on a healthy machine: {codes}")
    elif not findings or findings[0]["explained_by"] is not None or named not in fault.expected:
        problems.append(f"named {named} instead of {' or '.join(fault.expected)}; all: {codes}")
    if missing := set(fault.also) - set(codes):
        problems.append(f"does not mention {sorted(missing)}; all: {codes}")
    return problems
