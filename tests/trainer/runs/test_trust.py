"""Code that a run names runs only if the command line allows it, or if a training of the user has run the same files."""

import importlib.util
import json
import os
import py_compile
import stat
import sys
from pathlib import Path

import platformdirs
import pytest
from safetensors.numpy import save
from trust_support import CODE, MARK, NAMES, OF_TRAININGS, forget, name_code, ran, write_code
from verb_support import refused, run

from examples import play_exported
from trainer.__main__ import main
from trainer.config.games import GameName, find_game, hold, release
from trainer.runs import trust

VERBS = {"eval": "eval {} --episodes 2", "record": "record {} --episodes 2", "play": "play {} --terminal --episodes 1",
         "play --human": "play {} --human --episodes 1", "export": "export {} --format safetensors", "resume": "--resume {}",
         "arcade": "arcade --run {} --out page"}
# All verbs read a run's names in one place: eval and resume try each kind of code, the others a game and a part of the policy.
CASES = [(verb, kind) for verb in VERBS for kind in NAMES if verb == "resume" or (kind not in OF_TRAININGS and (
    verb == "eval" or kind in ("file", "encoder")))]


@pytest.mark.parametrize(("verb", "kind"), CASES)
def test_no_verb_runs_the_code_of_a_run_and_one_line_says_how_to_allow_it(crafted, capsys, verb, kind):
    name = name_code(Path("runs/one"), kind)
    error = refused(capsys, VERBS[verb].format("runs/one"))
    assert "wants to run code that no training of yours has used" in error and name in error and "--trust-code" in error
    assert ran() == []


@pytest.mark.parametrize("kind", NAMES)
def test_init_from_takes_weights_and_runs_no_code(crafted, capsys, kind):
    name_code(Path("runs/one"), kind)
    main(f"cartpole {CODE} --init-from runs/one --run-dir runs/new".split())
    assert ran() == []


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("verb", ["list", "compare runs/one runs/two"])
def test_list_and_compare_run_no_code(crafted, capsys, verb, kind):
    for folder in ("runs/one", "runs/two"):
        name_code(Path(folder), kind)
    run(capsys, verb)
    assert ran() == []


@pytest.mark.parametrize("kind", NAMES)
def test_code_beside_a_checkpoint_is_not_found_from_there(crafted, capsys, monkeypatch, kind):
    name_code(Path("runs/one"), kind)
    write_code(Path("runs/one"))
    monkeypatch.chdir("runs/one")
    refused(capsys, "--resume ../one")
    assert ran() == []


@pytest.mark.parametrize("options", ["", "--trust-code", "--encoder crafted:Small --memory crafted:Exported"])
def test_a_training_s_own_code_runs_again_and_other_users_allow_it(own, capsys, monkeypatch, options):
    if options:
        monkeypatch.setenv("XDG_DATA_HOME", str(own / "other"))
        refused(capsys, "eval runs/own --episodes 2")
        assert ran() == []
    for words in ("eval runs/own --episodes 2", "--resume runs/own"):
        run(capsys, f"{words} {options}")
        assert ran() == ["crafted", "helper"], words
        forget()


@pytest.mark.parametrize("game", ["crafted.py:Crafted-v0", "gym:crafted:Crafted-v0"])
def test_an_environment_s_code_and_the_modules_that_it_imports_are_allowed_from_then_on(here, capsys, game):
    run(capsys, f"{game} {CODE} --run-dir runs/own --stop-at 2048")
    assert ran() == ["crafted", "helper"]
    forget()
    run(capsys, "eval runs/own --episodes 2")
    assert ran() == ["crafted", "helper"]
    for file in ("crafted_helper.py", "crafted.py"):
        forget()
        with Path(file).open("a") as code:
            code.write(MARK.format("changed"))
        assert file in refused(capsys, "eval runs/own --episodes 2")
        assert "changed" not in ran()
    run(capsys, f"eval runs/own --episodes 2 --game {game}")
    assert ran().count("changed") == 2


