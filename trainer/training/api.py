"""The Python API: `from trainer import train, load, preset, evaluate, Session`.

Settings have the names of the command line with underscores, such as total_steps=200_000. A class or a function of the user's
own may be given itself instead of its import path, if it is defined in a module that can be imported again.
"""

import contextlib
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import trainer.config.preset as presets
from envs_c.errors import Closed
from envs_c.text import say, shown
from envs_c.views import DEFAULT
from trainer.config import Config, EnvConfig
from trainer.config.config import sizes_checked_later
from trainer.config.fields import Section, within
from trainer.config.games import GameName, checked_game, place_of, whole
from trainer.config.sections import EPISODES, seed_setting
from trainer.environments import spaces_of
from trainer.errors import CheckpointError, ConfigError, LearningError, RunError, SettingError, TrustError
from trainer.files import user_path
from trainer.play import evaluate as evaluation
from trainer.policy.load import load_policy
from trainer.policy.policy import Policy
from trainer.runs import checkpoint, trust
from trainer.runs.find import find
from trainer.runs.folder import open_folder, refuse_files, refuse_run
from trainer.runs.resume import resumed_config, saved_config
from trainer.training.arguments import by_section, changed, require_known, text_of, value_of
from trainer.training.build import make_session
from trainer.training.callbacks import Callback, Callbacks
from trainer.training.initial import resolved
from trainer.training.session import TrainingSession
from trainer.training.train import explain, iterate, judge
from trainer.training.train import train as train_run

Metrics = dict[str, float | None]
_OPTION = re.compile(r"--([a-z-]+) (?:'([^']*)'|(\S+?)(?=[,;]?(?:\s|$)))")  # with its value, in an error


def preset(game: str, file: str | Path | None = None, **settings: Any) -> Config:
    """The settings of a game's preset, with some of them changed.

    game: a name as on the command line, such as "breakout", "my_game.pyx" or "gym:CartPole-v1". An environment of Gymnasium is
        made once, with these settings: its preset follows from its spaces.
    file: a preset of your own, a .toml file, in place of the game's.
    settings: by name, such as total_steps=1_000_000, seed=2.

    Raises ConfigError for an unknown game or setting, for the first bad value, and if an environment cannot be made.
    """
    name = checked_game(game)
    require_known(settings)
    if file is not None:
        return changed(presets.preset_file(name, text_of("file", file, "'best.toml'")), settings)
    start = presets.preset(name, _spaces(name, settings), settings.get("view", DEFAULT), bool(settings.get("self_play", False)))
    return changed(start, settings)


def train(config: Config | str | None = None, *, resume: str | Path | None = None, on_rollout: Callback | None = None,
          on_update: Callback | None = None, on_episode: Callback | None = None, on_checkpoint: Callback | None = None,
          trust_code: bool = False, **settings: Any) -> Path:
    """Train a run from start to end, as the command line does: with a folder, checkpoints, log, and an evaluation at the end.

    config: of `preset`, or the name of a game, which means its preset. With `resume` None, or the run's game: if its file has
        moved, the new place.
    resume: a RUN to go on with; settings that are free on a resume may be given, and more total_steps.
    on_rollout, on_update, on_episode, on_checkpoint: see `Callbacks`.
    trust_code: load also code that the settings name, which neither this call names nor a training of yours has used.
    settings: changes of the config.

    Returns the run's folder. Raises ConfigError and its relatives before anything is written, and what a callback raises.
    """
    callbacks = Callbacks(on_rollout, on_update, on_episode, on_checkpoint)
    chosen, named, _ = _chosen(config, resume, settings)
    with _admitted(chosen, trust_code, named):
        return train_run(chosen, lambda made: Session._adopt(made, callbacks))


@dataclasses.dataclass(frozen=True)
class Asked(Section):
    """The arguments of an evaluation, which are checked as settings are."""

    episodes: int = within(100, 1, EPISODES)
    seed: int = seed_setting()
    greedy: bool = False


class Agent(NamedTuple):
    """A trained policy, and the config of its run."""

    policy: Policy
    config: Config

    def evaluate(self, episodes: int = 100, *, seed: int = 1, greedy: bool = False) -> dict[str, Any]:
        """Play whole episodes: mean, its 95% interval, median, lowest and highest score, mean length, and the protocol.

        episodes: number of episodes.
        seed: the same seed gives the same episodes.
        greedy: take the most likely action instead of sampling.

        Raises SettingError.
        """
        return _evaluated(self.policy, self.config, episodes, seed, greedy)


