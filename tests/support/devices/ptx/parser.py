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
class Global:
    """A variable of a module in global memory. data: the bytes it begins with; the others are zeros."""

    name: str
    size: int
    data: bytes


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
    """A kernel or a function: instructions, and labels as positions in them.

    results: of a function.
    tables: the labels of each `.branchtargets` by its name.
    """

    name: str
    parameters: list[Parameter] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)  # type by name
    variables: list[Variable] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    results: list[Parameter] = field(default_factory=list)
    tables: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Text:
    """A PTX text: its kernels and functions by name, and its variables."""

    entries: dict[str, Entry] = field(default_factory=dict)
    functions: dict[str, Entry] = field(default_factory=dict)
    globals: list[Global] = field(default_factory=list)


REGISTERS = re.compile(r"\.reg \.(\w+)\s+([%\w$]+)(?:<(\d+)>)?;")
SCOPED = re.compile(r"\{ \.reg \.(\w+) (\w+);.*\}")
VARIABLE = re.compile(r"(?:\.extern )?\.(shared|local)(?: \.align (\d+))? \.(\w+)\s+([\w$]+)(?:\[(\d*)\])?;")
PARAMETER = re.compile(r"\.param (?:\.align (\d+) )?\.(\w+)(?: \.ptr(?: \.\w+)?(?: \.align \d+)?)? ([\w$]+)(?:\[(\d+)\])?,?")
STATEMENT = re.compile(r"(?:@(!?)([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*);")
LOCATION = re.compile(r"\.loc\s+(\d+) (\d+)")
FILE = re.compile(r'\.file\s+(\d+) "([^"]*)"')
ENTRY = re.compile(r"(?:\.visible |\.weak )*\.(entry|func)\s+(?:\((\.param [^)]*)\) )?([\w$]+)\(?")
GLOBAL = re.compile(r"(?:\.visible |\.extern )*\.global(?: \.align \d+)? \.(\w+) ([\w$]+)(?:\[(\d+)\])?"
                    r"(?: = \{?([^}]*)\}?)?;")
TARGETS = re.compile(r"([\w$]+): \.branchtargets")
OPERANDS = re.compile(r"\[[^\]]*\]|\{[^}]*\}|[^,\s]+(?:\s*\|\s*[^,\s]+)?")


def parse(text: str) -> Text:
    """The contents of a PTX text."""
    files = {number: Path(path).name for number, path in FILE.findall(text)}
    made, targets = Text(), None
    module_variables: list[Variable] = []
    entry, depth, source, section = None, 0, "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("//")[0].strip()
        if found := SCOPED.match(line):  # a scope of one line: other ones may have this name with another type
            line = re.sub(rf"\b{found[2]}\b", f"{found[2]}_{found[1]}", line)
        if section or not line or line.startswith(IGNORED):
            section = line != "}" and (section or line.startswith(".section"))
        elif found := ENTRY.match(line):
            kind, result, name = found.groups()
            entry = Entry(name, variables=list(module_variables))
            if result:
                _outside(result, number, entry, made, module_variables)
                entry.results, entry.parameters = entry.parameters, []
            (made.entries if kind == "entry" else made.functions)[name] = entry
        elif found := LOCATION.match(line):
            source = f"{files.get(found[1], '?')}:{found[2]}" if found[2] != "0" else source
        elif entry is not None and not depth and line == ";":  # a declaration
            entry = None
        elif not depth and line != "{":
            _outside(line, number, entry, made, module_variables)
        elif found := TARGETS.fullmatch(line):
            targets = entry.tables[found[1]] = []
        elif targets is not None:
            targets += [part.strip(" ,;") for part in line.split(",") if part.strip(" ,;")]
            targets = None if line.endswith(";") else targets
        else:
            for part in _parts(line):
                if part in "{}":
                    depth += 1 if part == "{" else -1
                elif part.endswith(":"):
                    entry.labels[part[:-1]] = len(entry.instructions)
                else:
                    _statement(part, number, source, entry)
            entry = entry if depth else None
    return made


def _parts(line: str) -> list[str]:
    """The braces of scopes and the statements of a line."""
    parts = []
    while line := line.strip():
        end = 1 if line[0] in "{}" else line.find(";") + 1 or len(line)
        parts.append(line[:end])
        line = line[end:]
    return parts


def _outside(line: str, number: int, entry: Entry | None, made: Text, variables: list[Variable]):
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
    elif found := GLOBAL.fullmatch(line):
        kind, name, count, values = found.groups()
        width, numbers = SIZES[kind], [int(one, 0) for one in (values or "").split(",") if one.strip()]
        data = b"".join((one % (1 << 8 * width)).to_bytes(width, "little") for one in numbers)
        made.globals.append(Global(name, width * int(count or 1), data))
    else:
        raise UnknownInstruction(f"line {number}: {line}")


def _variable(found: re.Match) -> Variable:
    space, align, kind, name, count = found.groups()
    return Variable(name, space, int(align or SIZES[kind]), SIZES[kind] * (1 if count is None else int(count or 0)))


def _statement(line: str, number: int, source: str, entry: Entry):
    """A line of a body: registers, a variable, or an instruction."""
    if line.startswith(".param"):  # of a call, named in its instructions
        return
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
        if opcode.startswith("call"):  # its parameters are those of the function
            operands = [next(text for text in operands if "(" not in text and ")" not in text)]
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
