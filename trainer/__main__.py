"""The command line: `python -m trainer GAME` trains, `python -m trainer eval RUN` evaluates.

torch is loaded only once there is something to train or evaluate, so that help and errors come at once.
"""

import trainer.openmp  # noqa: F401  isort: skip  (before anything that loads OpenMP)

import difflib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import envs_c
from bridge.errors import BridgeError
from trainer.config import GYM, Config, ConfigError, overlay, preset
from trainer.errors import TrainerError

_MISSING = ("error: the trainer needs {}, which the games alone do not: pip install 'insertcoin[train]', "
            "or use the repository's `make setup`")
try:
    from trainer.options import PROG, parse_eval, parse_training
except ModuleNotFoundError as missing:
    print(_MISSING.format(missing.name), file=sys.stderr)
    sys.exit(2)

# The settings that a resumed run may change: none of them changes what it learns.
_FREE = {"env": {"num_threads"}, "policy": set(), "ppo": set(),
         "run": {"resume", "stop_at", "device", "serial", "dashboard", "checkpoint_seconds", "eval_episodes", "gif"}}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 2 for an error that is told in one line, 130 after Ctrl-C."""
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        if not argv or argv[0] in ("-h", "--help"):
            print(_overview())
        elif argv[0] == "eval":
            _evaluate(argv[1:])
        elif argv[0] == "profile":
            _profile(argv[1:])
        else:
            _train(argv)
    except (TrainerError, envs_c.EnvsError, BridgeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(_MISSING.format(error.name), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _train(argv: list[str]) -> None:
    game = None if argv[0].startswith("-") else argv[0]
    options = argv if game is None else argv[1:]
    resume = _value_of("--resume", options)
    if game is not None:
        game = _checked_game(game)
    if resume is None:
        if game is None:
            raise ConfigError(f"no game is named; write {PROG} GAME, where GAME is {_names()}")
        config = parse_training(game, options, preset(game))
    else:
        config = _resumed(game, options, resume)
    from trainer.train import train
    train(config)


def _resumed(game: str | None, options: list[str], resume: str) -> Config:
    """The settings of a saved run, with those changed that may be. Raises ConfigError for any other change."""
    from trainer.checkpoint import latest, read_meta
    path = latest(resume)
    try:
        saved = Config.from_dict(read_meta(path)["config"])
    except (ConfigError, KeyError) as error:
        raise ConfigError(f"{path} was written by another version of the trainer: {error}") from None
    if game not in (None, saved.game):
        raise ConfigError(f"{resume} is a run of {saved.game}, not of {game}; leave the game out, or name {saved.game}")
    saved = overlay(saved, {"run": {"resume": resume, "run_dir": str(path.parent), "stop_at": None}})
    config = parse_training(saved.game, options, saved)
    if Path(config.run.run_dir or saved.run.run_dir).resolve() != path.parent.resolve():
        raise ConfigError(f"run_dir is {config.run.run_dir}; a resumed run goes on in its own folder, {path.parent}")
    changed = _changed(saved, config)
    if changed:
        raise ConfigError(f"a resumed run keeps its settings, but {' and '.join(changed)}; leave "
                          f"{'them' if len(changed) > 1 else 'it'} out, or start a new run")
    return replace(config, run=replace(config.run, resume=resume, run_dir=saved.run.run_dir))


def _changed(saved: Config, config: Config) -> list[str]:
    """In words, the settings that differ and may not."""
    before, after = saved.to_dict(), config.to_dict()
    return [f"{name} is {after[section][name]} where it was {before[section][name]}" for section in _FREE
            for name in before[section].keys() - _FREE[section] - {"run_dir"}
            if before[section][name] != after[section][name]]


def _evaluate(argv: list[str]) -> None:
    options = parse_eval(argv)
    from trainer.evaluate import describe, evaluate_run
    result = evaluate_run(options.run, episodes=options.episodes, seed=options.seed, device=options.device,
                          greedy=options.greedy, out=options.out)
    print(describe(result))
    if options.out is not None:
        print(result["film"])


def _profile(argv: list[str]) -> None:
    if argv and argv[0] in ("-h", "--help"):
        print(f"usage: {PROG} profile GAME [--iterations N] [--out FILE] [options of training]\n\n"
              "Train for N iterations (default: 3), write their trace to FILE (default: trace.json.gz; open it at\n"
              "ui.perfetto.dev) and print how long every stage took.")
        return
    if not argv or argv[0].startswith("-"):
        raise ConfigError(f"no game is named; write {PROG} profile GAME, where GAME is {_names()}")
    game, options = _checked_game(argv[0]), argv[1:]
    iterations, options = _taken("--iterations", options, "3")
    out, options = _taken("--out", options, "trace.json.gz")
    if not iterations.isdecimal() or int(iterations) < 1:
        raise ConfigError(f"iterations is {iterations}; it may be an integer from 1 up")
    if not out.endswith((".json", ".json.gz")):
        raise ConfigError(f"out is {out!r}; it may be a file that ends in .json or .json.gz")
    if not Path(out).parent.is_dir():
        raise ConfigError(f"the trace's folder {str(Path(out).parent)!r} is not there; make it first")
    config = parse_training(game, options, preset(game))
    from trainer.profile import profile_run
    print(profile_run(config, int(iterations), Path(out)))
    print(f"{out}: the trace; open it at ui.perfetto.dev")


def _taken(option: str, argv: list[str], default: str) -> tuple[str, list[str]]:
    """The text given to an option, and the rest of the words."""
    value = _value_of(option, argv)
    if value is None:
        return default, argv
    index = argv.index(option) if option in argv else None
    return value, [word for k, word in enumerate(argv)
                   if not word.startswith(f"{option}=") and (index is None or k not in (index, index + 1))]


def _checked_game(name: str) -> str:
    """The name of a game, or the whole path of its .pyx; raises ConfigError for anything else, with the nearest name."""
    if name.endswith(".pyx"):
        envs_c.load(name)
        return str(Path(name).expanduser().resolve())  # so that the run can be resumed from another folder
    if name.startswith(GYM):
        return name
    games = envs_c.games()
    if name not in games:
        near = difflib.get_close_matches(name, [*games, "eval", "profile"], 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(f"there is no game {name!r}; {hint}it may be {_names()}, or eval for a trained agent")
    return name


def _value_of(option: str, argv: list[str]) -> str | None:
    """The text given to an option, before the full parse: which run is resumed decides what its defaults are."""
    for index, word in enumerate(argv):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and index + 1 < len(argv):
            return argv[index + 1]
    return None


def _names() -> str:
    return "one of " + ", ".join(envs_c.games())


def _overview() -> str:
    return f"""\
usage: {PROG} GAME [options]      train an agent; ends with an evaluation, curves and a GIF
       {PROG} --resume RUN        go on with a run that was stopped
       {PROG} eval RUN [options]  evaluate a trained agent, and film it
       {PROG} profile GAME        trace a training, and tell where its time goes

GAME is {_names()}, or a path to a game's .pyx,
or gym:ID for any environment that Gymnasium makes, such as gym:ALE/Breakout-v5.
RUN is a run's folder, or one of its checkpoints.

  {PROG} breakout                          train with the settings of the game's preset
  {PROG} breakout --seed 2 --device cpu    change some of them
  {PROG} breakout --help                   list all of them, with their defaults
  {PROG} eval --help                       list the options of an evaluation"""


if __name__ == "__main__":
    sys.exit(main())