def load(run: str | Path, device: str = "cpu", *, game: str | None = None, trust_code: bool = False) -> Agent:
    """The agent of a run: policy, config = load("runs/mine").

    run: a RUN as on the command line: a folder, a checkpoint, the beginning of a name under runs, or "last".
    device: of the policy, as the setting.
    game: the run's game, to load it if it is code; if its file has moved, the new place.
    trust_code: load also code that the run names and no training of yours has used.

    Raises SettingError for a run that is no text or Path and for another game than the run's, RunError if there is no such run,
    TrustError, and CheckpointError.
    """
    with _in_python():
        path = checkpoint.latest(find(text_of("run", run, "'last'")))
        named, config = None if game is None else whole(text_of("game", game, "'my_game.pyx'")), checkpoint.read_config(path)
        config = dataclasses.replace(config, game=place_of(config.game, named))
        if named not in (None, config.game):
            raise SettingError("game", f"must be {config.game}, which the run has, not {named}: leave it out, or choose "
                                       "another run")
        with trust.admitted(config, path, trust_code=trust_code, named={config.game} if named else ()):
            return Agent(*load_policy(path, device, trust_code=trust_code))


class Session(TrainingSession):
    """A training in your own loop. It writes nothing by itself.

        with Session("cartpole", total_steps=200_000) as session:
            for metrics in session:
                print(session.step, metrics["score_mean"])

    Iterating plays a rollout, learns from it and gives the metrics of this iteration, until total_steps (or stop_at) is reached
    or `stop` was called; after a `break` a second loop goes on. The parts may be read and changed between iterations: policy,
    storage (the last rollout), learner, pipeline (the environments). Arguments and errors as for `train`; a resumed session
    goes on from the checkpoint. After `close`, or the end of `with`, it can be saved and evaluated, and a loop raises
    envs_c.Closed.
    """

    def __init__(self, config: Config | str | None = None, *, resume: str | Path | None = None,
                 on_rollout: Callback | None = None, on_update: Callback | None = None, on_episode: Callback | None = None,
                 on_checkpoint: Callback | None = None, trust_code: bool = False, **settings: Any):
        callbacks = Callbacks(on_rollout, on_update, on_episode, on_checkpoint)
        chosen, named, path = _chosen(config, resume, settings)
        chosen = resolved(chosen)
        with _admitted(chosen, trust_code, named):
            run = dataclasses.replace(chosen.run, resume=None, run_dir=None)
            made = make_session(dataclasses.replace(chosen, run=run), resume=path)
        self._take(made, callbacks)
        say(*self.notes)

    @classmethod
    def _adopt(cls, made: TrainingSession, callbacks: Callbacks) -> "Session":
        """The same training with the public methods and callbacks."""
        session = cls.__new__(cls)
        session._take(made, callbacks)
        session._described.update(made.folders)  # the training itself describes its run
        return session

    def _take(self, made: TrainingSession, callbacks: Callbacks) -> None:
        super().__init__(**{one.name: getattr(made, one.name) for one in dataclasses.fields(made)})
        self.callbacks = callbacks
        self._begin = self.step
        self._described: set[Path] = set()  # resolved folders whose config.json names this session

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Metrics]:
        config = self.config
        end = config.num_iterations * config.batch_steps
        while self.step < min(end, config.run.stop_at or end) and not self.stopped:
            if self.closed:
                raise Closed(f"this session of {config.game} was closed at step {self.step:,}: loop over it inside of `with`, "
                             "or save it and go on with Session(resume=FOLDER)")
            try:
                metrics = iterate(self)
            except LearningError as error:
                raise LearningError(explain(self, error)) from None
            yield metrics | judge(self, lambda: False)

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint into a folder, and at first config.json and README.md; returns the checkpoint's path.

        Every command takes the folder as a RUN, but `compare`, which needs the scores of a training's metrics.jsonl.

        folder: a new or an empty one, or one that this session has saved to or was resumed from.
        Raises RunError if it holds something else.
        """
        folder = user_path(text_of("folder", folder, "'runs/mine'"))
        if folder.exists() and folder.resolve() not in self.folders:
            if not folder.is_dir():
                raise RunError(f"folder must be a folder or the name of a new one, not {folder}, which is a file")
            with _in_python():
                refuse_run(folder, "folder")
                refuse_files(folder, "folder")
        path = super().save(folder)
        if self.ranks.rank == 0 and folder.resolve() not in self._described:
            with _in_python(), open_folder(folder, self.config.to_dict(), self.facts, self._begin):
                self._described.add(folder.resolve())
        return path

    def evaluate(self, episodes: int = 100, *, seed: int = 1, greedy: bool = False) -> dict[str, Any]:
        """Play whole episodes with the present policy; see `Agent.evaluate`. The training's own environments are not used."""
        return _evaluated(self.policy, self.config, episodes, seed, greedy)


