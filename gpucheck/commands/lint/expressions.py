"""The part of the trace that follows expressions."""

import ast
import builtins

from gpucheck.commands.lint.combine import attribute, each, element, merge
from gpucheck.commands.lint.lookup import constant
from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.state import State
from gpucheck.commands.lint.values import UNKNOWN, Call, Constant, Gathered, Items, Name, Operation, Pairs, Read, Scope, Value

EXPRESSION_DEPTH_MAX = 250
ITEMS_MAX = 2_000  # longer literals are treated as data


class Evaluator(State):
    """Follows expressions, and binds names to values."""

    def value(self, node: ast.expr) -> Value:
        """Follow an expression and return its value."""
        if self.depth > EXPRESSION_DEPTH_MAX:
            return UNKNOWN
        self.depth += 1
        result: Value = getattr(self, "_visit_" + type(node).__name__, self._visit_others)(node)
        self.depth -= 1
        return result

    def _visit_others(self, node: ast.AST) -> Value:
        return Operation(tuple(self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)))

    def _visit_Constant(self, node: ast.Constant) -> Value:
        return Constant(node.value)

    def _visit_Name(self, node: ast.Name) -> Value:
        bound = self.scope.get(node.id)
        if bound is not None:
            return bound
        for module in reversed(self.stars):  # unknown names are attributed to these modules after ``from ... import *``
            if canonical(module + ".").startswith(("tensorflow.", "keras.")) and not hasattr(builtins, node.id):
                return Name(canonical(f"{module}.{node.id}"))
        return Name(f"builtins.{node.id}") if hasattr(builtins, node.id) else UNKNOWN

    def _visit_Attribute(self, node: ast.Attribute, *, whole: bool = True) -> Value:
        inner = node.value
        of = self._visit_Attribute(inner, whole=False) if isinstance(inner, ast.Attribute) else self.value(inner)
        member = Name(canonical(f"{of.path}.{node.attr}")) if isinstance(of, Name) else attribute(of, node.attr)
        if whole:
            self.events.append(Read(node, self.place(), member))
        return member

    def _visit_Call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        starred = False
        args: list[Value] = []
        for item in node.args:
            value = self.value(item)
            if isinstance(item, ast.Starred) and isinstance(value, Gathered) and not starred:
                args += value.args
            else:
                starred = starred or isinstance(item, ast.Starred)
                args.append(value)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is None:
                starred = starred or not isinstance(value, Gathered)
                keywords.update(value.keywords if isinstance(value, Gathered) else {})
            else:
                keywords[keyword.arg] = value
        call = Call(node, self.place(), function, tuple(args), keywords, starred)
        self.events.append(call)
        if call.name == "builtins.setattr" and len(args) == 3 and not starred:
            self.store(node, *args)
        if call.name in ("builtins.list", "builtins.tuple", "builtins.sorted", "builtins.iter") and len(args) == 1:
            return args[0]
        if call.name == "builtins.__import__" and len(args) == 1 and isinstance(constant(args[0]), str):
            return Name(canonical(constant(args[0]).partition(".")[0]))
        return UNKNOWN if call.name == "builtins.getattr" else self.called(call)

    def _visit_Subscript(self, node: ast.Subscript) -> Value:
        of, key = self.value(node.value), self.value(node.slice)
        index = constant(key)
        if isinstance(of, Call) and isinstance(node.slice, ast.Slice) and ast.unparse(node.slice) in (":1", "0:1"):
            return Items((element(of, 0),))
        if isinstance(index, int) and not isinstance(index, bool):
            return element(of, index)
        return Operation((of, key)) if isinstance(node.slice, ast.Slice) or index is None else UNKNOWN

    def _visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        operand = constant(value)
        if isinstance(node.op, ast.USub) and isinstance(operand, (int, float)):
            return Constant(-operand)
        if isinstance(node.op, ast.Not) and isinstance(operand, bool):
            return Constant(not operand)
        return Operation((value,))

    def _visit_List(self, node: ast.List | ast.Tuple) -> Value:
        if len(node.elts) > ITEMS_MAX:
            return UNKNOWN
        items = tuple(self.value(item) for item in node.elts)
        return Operation(items) if any(isinstance(item, ast.Starred) for item in node.elts) else Items(items)

    _visit_Tuple = _visit_Set = _visit_List

    def _visit_Dict(self, node: ast.Dict) -> Value:
        if len(node.values) > ITEMS_MAX:
            return UNKNOWN
        keys = [self.value(key) if key is not None else UNKNOWN for key in node.keys]
        return Pairs(tuple(zip(keys, [self.value(item) for item in node.values], strict=True)))

    def _visit_IfExp(self, node: ast.IfExp) -> Value:
        self.test(node.test)
        with self.branch(node, 0):
            first = self.value(node.body)
        with self.branch(node, 1):
            return merge(first, self.value(node.orelse))

    def _visit_BoolOp(self, node: ast.BoolOp) -> Value:
        operands = [self.test(node.values[0])]
        with self.branch(node, 1):
            operands += [self.value(value) for value in node.values[1:]]
        return Operation(tuple(operands))

    def _visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, value)
        return value

    _visit_Lambda = State.define

    def _visit_Await(self, node: ast.Await | ast.Starred) -> Value:
        return self.value(node.value)

    _visit_Starred = _visit_Await

    def _visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        first = self.value(node.generators[0].iter)
        with self.branch(node, 0), self.within(scope=Scope(self.scope), loops=self.loops + 1):
            for number, generator in enumerate(node.generators):
                self.bind(generator.target, each(first if number == 0 else self.value(generator.iter)))
                for test in generator.ifs:
                    self.value(test)
            made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return Operation(tuple(self.value(item) for item in made))

    _visit_SetComp = _visit_GeneratorExp = _visit_DictComp = _visit_ListComp

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to the target on the left of the equals sign."""
        if isinstance(target, ast.Name):
            if isinstance(value, Constant):
                value.names.add(target.id)
            self.scope.set(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = next((index for index, item in enumerate(target.elts) if isinstance(item, ast.Starred)), len(target.elts))
            for index, item in enumerate(target.elts):
                self.bind(item, element(value, index) if index < starred else UNKNOWN)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, UNKNOWN)
        elif isinstance(target, ast.Attribute):
            self.store(target, self.value(target.value), Constant(target.attr), value)
        elif isinstance(target, ast.Subscript):
            self.store(target, self.value(target.value), self.value(target.slice), value)
