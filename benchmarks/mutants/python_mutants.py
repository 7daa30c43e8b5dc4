"""Mutants of a Python file, by the operators of cosmic-ray (https://cosmic-ray.readthedocs.io)."""

import contextlib

try:
    with contextlib.redirect_stdout(None):  # cosmic-ray prints while it is loaded
        from cosmic_ray.ast import ast_nodes, get_ast
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator
except ImportError:
    mutate_code = None

# One replacement for each operator: cosmic-ray would replace + by eleven others, and most of these fail at once.
BINARY = ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul", "BitAnd_BitOr", "LShift_RShift",
          "RShift_LShift")  # not BitOr: annotations such as `int | None` have it
COMPARED = ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")
OPERATORS = (*(f"core/ReplaceBinaryOperator_{one}" for one in BINARY),
             *(f"core/ReplaceComparisonOperator_{one}" for one in COMPARED),
             "core/NumberReplacer", "core/ReplaceAndWithOr", "core/ReplaceOrWithAnd", "core/ReplaceTrueWithFalse",
             "core/ReplaceFalseWithTrue", "core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak",
             "core/ReplaceUnaryOperator_Delete_Not", "core/ReplaceUnaryOperator_Delete_USub", "core/ZeroIterationForLoop")


def places(source: str) -> list[tuple[str, int]]:
    """What can be mutated in a Python file: an operator's name, and which of the places that it can change.

    Raises ImportError if cosmic-ray is not installed.
    """
    if mutate_code is None:
        raise ImportError("cosmic-ray is missing, which mutates Python files: make mutants installs it")
    nodes = list(ast_nodes(get_ast(source)))
    counts = {name: sum(len(list(get_operator(name)().mutation_positions(node))) for node in nodes) for name in OPERATORS}
    return [(name, number) for name, count in counts.items() for number in range(count)]


def mutate(source: str, place: tuple[str, int]) -> str:
    """The whole text with one change."""
    name, number = place
    return mutate_code(source, get_operator(name)(), number)
