"""The TIA, the picture chip: its registers, sprites, collisions, and the lines that it draws."""
