"""The plain versions of the kernels in one place, for the tests that compare the compiled versions with them."""

from trainer.kernels.actions.reference import (
    categorical,
    gaussian,
    gaussian_sample,
    log_softmax,
    random_bits,
    random_words,
    sample,
)
from trainer.kernels.lstm.reference import lstm_backward, lstm_forward, lstm_recurrence, lstm_recurrence_backward
from trainer.kernels.mingru.reference import mingru, mingru_backward
from trainer.kernels.rollout.reference import advantages, sample_step, stack_frames, store_step

__all__ = ["advantages", "categorical", "gaussian", "gaussian_sample", "log_softmax", "lstm_backward", "lstm_forward",
           "lstm_recurrence", "lstm_recurrence_backward", "mingru", "mingru_backward", "random_bits", "random_words", "sample",
           "sample_step", "stack_frames", "store_step"]
