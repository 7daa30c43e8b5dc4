"""Go: rules worked out by hand, random games compared with a plain Python board, and whole games compared with GNU Go."""

import numpy as np
import pytest
from go_board import BLACK, COLUMNS, WHITE, Board, GnuGo, Pcg32, answer

import envs_c

RANDOM, GREEDY, NOBODY = range(3)
OWN, OTHER, ATARI, BANNED, TO_PLAY = range(5)
KO = "C5 D5 B4 E4 C3 D3 PASS C4 D4"  # Black's stone on D4, now in atari, has captured White's stone on C4


class Table:
    """An environment in which the test moves for both sides."""

    def __init__(self, moves="", **options):
        self.env = envs_c.make("go", options.pop("num_envs", 1), **{"opponent": NOBODY, "komi": 0.5, **options})
        self.names = self.env.core.actions
        self.seen, infos = self.env.reset()
        self.mask = infos["action_mask"]
        for name in moves.split():
            assert self.mask[0, self.names.index(name)], f"{name} is not allowed"
            self.play(name)

    def play(self, name):
        """Play a move by its name; returns the reward and whether the game has ended."""
        return self.act([self.names.index(name)])

    def act(self, actions):
        self.seen, reward, over, _, infos = self.env.step(np.array(actions))
        self.mask = infos["action_mask"]
        return reward[0], over[0]

    def points(self, plane):
        """The names of the points that are 1 in a plane."""
        return {self.names[p] for p in np.flatnonzero(self.seen[0, plane])}

    def allowed(self, name):
        return bool(self.mask[0, self.names.index(name)])


# --- the rules -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [None, 5, 9, 19])
def test_a_board_has_an_action_for_each_point_and_a_pass(size):
    env = envs_c.make("go", 2, **({"size": size} if size else {}))
    size = size or 9
    assert env.single_action_space.n == size * size + 1
    assert env.single_observation_space.shape == (5, size, size) and env.single_observation_space.dtype == np.uint8
    names = env.core.actions
    assert (names[0], names[size - 1], names[-2], names[-1]) == (
        f"A{size}", f"{COLUMNS[size - 1]}{size}", f"{COLUMNS[size - 1]}1", "PASS")


@pytest.mark.parametrize("option, value", [
    ("size", 4), ("size", 20), ("size", 9.5), ("opponent", 3), ("colour", 3), ("komi", 401), ("handicap", 2),
])
def test_refuses_wrong_options(option, value):
    with pytest.raises(envs_c.InvalidArgument, match=option):
        envs_c.make("go", **{option: value})


@pytest.mark.parametrize("moves, captured", [
    ("A2 A1 B1", "A1"),                                        # in the corner
    ("A4 A3 B3 PASS A2", "A3"),                                # at the edge
    ("C4 C3 B3 PASS D3 PASS C2", "C3"),                        # in the middle
    ("C4 C3 B3 D3 D4 PASS E3 PASS D2 PASS C2", "C3 D3"),       # a chain
    ("B2 A2 C1 B1 A3 PASS A1", "A2 B1"),                       # two chains at once, so it is not suicide
])
def test_chains_without_liberties_are_captured(moves, captured):
    table, played = Table(size=7), moves.split()
    for name in played[:-1]:
        table.play(name)
    before = table.points(OWN) | table.points(OTHER)
    table.play(played[-1])
    assert before - (table.points(OWN) | table.points(OTHER)) == set(captured.split())


def test_chains_of_both_sides_with_one_liberty_are_shown_in_atari():
    table = Table("C4 C3 B3 PASS D3", size=7)
    assert table.points(ATARI) == {"C3"}
    table.play("C2")
    assert table.points(ATARI) == set()
    table.play("PASS")
    table.play("A7")
    table.play("A6")
    assert table.points(ATARI) == {"A7"}


@pytest.mark.parametrize("moves, point, allowed", [
    ("B1 PASS A2", "A1", False),                # one stone
    ("A3 A2 B2 PASS C1", "A1", True),           # two stones, with a liberty left
    ("A3 A2 B2 PASS C1 PASS B1", "A1", False),  # two stones, with no liberty left
    ("B1 C1 A2 B2 PASS A3", "A1", False),       # three stones
    ("B1 C1 A2 B2 PASS A3 PASS", "A1", True),   # captures two stones
])
def test_suicide_is_forbidden(moves, point, allowed):
    assert Table(moves, size=7).allowed(point) == allowed


def test_a_ko_cannot_be_taken_back_at_once_but_after_moves_elsewhere():
    table = Table(KO, size=7)
    assert table.points(BANNED) == {"C4"} and not table.allowed("C4")
    table.play("A7")
    assert table.points(BANNED) == set()
    table.play("G7")
    assert table.points(BANNED) == set() and table.allowed("C4")
    table.play("C4")
    assert table.points(BANNED) == {"D4"}


