"""Write a cartridge's code as one C function."""

import re
from pathlib import Path

from envs_c.console.recompiled.follow import BRK, E0, ENDS, FE, JMP, JSR, Code, Place, is_branch
from envs_c.console.recompiled.translate import CONSOLE, processor, rows

MARGIN = 4096  # instructions before the end of a frame that the interpreter executes: more than lie between two checks
LOADS = {0xAD, 0xAC, 0xAE}  # LDA, LDY, LDX from a 16-bit address
INTIM, BNE, BPL = 0x284, 0xD0, 0x10


def registers() -> list[tuple[str, str]]:
    """Type and name of each field of the processor's struct in state.pxd."""
    text = re.search(r"ctypedef struct Cpu:\n((?:    .*\n)+)", (CONSOLE / "state.pxd").read_text(encoding="utf-8"))[1]
    return re.findall(r"^    (\w+) (\w+)", text, re.MULTILINE)


def constants(code: Code, layout: dict[str, int], known: list[bool], hot: int, last_line: int) -> str:
    """The constants that prelude.h asks for."""
    fields = " ".join(f"{kind} {name};" for kind, name in registers())
    known_bits = sum(one << register for register, one in enumerate(known))
    named = {**layout, "SIZE": len(code.rom), "HOT": hot, "SLICED": int(code.kind in (E0, FE)),
             "LIMIT": (last_line + 1) * 76, "MARGIN": MARGIN, "REGISTERS": fields, "KNOWN": f"{known_bits}ULL"}
    return "\n".join(["#include <stdint.h>", "#include <string.h>",
                      *(f"#define {name} {value}" for name, value in named.items()),
                      f"static const uint8_t CODE[SIZE] = {{{','.join(map(str, code.rom))}}};"])


def waits(code: Code, place: Place) -> str:
    """C that passes over the turns of a loop `LDA INTIM; BNE` or `LDA INTIM; BPL` at `place`; "" if there is none."""
    if code.op(place) not in LOADS or int.from_bytes(code.rom[place.offset + 1: place.offset + 3], "little") != INTIM:
        return ""
    branch = code.next(place)
    if branch not in code.places or code.op(branch) not in (BNE, BPL) or code.jump(branch) != place:
        return ""
    turn = 4 + 3 + (((branch.pc + 2) ^ place.pc) & 0xFF00 != 0)
    last = 0 if code.op(branch) == BNE else -1
    return (f"{{ int turns = waiting(m, {last}, cpu.cycle + 4, {turn}, (left - MARGIN) / 2);"
            f" if (turns > 0) {{ cpu.cycle += turns * {turn}; left -= 2 * turns; }} }}\n")


def go(here: Place, there: Place | None, code: Code) -> str:
    """C that goes on at `there`; backwards only while instructions are left in the frame."""
    if there not in code.places:
        return "goto dispatch;"
    check = there <= here or (there.pc ^ here.pc) & 0xF000
    return f"{'if (left <= MARGIN) goto leave; ' if check else ''}goto {there};"


def instruction(code: Code, place: Place, following: Place | None) -> str:
    """One instruction in C. following: the one whose C comes next."""
    op, then, jump = code.op(place), code.next(place), code.jump(place)
    row = re.sub(r"\bcpu\b(?!->)", "&cpu", rows()[op]).replace("cpu->", "cpu.")
    text = (f"{place}: {waits(code, place)}cpu.event = 0; cpu.pc = {place.pc}; cpu.base = {place.offset - place.pc};"
            f" cpu.bank = {place.offset & ~0xFFF}; fetch(&cpu, m, rom); {{ int at; {row} }}"
            " left -= 1; if (cpu.event) goto event;")
    if op in (JMP, JSR):
        return f"{text} {go(place, jump, code)}"
    if op in ENDS or op == BRK:
        return f"{text} goto dispatch;"
    if is_branch(op):
        target = jump.pc if jump else (place.pc + 2 + (code.rom[place.offset + 1] ^ 0x80) - 0x80) & 0xFFFF
        text += f" if (cpu.pc == {target}) {{ {go(place, jump, code)} }}"
    return text if then is not None and then == following else f"{text} {go(place, then, code)}"


def dispatch(code: Code) -> str:
    """The tables of the entries, and the code that goes to the one at cpu.pc."""
    size = len(code.rom)
    entries = sorted({(entry.pc >> 13, entry.offset): entry for entry in sorted(code.entries, reverse=True)}.values())
    numbers = {(entry.pc >> 13) * size + entry.offset: k + 1 for k, entry in enumerate(entries)}
    table = ",".join(str(numbers.get(place, 0)) for place in range(8 * size))
    return f"""static const uint16_t NUMBER[8 * SIZE] = {{{table}}};
static const uint16_t PC[] = {{{','.join(['0', *(str(entry.pc) for entry in entries)])}}};
static const void* const LABEL[] = {{{','.join(['&&leave', *(f'&&{entry}' for entry in entries)])}}};"""


def source(code: Code, layout: dict[str, int], known: list[bool], hot: int, last_line: int) -> str:
    """The whole C file.

    layout: places of fields in the console's struct, by the names that prelude.h has.
    known: for each of the TIA's 64 registers, True if the console has a function for it.
    hot, last_line: of the cartridge, as in state.pxd.
    """
    places = sorted(code.places)
    body = "\n".join(instruction(code, place, following) for place, following in zip(places, [*places[1:], None], strict=True))
    names = [name for _, name in registers()]
    return f"""{constants(code, layout, known, hot, last_line)}
{(Path(__file__).parent / "prelude.h").read_text(encoding="utf-8")}
{processor()}

int run(Registers* out, Console* m, const Rom* rom, int left) {{
Cpu cpu; cpu.event = cpu.base = cpu.bank = 0;
{" ".join(f"cpu.{name} = out->{name};" for name in names)}
{dispatch(code)}
goto dispatch;
event:
cpu.event = 0;
if (m[AT_DONE]) goto leave;
dispatch:
if (left > MARGIN && cpu.pc & 0x1000) {{
    int number = NUMBER[(cpu.pc >> 13) * SIZE + offset_of(m, cpu.pc)];
    if (PC[number] == cpu.pc) goto *LABEL[number];
}}
leave:
{" ".join(f"out->{name} = cpu.{name};" for name in names)}
return left;
{body}
}}
"""
