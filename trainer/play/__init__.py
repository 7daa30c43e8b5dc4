"""Playing with a trained policy.

evaluate.py plays whole episodes and summarizes them; matches.py does so against the game's own opponents, for self-play;
film.py writes GIFs and MP4s. agent_game.py shows episodes in a window or a terminal of envs_c/play/.
"""
