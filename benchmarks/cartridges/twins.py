"""Our games as `open_state.Machine`: the layouts of their structs, as `rules.pxd` of each game declares them."""

import numpy as np

from benchmarks.cartridges.open_state import Machine, struct

NO_UFO, BURST = 224, 6     # the line of a UFO that is not there; from this timer on it explodes, with a shape for each BURST
NO_ROCK, BROKEN = 255, 64  # the kind of an empty slot; bit of the kind of a rock that was hit in this frame


class Breakout(Machine):
    GAME = "breakout"
    STATE = struct(("x y vx vy", "i4"), ("score", "i2"),
                   ("gone rules lives in_play met hits turn knob paddle width", "u1"), ("brick", "u1", 108),
                   ("points lost", "u1"))


class Pong(Machine):
    GAME = "pong"
    STATE = struct(("x y free enemy paddle before knob vx vy", "i4"), ("clock", "u4"), ("action", "i4"), ("up phase", "u1"),
                   ("score", "u1", 2), ("points rules rest", "u1"))


class Freeway(Machine):
    GAME = "freeway"
    STATE = struct(("x wait pause move", "i2", 16), ("frame", "i4"), ("pace kind", "u1", 10),
                   ("y score timer pose touch late met register changing difficulty rules unseen fell", "u1"))


class Asterix(Machine):
    GAME = "asterix"
    STATE = struct(("score next_bonus", "i4"), ("x", "i2", 8), ("kind wait", "u1", 8), ("hero", "i2"),
                   ("lane right lives stage taken bonus stun title clock held touch met_obelix rules old_stage "
                    "old_lanes late again", "u1"))


class Seaquest(Machine):
    GAME = "seaquest"
    STATE = struct(("score", "i4"), ("x guest", "i2", 4), ("x_ship y torpedo patrol", "i2"), ("frame pace rescues", "u2"),
                   ("alive right sub diver pose chased", "u1", 4),
                   ("phase facing torpedo_right lives oxygen crew sinks chance stroke enemy_part diver_part shot_part", "u1"),
                   ("sway tint rules", "u1"))


class SpaceInvaders(Machine):
    GAME = "space_invaders"
    STATE = struct(
        ("score", "i4"), ("x y saucer_x cannon shown shot_x shot_y", "i2"), ("bomb_x bomb_y", "i2", 2), ("row", "u1", 6),
        ("shield", "u1", (3, 9)), ("gone", "u1", 24), ("count wave lives clock seed first", "u1"), ("way saucer_way", "i1"),
        ("saucer_wait pose phase sheltered blast blast_row blast_column rules emptied", "u1"),
        ("late old_shot old_blast old_blast_row old_blast_column points", "u1"), ("old_saucer", "i2"),
        ("old_bomb", "u1", 2), ("old_shield", "u1", (3, 9)))
    SHOWN = ("late", "points", *(name for name in STATE.names if name.startswith("old_")))  # what only the picture needs

    def change(self, **fields):
        """Set fields of the struct. The picture then shows them at once, without the last frame's hits."""
        super().change(**{"late": 0, "points": 0, **fields})


class Asteroids(Machine):
    GAME = "asteroids"
    STATE = struct(("x y score", "i4"), ("vx vy", "i2"), ("numbers frame", "u2"),
                   ("lives way drift blast hidden fired dived watch rocks broken rules", "u1"),
                   ("shot_x shot_y shot_way shot_life", "u1", 3),
                   ("ufo_x ufo_y ufo_course ufo_small ufo_timer ufo_burst", "u1"), ("rock_x rock_y kind", "u1", 16),
                   ("rocks_seen", "u1", 16), ("ship_seen shots_seen ufo_seen ufo_seen_x ufo_seen_y", "u1"),
                   ("gains lives_seen", "u1", 2))
    SHOWN = ("rocks_seen", "ship_seen", "shots_seen", "ufo_seen", "ufo_seen_x", "ufo_seen_y", "gains", "lives_seen")

    def change(self, **fields):
        """Set fields of the struct. The picture then shows them at once."""
        super().change(**fields)
        if not fields.keys() & set(self.SHOWN):
            s = self.read()
            ufo = 0 if s["ufo_y"] == NO_UFO else 1 + s["ufo_timer"] // BURST if s["ufo_timer"] >= BURST else 1
            super().change(rocks_seen=NO_ROCK - s["kind"], ship_seen=0 if s["hidden"] else 1 + s["blast"],
                           shots_seen=(s["shot_life"] > 0) @ [1, 2, 4], ufo_seen=ufo, ufo_seen_x=s["ufo_x"],
                           ufo_seen_y=s["ufo_y"], gains=0, lives_seen=0)

    @staticmethod
    def rocks_as_fields(*rocks) -> dict:
        """The fields of rocks. A rock is (x, line, kind, whether it sinks)."""
        fields = np.full((3, 16), [[4], [0], [NO_ROCK]])
        free = [0, 8]
        for x, y, kind, sinks in rocks:
            fields[:, free[sinks]] = x, y % 89, kind
            free[sinks] += 1
        return {"rock_x": fields[0], "rock_y": fields[1], "kind": fields[2], "rocks": len(rocks),
                "broken": sum(kind & BROKEN != 0 for _, _, kind, _ in rocks)}

    def put_rocks(self, *rocks):
        """Replace all rocks."""
        self.change(**self.rocks_as_fields(*rocks))

    def rocks_now(self):
        """The rocks, sorted, as `put_rocks` takes them."""
        s = self.read()
        return sorted((int(s["rock_x"][k]), int(s["rock_y"][k]), int(s["kind"][k]), k >= 8)
                      for k in range(16) if s["kind"][k] != NO_ROCK)

    def state(self) -> dict:
        """The fields as the cartridge's reader gives them, with sorted rocks: two at the same distance have one order."""
        struct = self.read()
        return {name: struct[name] for name in self.STATE.names} | self.rocks_as_fields(*self.rocks_now())

    def ufo_now(self) -> list | None:
        """The UFO: [x, line, bits of its course, whether it is small], or None."""
        x, line, course, small = (int(self.read()[name]) for name in ("ufo_x", "ufo_y", "ufo_course", "ufo_small"))
        return None if line == NO_UFO else [x, line, course, small == 1]


class Enduro(Machine):
    """`shown` is the same struct one frame ago, which the picture shows; `change` sets it too."""

    GAME = "enduro"
    STATE = struct(("odometer", "i4"), ("day frame left speed", "i2"), ("x", "i1"),
                   ("travelled phase rolls marks bend hills crash serial rest", "u1"), ("random", "u1", 2), ("slot", "u1", 7),
                   ("changes", "u1"), ("shown", "u1", 32))

    def change(self, **fields):
        super().change(**fields)
        super().change(shown=np.frombuffer(self.read().tobytes(), np.uint8, 32))


TWINS = {twin.GAME: twin for twin in (Breakout, Pong, Asterix, Freeway, Seaquest, SpaceInvaders, Asteroids, Enduro)}