@pytest.mark.parametrize("kind", [kind for kind, (section, _) in NAMES.items() if section is not None])
def test_every_kind_of_code_that_a_training_named_is_allowed_from_then_on(here, capsys, monkeypatch, kind):
    option, other = f"--{kind.replace('_', '-')} {NAMES[kind][1]}", here / "other"
    game = "gym:CartPole-v1" if kind == "wrap" else "cartpole"
    run(capsys, f"{game} {CODE.replace('--track none', '')} {option} --run-dir runs/own --stop-at 2048")
    assert ran() == ["crafted", "helper"]
    for words in ("eval runs/own --episodes 2", "--resume runs/own"):
        forget()
        run(capsys, words)
        assert ran() == ([] if kind in OF_TRAININGS and words.startswith("eval") else ["crafted", "helper"])
    forget()
    monkeypatch.setenv("XDG_DATA_HOME", str(other))
    assert option in refused(capsys, "--resume runs/own --stop-at 4096")
    assert ran() == []


def test_what_a_verb_was_allowed_once_is_not_remembered(own, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(own / "other"))
    for words in ("eval runs/own --episodes 2", "--resume runs/own"):
        run(capsys, f"{words} --trust-code")
    forget()
    ran()
    refused(capsys, "eval runs/own --episodes 2")
    assert ran() == []


@pytest.mark.parametrize("options", ["--encoder crafted:Small", "--memory crafted:Exported"])
def test_naming_some_of_the_code_does_not_allow_the_rest(own, capsys, monkeypatch, options):
    monkeypatch.setenv("XDG_DATA_HOME", str(own / "other"))
    assert ("memory crafted:Exported" if "encoder" in options else "encoder crafted:Small") in \
        refused(capsys, f"eval runs/own --episodes 2 {options}")


def test_another_name_than_the_run_s_is_refused(own, capsys):
    assert "--encoder must be crafted:Small" in refused(capsys, "eval runs/own --encoder crafted:Other")
    assert ran() == []


@pytest.mark.parametrize(("file", "left"), [("crafted.py", []), ("crafted_helper.py", ["crafted"])])
def test_a_changed_file_is_refused_until_it_is_as_it_was(own, capsys, file, left):
    before = Path(file).read_text()
    Path(file).write_text(before.replace("import os", "import os  # changed"))
    error = refused(capsys, "eval runs/own --episodes 2")
    assert file in error and "--trust-code" in error
    assert ran() == left
    forget()
    Path(file).write_text(before)
    run(capsys, "eval runs/own --episodes 2")


def test_a_file_of_bytecode_in_the_place_of_the_hashed_source_does_not_run(own, capsys):
    source, other = Path("crafted_helper.py"), Path("other.py")
    facts = source.stat()
    other.write_text(MARK.format("poison"))  # as long as "helper"
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    py_compile.compile(str(other), importlib.util.cache_from_source(str(source)), doraise=True)
    run(capsys, "eval runs/own --episodes 2")
    assert ran() == ["crafted", "helper"]


def test_every_file_of_a_package_counts(here, capsys):
    package = here / "crafted_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text("from own_encoders import Small\n")
    (package / "other.py").write_text("")
    run(capsys, f"cartpole {CODE} --encoder crafted_package.parts:Small --run-dir runs/own")
    forget()
    (package / "other.py").write_text(MARK.format("never imported"))
    run(capsys, "eval runs/own --episodes 2")
    forget()
    (package / "__init__.py").write_text(MARK.format("package"))
    refused(capsys, "eval runs/own --episodes 2")
    assert ran() == []


@pytest.mark.parametrize("package", [None, "crafted_package/__init__.py"])
def test_folders_without_an_init_file_may_hold_the_code(here, capsys, package):
    folder = here / "crafted_package" / "inner" / "deep"
    folder.mkdir(parents=True)
    (folder / "parts.py").write_text(MARK.format("parts") + "from own_encoders import Small\n")
    if package is not None:
        (here / package).write_text(MARK.format("package"))
    code = "crafted_package.inner.deep.parts:Small"
    run(capsys, f"cartpole {CODE} --encoder {code} --run-dir runs/own --stop-at 2048")
    forget()
    ran()
    run(capsys, "eval runs/own --episodes 2")
    assert ran() == (["package", "parts"] if package else ["parts"])
    forget()
    (folder / "parts.py").write_text(MARK.format("other") + "from own_encoders import Small\n")
    assert code in refused(capsys, "eval runs/own --episodes 2")
    assert ran() == []


