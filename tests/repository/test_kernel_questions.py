"""No module outside trainer/kernels asks how a kernel runs, and `make lint` finds one that does."""

import pytest

from tools import kernel_questions


def test_nothing_outside_of_the_kernels_asks_how_they_run(capsys):
    assert kernel_questions.main() == 0, capsys.readouterr().err


@pytest.mark.parametrize(("line", "text"), [
    ("if kernels.takes_tiles(x): pass", "takes_tiles"), ("if self.fused: pass", "fused"), ("if x.is_cuda: pass", "is_cuda"),
    ("if device.type == 'cuda': pass", "type of a device"), ("if x.device.type != 'cpu': pass", "type of a device"),
    ("if isinstance(policy.encoder, (Other, encoders.Mlp)): pass", "the type Mlp"),
    ("if type(policy.distribution) is not Discrete: pass", "the type Discrete")])
def test_a_question_is_found(line, text):
    (number, found), = kernel_questions.questions(f"\n{line}\n", "trainer/policy/lstm.py")
    assert number == 2 and text in found


def test_files_may_ask_about_the_device_itself_but_not_about_kernels():
    source = "if x.device.type == 'cuda' or kernels.takes_tiles(x): pass"
    (_, found), = kernel_questions.questions(source, "trainer/ranks.py")
    assert "takes_tiles" in found


def test_the_files_that_ask_about_a_device_exist():
    assert all((kernel_questions.ROOT / file).is_file() for file in kernel_questions.DEVICES)