@pytest.mark.parametrize("moves, margin", [
    ("", 0),                                             # an empty board belongs to nobody
    ("C3", 25),
    ("C3 A1", 0),                                        # both sides reach all empty points
    ("B1 D1 B2 D2 B3 D3 B4 D4 B5 D5", 0),
    ("B1 E1 B2 E2 B3 E3 B4 E4 B5 E5 A3 C1 PASS C2", 3),  # 10 - 7: columns A and B, column E and two stones
])
def test_area_is_stones_and_points_that_only_they_reach(moves, margin):
    for komi, reward in [(margin - 0.5, 1), (margin, 0), (margin + 0.5, -1)]:
        table = Table(moves, size=5, komi=komi)
        table.play("PASS")
        black_moved_last = table.seen[0, TO_PLAY, 0, 0] == 1
        assert table.play("PASS") == (reward if black_moved_last else -reward, True)


def test_an_action_that_is_not_allowed_counts_as_a_pass():
    table = Table("C3", size=5)
    assert table.play("C3") == (0, False)
    assert table.play("C3") == (1, True)


@pytest.mark.parametrize("size", [5, 8, 11, 12, 19])
def test_a_game_ends_with_two_passes_in_a_row_or_its_last_move(size):
    table, rng, moves, passes, over = Table(size=size), np.random.default_rng(0), 0, 0, False
    while not over:
        points = np.flatnonzero(table.mask[0, :-1])
        passes = 0 if len(points) else passes + 1
        _, over = table.act([rng.choice(points) if len(points) else size * size])
        moves += 1
        assert over == (passes == 2 or moves == 2 * size * size)
    assert moves > 1.5 * size * size


@pytest.mark.parametrize("colour, black", [(BLACK, 1.0), (WHITE, 0.0), (2, 0.5)])
def test_the_agent_has_the_colour_of_the_option(colour, black):
    env = envs_c.make("go", 1000, size=5, colour=colour, seed=1)
    seen, _ = env.reset()
    assert abs(seen[:, TO_PLAY, 0, 0].mean() - black) < 0.05 and (black == 0.5 or seen[:, TO_PLAY].mean() == black)
    assert (seen[:, OTHER].sum(axis=(1, 2)) == 1 - seen[:, TO_PLAY, 0, 0]).all()  # White answers Black's first stone


def test_the_random_opponent_plays_all_points_equally_often():
    env = envs_c.make("go", 25_000, size=5, colour=WHITE, seed=1)
    counts = env.reset()[0][:, OTHER].sum(axis=0, dtype=int)
    assert counts.sum() == 25_000 and counts.min() > 850 and counts.max() < 1150


@pytest.mark.parametrize("size", [5, 9])
@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_the_greedy_opponent_beats_random_play(size, colour):
    env = envs_c.make("go", 200, size=size, opponent=GREEDY, colour=colour, komi=0, seed=2)
    _, infos = env.reset()
    rng, rewards = np.random.default_rng(0), []
    for _ in range(2 * size * size):
        actions = (infos["action_mask"] * rng.random(infos["action_mask"].shape)).argmax(axis=1)
        _, reward, over, _, infos = env.step(actions)
        rewards += reward[over].tolist()
    assert len(rewards) >= 200 and np.mean(rewards) < -0.8


# --- a plain board ---------------------------------------------------------------------------------------------------

def play_beside_a_plain_board(steps, seed, size, opponent, colour, komi):
    """Assert that observation, mask, reward and end equal the plain board's in every step.

    Returns the number of games that ended, and the number of points that superko forbade other than by a simple ko.
    """
    env = envs_c.make("go", 1, seed=seed, size=size, opponent=opponent, colour=colour, komi=komi)
    rng, actor = Pcg32(seed, 0), np.random.default_rng(seed)
    seen, infos = env.reset()
    board, (reward,), (over,), ends, superkos = None, [0], [False], 0, 0
    for step in range(steps):
        if board is None:
            agent = rng.below(2) if colour == 2 else colour
            board, ended, won = Board(size, komi), False, 0
            board.look()
            if opponent != NOBODY and agent == WHITE:
                board.move(answer(board, opponent, rng))
        board.look()
        superkos += sum(age > 1 for age in board.banned.values())
        assert np.array_equal(seen[0], board.planes()), f"step {step}"
        assert np.array_equal(infos["action_mask"][0], board.mask()), f"step {step}"
        assert (reward, over) == (won, ended), f"step {step}"
        if over:
            board, ends = None, ends + 1
            action = 0
        else:
            points = list(board.legal) if actor.random() < 0.95 else range(size * size + 1)
            action = int(actor.choice(points)) if points else size * size
            mover = board.to_play
            ended = board.move(action if action in board.legal else None)
            if not ended and opponent != NOBODY:
                board.look()
                ended = board.move(answer(board, opponent, rng))
            won = board.result(mover) if ended else 0
        seen, (reward,), (over,), _, infos = env.step(np.array([action]))
        if board is None:
            won, ended = 0, False
    return ends, superkos


