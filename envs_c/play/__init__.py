"""Games for people: keys, windows, terminals, and `python -m envs_c play`. Loads neither torch nor, before it is used, pygame.

A screen is a window or a terminal, a context manager with

    show(picture, caption)    show a picture (height, width, 3) uint8 with a line of text;
    wait(seconds)             wait; returns False if the user has closed the screen;
    keys()                    the names of the keys to count now: those pressed since the last call, and those held;
    pressed()                 the names of the keys pressed since the last call, in their order.
"""
