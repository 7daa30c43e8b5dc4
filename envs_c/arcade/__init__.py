"""The games in a browser: WebAssembly, pages in plain JavaScript, trained agents, and links that replay a game.

Needs the extra `arcade` (ziglang) to compile.
"""
