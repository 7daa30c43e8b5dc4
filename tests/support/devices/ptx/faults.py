"""Errors of a kernel that runs on the emulator."""


class Fault(Exception):
    """A kernel does what a GPU does not allow, or what has no defined result.

    text: without the place.
    instruction: the ptx.parser.Instruction at fault, if it is known where the error is raised.
    """

    def __init__(self, text: str, instruction=None):
        self.text, self.instruction = text, instruction
        where = f" (line {instruction.line} of the PTX: {instruction.text})" if instruction else ""
        source = f"{instruction.source}: " if instruction and instruction.source else ""
        super().__init__(source + text + where)

    def at(self, instruction) -> "Fault":
        """The same fault with its instruction."""
        return self if self.instruction else Fault(self.text, instruction)


class UnknownInstruction(Exception):
    """An instruction, a modifier or a directive of PTX that the emulator does not know."""
