"""A cartridge of our own: three lives of 50 frames, a point for each frame in which the stick is held up.

Its RAM holds the lives (90), the score (91), the frames of this life (92), the stick (93) and the button (94). The screen has a
colour for each line, which changes with every frame, and stripes.
"""

from envs_c.console import cartridges

ORIGIN = 0xF000
FRAMES = 50  # of a life
NEW, FRAME = ORIGIN + 5, ORIGIN + 15
CODE = bytes.fromhex(
    "78 D8 A2 FF 9A"                    # start: SEI, CLD, LDX #FF, TXS
    "A9 03 85 90 A9 00 85 91 85 92"     # new:   LDA #3, STA 90, LDA #0, STA 91, STA 92
    "A9 02 85 00 85 02 85 02 85 02"     # frame: LDA #2, STA VSYNC, three times STA WSYNC
    "A9 00 85 00"                       #        LDA #0, STA VSYNC
    "AD 82 02 4A 90 E2"                 #        LDA SWCHB, LSR, BCC new: RESET is pressed
    "E6 92 A5 92 C9 32 D0 0A"           #        INC 92, LDA 92, CMP #50, BNE stick
    "A9 00 85 92 A5 90 F0 02 C6 90"     #        LDA #0, STA 92, LDA 90, BEQ stick, DEC 90
    "AD 80 02 85 93 29 10 D0 02 E6 91"  # stick: LDA SWCHA, STA 93, AND #10, BNE on, INC 91
    "A5 0C 85 94 A5 92 85 0F"           # on:    LDA INPT4, STA 94, LDA 92, STA PF2
    "A2 E6"                             #        LDX #230
    "8A 45 92 85 09 85 02 CA D0 F6"     # line:  TXA, EOR 92, STA COLUBK, STA WSYNC, DEX, BNE line
    "4C 0F F0")                         #        JMP frame
DATA = CODE.ljust(4090, b"\xEA") + ORIGIN.to_bytes(2, "little") * 3
ROW = {**cartridges.UNKNOWN, "md5": cartridges.md5_of(DATA), "actions": [0, 1, 2, 5], "score": [[0x91, "bin", 1]],
       "lives": [[0x90, "bin", 1]], "over": [[[0x90, "0"]]], "wrap": 256}


def another(number: int) -> bytes:
    """The same program in a cartridge with one other byte, `number`, which is never executed.

    number: 0 to 255, except the 234 of DATA, and one that no other test uses.

    A process knows a cartridge by its bytes and keeps the table's row of its first use.
    """
    return DATA[:4000] + bytes([number]) + DATA[4001:]
