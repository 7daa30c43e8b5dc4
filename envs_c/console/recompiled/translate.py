"""From the interpreter's source to C: the functions of alu.pxd and cpu.pxd, and the rows of instructions.pxd.

The processor is written once, in Cython. These files use few of its forms: inline functions over integers, assignments, `if`,
and expressions. Each becomes the same in C, so a compiled cartridge does what the interpreter does.
"""

import ast
import functools
import re
from pathlib import Path

CONSOLE = Path(__file__).parent.parent
HEAD = re.compile(r"cdef inline (\w+) (\w+)\((.*)\) noexcept nogil:")
ROW = re.compile(r"(?:if|elif) op == 0x([0-9A-F]{2}): (.*)")
DECLARED = re.compile(r"( *)cdef (int) (.*)")
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
         ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
         ast.Gt: ">", ast.GtE: ">=", ast.And: "&&", ast.Or: "||", ast.Not: "!", ast.Invert: "~", ast.USub: "-"}


def expression(node: ast.expr) -> str:
    """An expression in C, with all its brackets."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(int(node.value))
    if isinstance(node, ast.Attribute):
        return f"{expression(node.value)}->{node.attr}"
    if isinstance(node, ast.Call):
        return f"{expression(node.func)}({', '.join(map(expression, node.args))})"
    if isinstance(node, ast.BinOp):
        return f"({expression(node.left)} {SIGNS[type(node.op)]} {expression(node.right)})"
    if isinstance(node, ast.UnaryOp):
        return f"({SIGNS[type(node.op)]}{expression(node.operand)})"
    if isinstance(node, ast.BoolOp):
        return f"({f' {SIGNS[type(node.op)]} '.join(map(expression, node.values))})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return f"({expression(node.left)} {SIGNS[type(node.ops[0])]} {expression(node.comparators[0])})"
    if isinstance(node, ast.IfExp):
        return f"({expression(node.test)} ? {expression(node.body)} : {expression(node.orelse)})"
    raise ValueError(f"no C for {ast.dump(node)}")


def statement(node: ast.stmt) -> str:
    """A statement in C."""
    if isinstance(node, ast.Assign):
        return f"{' = '.join(map(expression, [*node.targets, node.value]))};"
    if isinstance(node, ast.AnnAssign):  # a declaration: see `python`
        return f"int {expression(node.target)}{f' = {expression(node.value)}' if node.value else ''};"
    if isinstance(node, ast.AugAssign):
        return f"{expression(node.target)} {SIGNS[type(node.op)]}= {expression(node.value)};"
    if isinstance(node, ast.If):
        other = f" else {{ {block(node.orelse)} }}" if node.orelse else ""
        return f"if ({expression(node.test)}) {{ {block(node.body)} }}{other}"
    if isinstance(node, ast.Return) and node.value:
        return f"return {expression(node.value)};"
    if isinstance(node, ast.Expr):
        return "" if isinstance(node.value, ast.Constant) else f"{expression(node.value)};"
    if isinstance(node, ast.Pass):
        return ""
    raise ValueError(f"no C for {ast.dump(node)}")


def block(nodes: list[ast.stmt]) -> str:
    return " ".join(filter(None, map(statement, nodes)))


def python(line: str) -> list[str]:
    """A line of a function's body as Python: declarations as annotations; casts are left out, for assignments cast as well."""
    line = re.sub(r"<\w+>", "", line)
    found = DECLARED.fullmatch(line)
    return [f"{found[1]}{name}: int" if "=" not in name else f"{found[1]}{name.replace('=', ': int =', 1)}"
            for name in re.split(r", (?![^(]*\))", found[3])] if found else [line]


def functions(path: Path) -> str:
    """All inline functions of a .pxd in C."""
    made = []
    for text in re.split(r"\n(?=cdef inline )", path.read_text(encoding="utf-8"))[1:]:
        head, *body = re.split(r"\n(?=\S)", text)[0].splitlines()
        kind, name, parameters = HEAD.fullmatch(head).groups()
        lines = [line for row in body for line in python(row)]
        tree = ast.parse(f"def {name}():\n" + "\n".join(lines)).body[0]
        made.append(f"INLINE {kind} {name}({parameters.replace('bint', 'int')}) {{ {block(tree.body)} }}")
    return "\n".join(made).replace("INLINE bint", "INLINE int")


@functools.cache
def rows() -> dict[int, str]:
    """The instructions' rows in C, by their first byte."""
    found = ROW.findall((CONSOLE / "cpu" / "instructions.pxd").read_text(encoding="utf-8"))
    made = {int(op, 16): block(ast.parse(text).body) for op, text in found}
    if len(made) != 256:
        raise ValueError(f"instructions.pxd has {len(made)} rows, not 256")
    return made


@functools.cache
def processor() -> str:
    """alu.pxd and cpu.pxd in C. cpu.pxd comes first, for alu.pxd uses it."""
    return functions(CONSOLE / "cpu" / "cpu.pxd") + "\n" + functions(CONSOLE / "cpu" / "alu.pxd")
