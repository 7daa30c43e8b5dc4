"""Games for people: keys, windows, terminals, and `python -m envs_c play`. Loads neither torch nor, before it is used, pygame.

    keyboard.py   keys for a game's actions, or a cursor over them
    window.py     a window, made with pygame
    terminal.py   a terminal in 24-bit colours; blocks.py its pictures, typed.py its keys
    keyboard_game.py  a person plays one environment
    command.py    the verb `play`
    human.py      render_mode="human"

A screen is a window or a terminal, a context manager with

    show(picture, caption)    show a picture (height, width, 3) uint8 with a line of text;
    wait(seconds)             wait; returns False if the user has closed the screen;
    keys()                    the names of the keys to count now: those pressed since the last call, and those held;
    pressed()                 the names of the keys pressed since the last call, in their order.
"""
