"""PTX text to entries, variables and instructions.

No directive or instruction of NVRTC's goes over lines, except for parameter lists; inline assembly can have several in one
line. Operands stay text here, except that `[...]`, `{...}` and `a|b` become tuples: ("at", base, offset), ("all", [...]) and
("pair", a, b).
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ptx.faults import UnknownInstruction

SIZES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4,
         "f32": 4, "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}
IGNORED = (".version", ".target", ".address_size", ".maxntid", ".minnctapersm", ".reqntid", ".section", ".pragma", ".file",
           ".noreturn")


@dataclass
class Variable:
    """A variable in shared or local memory."""

    name: str
    space: str
    align: int
    size: int  # bytes; 0 for `extern` memory, whose size the launch gives


@dataclass
class Parameter:
    """A parameter of an entry. `kind` is the PTX type, "bytes" for a struct."""

    name: str
    kind: str
    size: int
    align: int


@dataclass
class Instruction:
    """One instruction. opcode: its parts between dots. guard: None, or (predicate's register, True if negated)."""

    opcode: list[str]
    operands: list
    guard: tuple[str, bool] | None
    line: int    # of the PTX text
    text: str
    source: str  # file and line of the CUDA source


@dataclass
class Entry:
    """A kernel: instructions, and labels as positions in them."""

    name: str
    parameters: list[Parameter] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)  # type by name
    variables: list[Variable] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


REGISTERS = re.compile(r"\.reg \.(\w+)\s+([%\w$]+)(?:<(\d+)>)?;")
VARIABLE = re.compile(r"(?:\.extern )?\.(shared|local)(?: \.align (\d+))? \.(\w+)\s+([\w$]+)(?:\[(\d*)\])?;")
PARAMETER = re.compile(r"\.param (?:\.align (\d+) )?\.(\w+)(?: \.ptr(?: \.\w+)?(?: \.align \d+)?)? ([\w$]+)(?:\[(\d+)\])?,?")
STATEMENT = re.compile(r"(?:@(!?)([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*);")
LOCATION = re.compile(r"\.loc\s+(\d+) (\d+)")
FILE = re.compile(r'\.file\s+(\d+) "([^"]*)"')
ENTRY = re.compile(r"(?:\.visible |\.weak )*\.entry ([\w$]+)\(?")
OPERANDS = re.compile(r"\[[^\]]*\]|\{[^}]*\}|[^,\s]+(?:\s*\|\s*[^,\s]+)?")


def parse(text: str) -> dict[str, Entry]:
    """The entries of a PTX text by name."""
    files = {number: Path(path).name for number, path in FILE.findall(text)}
    entries: dict[str, Entry] = {}
    module_variables: list[Variable] = []
    entry, depth, source, section = None, 0, "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("//")[0].strip()
        if section or not line or line.startswith(IGNORED):
            section = line != "}" and (section or line.startswith(".section"))
        elif found := ENTRY.match(line):
            entry = entries[found[1]] = Entry(found[1], variables=list(module_variables))
        elif found := LOCATION.match(line):
            source = f"{files.get(found[1], '?')}:{found[2]}" if found[2] != "0" else source
        elif not depth and line != "{":
            _outside(line, number, entry, module_variables)
        else:
            for part in _parts(line):
                if part in "{}":
                    depth += 1 if part == "{" else -1
                elif part.endswith(":"):
                    entry.labels[part[:-1]] = len(entry.instructions)
                else:
                    _statement(part, number, source, entry)
            entry = entry if depth else None
    return entries


def _parts(line: str) -> list[str]:
    """The braces of scopes and the statements of a line."""
    parts = []
    while line := line.strip():
        end = 1 if line[0] in "{}" else line.find(";") + 1 or len(line)
        parts.append(line[:end])
        line = line[end:]
    return parts


def _outside(line: str, number: int, entry: Entry | None, variables: list[Variable]):
    """A line outside a body: a parameter, or a variable of the module."""
    if entry is not None:
        if found := PARAMETER.fullmatch(line):
            align, kind, name, count = found.groups()
            size = SIZES[kind] * int(count or 1)
            entry.parameters.append(Parameter(name, "bytes" if count else kind, size, int(align or size)))
        elif line not in ("(", ")"):
            raise UnknownInstruction(f"line {number}: {line}")
    elif found := VARIABLE.fullmatch(line):
        variables.append(_variable(found))
    elif not line.startswith(".global"):  # NVRTC's own unused variables; a use is an unknown operand
        raise UnknownInstruction(f"line {number}: {line}")


def _variable(found: re.Match) -> Variable:
    space, align, kind, name, count = found.groups()
    return Variable(name, space, int(align or SIZES[kind]), SIZES[kind] * (1 if count is None else int(count or 0)))


def _statement(line: str, number: int, source: str, entry: Entry):
    """A line of a body: registers, a variable, or an instruction."""
    if found := REGISTERS.fullmatch(re.sub(r"\s+", " ", line)):
        kind, name, count = found.groups()
        names = [name] if count is None else [f"{name}{k}" for k in range(int(count))]
        if any(entry.registers.get(name, kind) != kind for name in names):  # in two scopes of inline assembly
            raise UnknownInstruction(f"line {number}: {line} has another type than an earlier register of this name")
        entry.registers.update(dict.fromkeys(names, kind))
    elif found := VARIABLE.fullmatch(re.sub(r"\s+", " ", line)):
        entry.variables.append(_variable(found))
    elif found := STATEMENT.fullmatch(line):
        negated, predicate, opcode, rest = found.groups()
        guard = (predicate, negated == "!") if predicate else None
        operands = [_operand(text.strip()) for text in OPERANDS.findall(rest)]
        entry.instructions.append(Instruction(opcode.replace("::", ":").split("."), operands, guard, number,
                                              re.sub(r"\s+", " ", line), source))
    else:
        raise UnknownInstruction(f"line {number}: {line}")


def _operand(text: str):
    """One operand: its text, or a tuple."""
    if text.startswith("["):
        base, _, offset = text[1:-1].strip().partition("+")
        return "at", base.strip(), int(offset or 0)
    if text.startswith("{"):
        return "all", [part.strip() for part in text[1:-1].split(",")]
    if "|" in text:
        return "pair", *[part.strip() for part in text.split("|")]
    return text
