"""Print each branch of a rule or a combiner that no case takes: ``python branches.py``, with tests on the path, writes one per line.

An import hook records the conditions of gpucheck/core/rules and combiners: it inserts ``noted(place, condition)`` for each ``condition`` of an
``if``, of a conditional expression, and of ``return a or b``. The cases are the page's Example, tests/cases/rules, and
tests/cases/logs/repairs.
"""

import ast
import importlib.abc
import importlib.machinery
import sys

RULES, COMBINERS = "gpucheck.core.rules.", "gpucheck.core.combiners."
values: dict[tuple[str, int, str], set[bool]] = {}  # file, line and text of a condition -> its recorded values


class Noted(ast.NodeTransformer):
    """Insert ``noted`` around the conditions of a file's syntax tree."""

    def __init__(self, file, source):
        self.file, self.source = file, source

    def noted(self, condition):
        text = " ".join(ast.get_source_segment(self.source, condition).split())
        place = (self.file, condition.lineno, text)
        values.setdefault(place, set())
        call = ast.Call(ast.Name("noted", ast.Load()), [ast.Constant(place), condition], [])
        return ast.copy_location(call, condition)

    def visit_If(self, node):
        self.generic_visit(node)
        node.test = self.noted(node.test)
        return node

    visit_IfExp = visit_If

    def visit_Return(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.BoolOp):
            node.value.values[:-1] = map(self.noted, node.value.values[:-1])
        return node


class Loader(importlib.machinery.SourceFileLoader):
    """Load a module of the rules or combiners with recorded conditions, never from a compiled file."""

    def get_code(self, fullname):
        source = self.get_data(self.path).decode()
        file = fullname.removeprefix(RULES).removeprefix("gpucheck.core.").replace(".", "/") + ".py"
        tree = Noted(file, source).visit(ast.parse(source))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    def exec_module(self, module):
        module.noted = noted
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Find the modules of the rules and combiners."""

    def find_spec(self, fullname, path, target=None):
        if not fullname.startswith((RULES, COMBINERS)):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        spec.loader = Loader(fullname, spec.origin)
        return spec


def noted(place, value):
    values[place].add(bool(value))
    return value


def judge_all_cases():
    import changes
    import rule_cases
    from fakes import facts, machine
    from log_cases import FOLDER, REPAIR_FILES, read_toml, repair_cases
    from one_rule import RULES, log_findings

    from gpucheck.core.engine import manual
    from gpucheck.core.engine.judgement import judge

    for file in rule_cases.FOLDER.glob("*.txt"):
        for case in rule_cases.read(file) if file.name != "parts.txt" else ():
            rule_cases.outcome(case)
    for rule in RULES.values():
        example = manual.page_of(rule).example
        judge(facts(changes.apply(machine(example.machine), example.changes)), RULES.values())
    for file in REPAIR_FILES:
        for case in repair_cases(file):
            log_findings(case["text"])
    for case in read_toml(FOLDER / "findings.toml")["log"]:
        log_findings(case["text"])


if __name__ == "__main__":
    sys.meta_path.insert(0, Finder())
    judge_all_cases()
    for (file, line, text), seen in sorted(values.items()):
        for value in sorted({True, False} - seen):
            print(f"{file}:{line}\t{text} is never {str(value).lower()}")
