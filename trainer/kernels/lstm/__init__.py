"""An LSTM: in single steps, and over whole sequences with its gradient."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.lstm.lstm import LstmBuffers, lstm, lstm_step, pack_lstm  # noqa: E402
from trainer.kernels.lstm.steps import lstm_backward, lstm_forward  # noqa: E402

__all__ = ["LstmBuffers", "lstm", "lstm_backward", "lstm_forward", "lstm_step", "pack_lstm"]
