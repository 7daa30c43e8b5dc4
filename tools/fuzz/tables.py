"""TOML files: presets, and the ranges of sweeps. Each is read, or is an error of one line."""

from dataclasses import asdict
from random import Random

import optuna
import tomli_w

from tools.fuzz.case import Box, Fault
from tools.fuzz.values import changed, damaged, deep, plain
from trainer.config import Config
from trainer.config.games import GameName
from trainer.config.preset import preset, preset_file, preset_text
from trainer.errors import ConfigError
from trainer.sweep.space import draw, read_space, values_of

FILE = "table.toml"
TEXTS = ["a = " + "[" * 100_000, "a = " + "{a=" * 10_000, "a = " + "9" * 10_000, "[" * 1000, "a." * 10_000 + "b = 1", "\ufeff",
         "[ppo]\ngamma = 1e999\n", "[ppo]\ngamma = nan\n", "[env]\noptions = 5\n", "[ppo]\n[ppo]\n", "ppo = []", "[[ppo]]\n",
         "[env]\nnum_envs = 0x" + "f" * 5000, "[run]\nresume = 'x'\n", "[env]\noptions = {a = 2026-01-01}\n"]


def setup(box: Box) -> None:
    """Read the tables to change."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    box.preset = {name: section for name, section in asdict(preset(GameName("breakout"))).items() if name != "game"}
    box.space = {"ppo": {"learning_rate": {"low": 0.0001, "high": 0.01, "log": True}, "horizon": {"choices": [16, 32]},
                         "minibatch": {"choices": [2048, 4096]}, "gamma": {"low": 0.9, "high": 1.0, "step": 0.01},
                         "target_kl": {"choices": ["none", 0.1]}},
                 "policy": {"lstm_size": {"low": 8, "high": 64, "step": 8}, "memory": {"choices": ["lstm", "none"]}},
                 "env": {"frame_skip": {"low": 1, "high": 8}}}
    (box.folder / FILE).touch()


def case(rng: Random, box: Box) -> None:
    """Write a file, and read it."""
    kind, path = rng.choice(["preset", "space"]), box.folder / FILE
    path.write_bytes(content(rng, getattr(box, kind)))
    if kind == "preset":
        config = box.attempt(lambda: own(lambda: preset_file(GameName("breakout"), str(path))), (ConfigError,))
        if config is not None:
            own(lambda: preset_text(config, "again", own=True))
        return
    ranges = box.attempt(lambda: own(lambda: read_space(str(path))), (ConfigError,))
    if ranges is None:
        return
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=rng.getrandbits(32)))
    base = Config("breakout")
    own(lambda: values_of(ranges, base))
    for _ in range(3):
        box.attempt(lambda: own(lambda: draw(ranges, study.ask(), base)), (ConfigError,))


def own(call):
    """The result of `call()`; a ConfigError must have one line."""
    try:
        return call()
    except ConfigError as error:
        if len(str(error).splitlines()) != 1:
            raise Fault(f"an error must be one line: {str(error)[:400]!r}") from None
        raise


def content(rng: Random, table: dict) -> bytes:
    """The bytes of a TOML file: a changed table, damaged bytes, or one of the odd texts."""
    if rng.random() < 0.1:
        return rng.choice(TEXTS).encode()
    table = some(rng, table)
    changes = rng.choice([0, 1, 1, 1, 2])
    for _ in range(changes):
        table = changed(rng, table) if isinstance(table, dict) else {"a": plain(rng)}
    try:
        data = tomli_w.dumps(table if isinstance(table, dict) else {"a": deep(rng)}).encode(errors="surrogatepass")
    except (ValueError, RecursionError, TypeError):  # integers of too many digits, lists too deep: not for this writer
        data = b"a = " + b"[" * 2000
    return damaged(rng, data) if rng.random() < 0.3 else data


def some(rng: Random, table: dict) -> dict:
    """Some of the settings of some of the sections."""
    return {name: {key: value for key, value in section.items() if value is not None and rng.random() < 0.3}
            for name, section in table.items() if rng.random() < 0.7}
