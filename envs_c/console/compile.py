"""`python -m envs_c.console.compile GAME...`: compile cartridges into the cache now, such as qbert or ./mine.bin."""

import argparse
import json
import os
import signal
import sys
import time


def main():
    parser = argparse.ArgumentParser(prog="python -m envs_c.console.compile", description=__doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="names such as qbert, or files ending in .bin")
    parser.add_argument("--task", action="store_true", help=argparse.SUPPRESS)  # one cartridge, from standard input
    options = parser.parse_args()
    os.environ["ENVS_C_RECOMPILE"] = "0"  # here it is compiled at once
    from envs_c.console import cartridges, console, recompiled
    from envs_c.errors import EnvsError
    if options.task:
        task = json.load(sys.stdin)
        data = bytes.fromhex(task["data"])
        if hasattr(os, "nice"):  # not on Windows
            os.nice(10)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # not at once: the folder of the compilation is removed first
        console.insert(data, task["key"], task["facts"])
        try:
            recompiled.compiled(data, task["key"], task["facts"])
        except (EnvsError, OSError) as error:
            sys.exit(str(error))
        return
    try:
        if not options.games:
            parser.error(f"GAME must be one or more of {', '.join(cartridges.present()) or 'none'}; {cartridges.how_to_get()}")
        for name in options.games:
            start = time.perf_counter()
            library = cartridges.compile_now(name)
            print(f"{name}: {library} ({time.perf_counter() - start:.1f} s)", flush=True)
    except (EnvsError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
