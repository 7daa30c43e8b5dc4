"""The games in a browser: WebAssembly, pages in plain JavaScript, trained agents, and links that replay a game.

    build.py     compiles a game to NAME.wasm, and describes it in NAME.json
    links.py     links that replay a game, and `replay`
    agents.py    the agents' files with rounded weights
    site.py, serve.py, command.py   the whole page: its folder, its server, its verb
    shim.h       the exports of a game to JavaScript
    page/        engine.js, policy.js, replay.js and what they import; README.md
    agents/      a trained agent for each game

Needs the extra `arcade` (ziglang) to compile.
"""