def test_a_game_of_one_s_own_runs_again_until_a_file_beside_it_changes(here, capsys, monkeypatch):
    run(capsys, f"crafted.pyx {CODE} --run-dir runs/own")
    assert ran() == ["game"]
    for change in (None, "crafted.pyx", "more.pxd"):
        forget()
        if change is not None:
            with Path(change).open("a") as file:
                file.write("# changed\n")
            assert str(here / "crafted.pyx") in refused(capsys, "eval runs/own --episodes 2")
            refused(capsys, "--resume runs/own")
            assert ran() == []
        else:
            run(capsys, "eval runs/own --episodes 2")
    for options in ("--trust-code", "--game crafted.pyx"):
        run(capsys, f"eval runs/own --episodes 2 {options}")
    forget()
    run(capsys, "crafted.pyx --resume runs/own")
    run(capsys, "eval runs/own --episodes 2")


def test_what_was_hashed_is_compiled_though_the_file_changes_meanwhile(here):
    path = GameName(here / "crafted.pyx")
    hold(path)
    Path(path).write_text("this is no game")
    assert find_game(path).name == "toy"
    release(path)


@pytest.mark.parametrize("options", ["", "--trust-code", "--encoder crafted:Small"])
def test_a_preset_does_not_run_code_by_itself(here, capsys, options):
    Path("preset.toml").write_text('[policy]\nencoder = "crafted:Small"\n')
    words = f"cartpole {CODE} --preset preset.toml --run-dir runs/own {options}"
    if options:
        run(capsys, words)
        assert ran() == ["crafted", "helper"]
    else:
        assert "encoder crafted:Small" in refused(capsys, words)
        assert ran() == [] and not Path("runs").exists()


@pytest.mark.parametrize("words", ["eval", "record", "play", "export", "--resume"])
def test_an_empty_run_is_refused(there, capsys, words):
    assert main([words, ""]) == 2
    assert capsys.readouterr().err.startswith("error: RUN must be a run's folder")


def test_a_run_of_a_built_in_game_needs_no_list(there, capsys, monkeypatch):
    monkeypatch.setattr(trust, "hashes", lambda: pytest.fail("the list was read"))
    run(capsys, "eval runs/one --episodes 2")


def spoil(file, how):
    """Let others write to the list, or to its folder, or put a link in its place."""
    if how == "link":
        file.rename(file.with_name("elsewhere"))
        file.symlink_to(file.with_name("elsewhere"))
    else:
        (file if how == "file" else file.parent).chmod(0o666 if how == "file" else 0o777)


@pytest.mark.parametrize("how", ["file", "folder", "link"])
def test_a_list_that_others_can_write_is_refused(own, capsys, how):
    file = trust.file_of_hashes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    spoil(file, how)
    for words in ("eval runs/own --episodes 2", "--resume runs/own"):
        assert "only you may write to it" in refused(capsys, words)
    assert ran() == []


def test_a_torn_line_of_the_list_allows_nothing(own, capsys):
    file = trust.file_of_hashes()
    file.write_text("\n".join(line[1:] for line in file.read_text().splitlines()) + "\n\xff")
    refused(capsys, "eval runs/own --episodes 2")


@pytest.mark.parametrize("home", ["no folder", "none"])
def test_a_training_goes_on_if_the_list_cannot_be_written(here, capsys, monkeypatch, home):
    Path("data").write_text("no folder")
    if home == "none":
        monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_given, **_more: "~/.local/share/insertcoin")
    assert main(f"cartpole {CODE} --encoder crafted:Small --run-dir runs/own".split()) == 0
    assert "later commands will ask for --trust-code" in capsys.readouterr().err


@pytest.mark.parametrize("game", ["crafted.pyx", "gym:crafted:Crafted-v0"])
def test_the_example_asks_before_it_plays_a_game_that_is_code(here, game):
    about = {"game": game, "encoder": "mlp", "memory": "none", "options": {}, "env": {}, "states": {}}
    Path("policy.safetensors").write_bytes(save({}, {"policy": json.dumps(about)}))
    with pytest.raises(SystemExit, match=r"is code: read it, then allow it with --trust-code"):
        play_exported.play("policy.safetensors")
    assert ran() == []
    play_exported.make(about, 1, trust_code=True)
    assert ran() == (["game"] if game.endswith(".pyx") else ["crafted", "helper"])


def test_a_sweep_s_trials_run_the_code_that_the_sweep_names(here, capfd, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    words = f"sweep cartpole {CODE} --trials 1 --total-steps 2048 --encoder crafted:Small --out sweep"
    words = words.replace("--no-dashboard --no-gif ", "")
    assert main(words.split()) == 0, capfd.readouterr().err
    assert set(ran()) == {"crafted", "helper"}