def evaluate(run: str | Path, episodes: int = 100, *, seed: int = 1, greedy: bool = False, device: str = "cpu",
             game: str | None = None, trust_code: bool = False) -> dict[str, Any]:
    """Evaluate a saved run; see `load` and `Agent.evaluate`."""
    return load(run, device, game=game, trust_code=trust_code).evaluate(episodes, seed=seed, greedy=greedy)


def _evaluated(policy: Policy, config: Config, episodes: int, seed: int, greedy: bool) -> dict[str, Any]:
    Asked(episodes, seed, greedy)
    return evaluation.play(policy, config.game, config.env, episodes=episodes, seed=seed, greedy=greedy).summary()


def _chosen(config: Config | str | None, resume: str | Path | None,
            settings: dict[str, Any]) -> tuple[Config, set[str], Path | None]:
    """The settings of a training, the names of code in the call, and the checkpoint to resume from."""
    if (config is None and resume is None) or (isinstance(config, Config) and resume is not None):
        raise ConfigError("a training needs one of these: a config or a game, or resume=RUN; give one of them, not "
                          f"{'both' if resume is not None else 'neither'}")
    require_known(settings, (one.name for one in dataclasses.fields(Callbacks)))
    named = [value_of(name, value) for name, value in settings.items() if name != "options"]
    texts = {part for text in named if isinstance(text, str) for part in (text, *text.split(","))}
    if resume is not None:
        run = find(text_of("resume", resume, "'last'"))
        path = checkpoint.latest(run)
        with _in_python():
            game = None if config is None else whole(text_of("config", config, "'my_game.pyx'"))
            saved = saved_config(path, run, game, lambda game, run: f"train({game!r}, resume={run!r})")
        texts |= {saved.game} if game else set()
        return resumed_config(path, saved, changed(saved, settings), str), texts, path
    if not isinstance(config, (str, Config)):
        raise ConfigError(f"config must be a Config or the name of a game, not {shown(config)}")
    chosen = preset(config, **settings) if isinstance(config, str) else changed(config, settings)
    if isinstance(config, str):
        texts.add(chosen.game)
    if chosen.run.resume is not None:
        raise ConfigError("resume is no setting of a config: write train(resume=RUN)")
    return chosen, texts, None


def _spaces(game: GameName, settings: dict[str, Any]) -> presets.Spaces | None:
    """The facts that decide the preset of an environment of Gymnasium, which is made once for it; None for other games."""
    if not presets.follows_from_spaces(game):
        return None
    with sizes_checked_later():  # they fit the preset, which is not known yet
        config = Config(game, EnvConfig(**by_section(settings).get("env", {})))
    with _admitted(config, False, {game, *config.env.wrappers}):  # the call names this code
        return spaces_of(game, config.env)


@contextlib.contextmanager
def _admitted(config: Config, trust_code: bool, named: set[str]) -> Iterator[None]:
    """Let the code of a training be loaded in this context, if it is allowed. Raises TrustError."""
    origin = config.run.resume or "the config"
    with _in_python(), trust.admitted(config, origin, trust_code=trust_code, named=named, learns=True, trains=True,
                                      game_option=""):
        yield


@contextlib.contextmanager
def _in_python() -> Iterator[None]:
    """Write the options in an error about code or about a run's folder as arguments of Python."""
    try:
        yield
    except (TrustError, RunError, CheckpointError) as error:
        text = str(error).replace("--trust-code", "trust_code=True").replace("--run-dir", "run_dir").replace("--game,", "game,")
        text = _OPTION.sub(lambda one: f"{one[1].replace('-', '_')}={(one[2] or one[3])!r}", text)
        if text == str(error):  # perhaps of a callback
            raise
        raise type(error)(text) from None