GAMES = [  # steps, size, opponent, colour, komi
    (1500, 5, RANDOM, BLACK, 0.5), (1500, 5, GREEDY, 2, 4), (3000, 5, NOBODY, BLACK, 0),
    (700, 7, RANDOM, 2, 8.5), (500, 8, GREEDY, WHITE, 0), (400, 9, RANDOM, BLACK, 7.5), (400, 9, GREEDY, 2, 7.5),
    (500, 10, NOBODY, BLACK, 7), (200, 11, RANDOM, WHITE, 7), (200, 12, GREEDY, BLACK, 7), (200, 13, RANDOM, 2, 7),
    (150, 16, RANDOM, WHITE, 7), (150, 17, RANDOM, BLACK, 7), (180, 19, RANDOM, BLACK, 7), (150, 19, GREEDY, WHITE, 7),
]


@pytest.mark.parametrize("steps, size, opponent, colour, komi", [
    *((steps // 4, *options) for steps, *options in GAMES), *(pytest.param(*row, marks=pytest.mark.slow) for row in GAMES)])
def test_every_step_equals_the_plain_board(steps, size, opponent, colour, komi):
    ends, superkos = play_beside_a_plain_board(steps, 3, size, opponent, colour, komi)
    assert ends > 0 or size > 9
    assert superkos > 0 or (size, opponent) != (5, NOBODY)


# --- GNU Go ----------------------------------------------------------------------------------------------------------

def play_sensibly(size, games):
    """Play random games until no stone can be captured and only eyes are left.

    Returns the last observations, (games, 5, size, size), and for each game its actions and the masks before them.
    """
    table, rng = Table(size=size, num_envs=games, seed=size), np.random.default_rng(size)
    last, actions, masks, running = np.zeros_like(table.seen), [[] for _ in range(games)], [[] for _ in range(games)], games
    playing = np.ones(games, bool)
    while running:
        safe = np.pad(table.seen[:, OWN] & ~table.seen[:, ATARI] & 1, ((0, 0), (1, 1), (1, 1)), constant_values=1)
        eye = safe[:, 2:, 1:-1] & safe[:, :-2, 1:-1] & safe[:, 1:-1, 2:] & safe[:, 1:-1, :-2]
        wanted = table.mask[:, :-1] * (1 - eye.reshape(games, -1)) * rng.random((games, size * size))
        chosen = np.where(wanted.any(axis=1), wanted.argmax(axis=1), size * size)
        for i in np.flatnonzero(playing):
            actions[i].append(int(chosen[i]))
            masks[i].append(table.mask[i].copy())
        table.seen, _, over, _, infos = table.env.step(chosen)
        table.mask = infos["action_mask"]
        last[playing & over] = table.seen[playing & over]
        playing &= ~over
        running = playing.sum()
    return last, actions, masks


def replay(size, komi, actions):
    """The reward at the end of the same game with another komi."""
    table = Table(size=size, komi=komi)
    for action in actions:
        reward, over = table.act([action])
    assert over
    return reward


def compare_with_gnu_go(size, games):
    """Assert that legal moves, stones and score equal GNU Go's; returns how many games ended without dead stones."""
    names, gnu_go, settled = envs_c.make("go", size=size).core.actions, GnuGo(), 0
    for last, actions, masks in zip(*play_sensibly(size, games), strict=True):
        commands = [f"boardsize {size}", "clear_board", "komi 0"]
        for move, action in enumerate(actions):
            colour = ("black", "white")[move % 2]
            commands += [f"all_legal {colour}", f"play {colour} {names[action]}"]
        answers = gnu_go.ask([*commands, "list_stones black", "list_stones white", "final_score", "final_status_list dead"])
        assert not [text for text in answers if text[0] != "="]
        for mask, text in zip(masks, answers[3:-4:2], strict=True):
            assert {names[p] for p in np.flatnonzero(mask[:-1])} == set(text[1:].split())
        black, white = last[[OWN, OTHER] if last[TO_PLAY, 0, 0] else [OTHER, OWN]].reshape(2, -1)
        assert [{names[p] for p in np.flatnonzero(side)} for side in (black, white)] == [
            set(text[1:].split()) for text in answers[-4:-2]]
        if answers[-1][1:].split():  # dead stones: the game reached its last move before they were captured
            assert len(actions) == 2 * size * size
            continue
        settled += 1
        winner, _, by = answers[-2][1:].strip().partition("+")
        margin = float(by or 0) * {"B": 1, "W": -1, "0": 0}[winner]
        assert Board(size, points=np.where(black, BLACK, np.where(white, WHITE, 2)).tolist()).margin() == margin
        assert replay(size, margin, actions) == 0  # a draw with this komi and with no other
    gnu_go.close()
    return settled


needs_gnu_go = pytest.mark.skipif(GnuGo.PATH is None, reason="needs GNU Go: apt-get install gnugo")


@needs_gnu_go
@pytest.mark.parametrize("size, games", [
    (5, 60), (9, 40), (19, 1), *(pytest.param(size, 200, marks=pytest.mark.slow) for size in (5, 9, 19)),
])
def test_legal_moves_stones_and_score_are_those_of_gnu_go(size, games):
    assert compare_with_gnu_go(size, games) >= 0.9 * games
