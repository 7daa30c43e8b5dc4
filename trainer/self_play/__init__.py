"""Self-play: training against past policies, and their ratings.

source.py steps the games for both sides. opponents.py chooses the moves of the other side with the policies of pool.py.
league.py holds the pool, the games against the game's own opponents and the ratings; ratings.py computes ratings.
"""
