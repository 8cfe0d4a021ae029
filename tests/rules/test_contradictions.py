"""No repair causes another finding: the first repairs of all root causes of a report are compared."""

import re

import rule_cases
from fakes import facts
from one_rule import RULES

from gpucheck.core.engine.discovery import load_combiners
from gpucheck.core.engine.judgement import derive, fold, judge
from gpucheck.core.repairs.context import Context
from gpucheck.core.solver import machine as setup_facts
from gpucheck.core.solver.machine import Python, Requirements
from gpucheck.core.solver.solve import best

COMBINERS = load_combiners()


def first_repairs(known):
    """The first command of each root cause, by its code."""
    roots = [finding for finding in fold(judge(known, RULES.values(), COMBINERS), rule_cases.ROWS) if not finding.explained_by]
    return {root.code: root.fix[0].command for root in roots if root.fix and root.fix[0].command}


def contradictions(known):
    """Yield releases to install that cannot run on the machine, and variables that would get two values."""
    values = {}
    for code, command in first_repairs(known).items():
        for variable, value in re.findall(r"(?:export |unset )(\w+)(=\S*)?", command):
            values.setdefault(variable, {})[value] = code
        for version in re.findall(r"pip install .*tensorflow\[and-cuda\]==([\d.]+)", command):
            if "--no-deps" not in command and (context := derive(known, COMBINERS).get(Context)) is not None:
                own = Python(version=context.interpreter.version)
                machine = setup_facts.machine(*(getattr(context, name) for name in ("system", "wsl", "driver", "gpus", "cuda")))
                if best(machine, Requirements(tensorflow=f"=={version}", python=own if "venv" not in command else None)) is None:
                    yield code, command
    yield from ((variable, named) for variable, named in values.items() if len(named) > 1)


def test_first_repairs_do_not_contradict_each_other():
    wrong = []
    for path in sorted({*rule_cases.FOLDER.glob("*.txt")} - {rule_cases.FOLDER / "parts.txt"}):
        for case in rule_cases.read(path):
            wrong += [(path.name, case.first + 1, one) for one in contradictions(facts(rule_cases.plain_facts(case.given)))]
    assert wrong == []
