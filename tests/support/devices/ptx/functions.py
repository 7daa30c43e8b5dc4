"""Functions that kernels call, and the variables of a module.

clang leaves calls between functions; NVRTC inlines them. A function's code stands once behind the kernel's own. Its registers
and parameters get names of its own, since no function of ours calls itself: a call copies the arguments, notes for each thread
where to go on, and goes to the function's first instruction.
"""

from dataclasses import replace

import numpy as np

from ptx.faults import UnknownInstruction
from ptx.memory import Memory
from ptx.parser import SIZES, Entry, Global, Instruction

ENTRY_OF = "function "  # prefix of the label of a function's first instruction


def linked(entry: Entry, functions: dict[str, Entry]) -> Entry:
    """A kernel with all functions that it calls behind it. Raises UnknownInstruction if one calls itself."""
    whole = replace(entry, registers=dict(entry.registers), variables=list(entry.variables), labels={},
                    instructions=[], tables=dict(entry.tables))
    offsets = _append(whole, entry, functions, "")
    whole.labels.update({label: offsets[place] for label, place in entry.labels.items()})
    done: set[str] = set()
    while missing := sorted({one.operands[0] for one in whole.instructions if one.opcode[0] == "call"} - done):
        name = missing[0]
        if name not in functions or _calls(functions, name, name):
            raise UnknownInstruction(f"{entry.name} calls {name}, which calls itself or is not in this module")
        done.add(name)
        function = functions[name]
        begin = len(whole.instructions)
        whole.labels[ENTRY_OF + name] = begin
        for register, kind in function.registers.items():
            whole.registers[f"{register}.{name}"] = kind
        for parameter in (*function.parameters, *function.results):
            whole.registers[slot(name, parameter.name)] = parameter.kind
        whole.variables += [one for one in function.variables if one not in whole.variables]
        whole.tables.update({f"{table} {name}": labels for table, labels in function.tables.items()})
        offsets = _append(whole, function, functions, name)
        whole.labels.update({label: offsets[place] for label, place in function.labels.items()})
    return whole


def _calls(functions: dict[str, Entry], name: str, wanted: str, seen: frozenset[str] = frozenset()) -> bool:
    """True if a function calls `wanted`, itself or through others."""
    called = {one.operands[0] for one in functions[name].instructions if one.opcode[0] == "call"} - seen
    return wanted in called or any(_calls(functions, one, wanted, seen | called) for one in called if one in functions)


def _append(whole: Entry, part: Entry, functions: dict[str, Entry], name: str) -> list[int]:
    """Add the instructions of a kernel or, with its name, of a function. Returns the new place of each, and the end."""
    pending: dict[str, tuple] = {}
    places, returned = [], ""
    for instruction in part.instructions:
        places.append(len(whole.instructions))
        guard = instruction.guard
        one = replace(instruction, operands=[_renamed(text, part, name) for text in instruction.operands],
                      guard=guard and (_renamed(guard[0], part, name), guard[1]))
        space = one.opcode[1] if len(one.opcode) > 1 else ""
        if one.opcode[0] == "st" and space == "param":
            _, target, offset = one.operands[0]
            if offset:
                raise UnknownInstruction(f"line {one.line}: {one.text}")
            result = next((each for each in part.results if each.name == target), None)
            if result is None:
                pending[target] = (one, one.operands[1])
            else:
                whole.instructions.append(_move(one, result.kind, slot(name, target), one.operands[1]))
        elif one.opcode[0] == "ld" and space == "param" and one.operands[1][1] == "retval0":
            (result,) = functions[returned].results
            whole.instructions.append(_move(one, one.opcode[-1], one.operands[0], slot(returned, result.name)))
        elif one.opcode[0] == "ld" and space == "param" and name:
            whole.instructions.append(_move(one, one.opcode[-1], one.operands[0], slot(name, one.operands[1][1])))
        elif one.opcode[0] == "call":
            returned = one.operands[0]
            if returned not in functions:
                raise UnknownInstruction(f"line {one.line}: {one.text}")
            for k, parameter in enumerate(functions[returned].parameters):
                store, value = pending[f"param{k}"]
                whole.instructions.append(_move(store, parameter.kind, slot(returned, parameter.name), value))
            whole.instructions.append(replace(one, operands=[returned]))
        elif one.opcode[0] == "brx" and name:  # tables of two functions can have the same name
            whole.instructions.append(replace(one, operands=[one.operands[0], f"{one.operands[1]} {name}"]))
        elif one.opcode[0] == "ret" and name:
            whole.instructions.append(replace(one, operands=[name]))
        else:
            whole.instructions.append(one)
    return [*places, len(whole.instructions)]


def _move(like: Instruction, kind: str, target: str, value: str) -> Instruction:
    return replace(like, opcode=["mov", "b16" if SIZES[kind] == 1 else f"b{8 * SIZES[kind]}"], operands=[target, value])


def slot(function: str, parameter: str) -> str:
    """The register of a parameter or a result."""
    return f"%{function}.{parameter}"


def _renamed(operand, part: Entry, function: str):
    """An operand, with a function's registers under names that no other function has."""
    if isinstance(operand, str):
        return f"{operand}.{function}" if function and operand in part.registers else operand
    if operand[0] == "all":
        return "all", [_renamed(one, part, function) for one in operand[1]]
    return operand[0], _renamed(operand[1], part, function), *operand[2:]


class Globals:
    """The variables of a module in global memory, each an allocation.

    addresses, bytes: by name.
    empty: names of those that begin as zeros.
    """

    def __init__(self, variables: list[Global]):
        self.memory, self.addresses, self.bytes = Memory(), {}, {}
        cythons = {one.name for one in variables if one.name.startswith("__pyx_") and not one.name.startswith("__pyx_v_")}
        self.empty = {one.name for one in variables if not one.data} - cythons
        for variable in variables:
            room = np.zeros(variable.size + 16, np.uint8)
            self.bytes[variable.name] = data = room[-room.ctypes.data % 16:][:variable.size]
            data[:len(variable.data)] = np.frombuffer(variable.data, np.uint8)
            self.addresses[variable.name] = int(self.memory.add_array(data, name=variable.name))

    def find_in(self, memory):
        """`find` of a memory, and of these variables."""
        return lambda address: self.memory.find(address) or memory.find(address)
