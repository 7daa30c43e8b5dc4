"""A fair player of Pac-Man, good enough to complete levels."""

from pacman_machine import WAY, is_open, tile_of


def hunt(twin):
    """The next action of a player that takes the shortest safe way to a dot, or to a blue ghost if power lasts.

    twin: a `Twin` in the state of the game. Without a safe way the player moves away from the nearest ghost.
    """
    start = tile_of(twin.x, twin.y)
    ghosts = [(tile_of(ghost.x, ghost.y), ghost.blue) for ghost in twin.ghosts if ghost.phase == "out"]
    danger = {(x + dx, y + dy) for (x, y), blue in ghosts if not blue
              for dx in range(-4, 5) for dy in range(-4, 5) if abs(dx) + abs(dy) < 5}
    prey = {tile for tile, blue in ghosts if blue} if twin.power > 60 else set()
    reached, queue, flight = {start: 0}, [start], (0, 0)
    for tile in queue:
        if tile != start and (tile in prey or tile in twin.food):
            return reached[tile]
        for action, (dx, dy) in enumerate(WAY.values(), 1):
            ahead = (tile[0] + dx + 2) % 32 - 2, tile[1] + dy
            if ahead in reached or not is_open(*ahead):
                continue
            reached[ahead] = reached[tile] or action
            distance = min((abs(x - ahead[0]) + abs(y - ahead[1]) for (x, y), blue in ghosts if not blue), default=99)
            if tile == start:
                flight = max(flight, (distance, action))
            if ahead not in danger:
                queue.append(ahead)
    return flight[1]
