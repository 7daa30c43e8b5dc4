"""docs/games holds exactly the pages that the games' own descriptions give."""

import pytest
from setup_support import ROOT, TOOLS, load

import envs_c

game_pages = load(TOOLS / "game_pages.py")
PAGES = game_pages.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_that_make_docs_writes(name):
    written = (ROOT / "docs" / "games" / name).read_text(encoding="utf-8")
    assert written == PAGES[name], "run `make docs`"


def test_every_game_has_a_page_and_no_page_is_left_over():
    names = {file.stem for file in (ROOT / "docs" / "games").glob("*.md")} - {"README"}
    assert names == set(envs_c.built_in())


@pytest.mark.parametrize("name", envs_c.built_in())
def test_a_page_names_every_feature_action_and_option(name):
    game, page = envs_c.game(name), PAGES[f"{name}.md"]
    assert game.compared_with and sum(feature.count for feature in game.features) > 0
    assert all(f"| {feature.name} |" in page and feature.help for feature in game.features)
    assert all(f"`{option}`" in page for option in game.options)
    assert game.actions[0] in page and game.actions[-1] in page
    assert (ROOT / "docs" / "gallery" / f"{name}.gif").is_file()
