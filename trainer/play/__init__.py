"""Playing with a trained policy.

evaluate.py plays whole episodes and summarizes them; matches.py does so against the game's own opponents, for self-play;
film.py writes GIFs and MP4s. watch.py shows episodes in a window (window.py) or a terminal (terminal.py), with a policy or a
person (keyboard.py) as the player.
"""
