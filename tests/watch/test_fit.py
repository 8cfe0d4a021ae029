"""The metrics of one fit."""

from gpucheck.commands.watch.fit import Fit


class Model:
    """A model without steps."""


def test_best_value_of_a_metric_and_its_epoch():
    fit = Fit(Model(), "jax", print, 5.0, 60.0)
    for epoch, value in (4, 0.3), (9, 0.2), (14, 0.4):  # validation_freq=5, and epochs are numbered from 0
        fit.epoch_ends(epoch, {"loss": 1.0, "val_loss": 1.0, "val_binary_crossentropy": value})
    metric = fit.summary([]).validation
    assert (metric.name, metric.best, metric.best_epoch) == ("val_binary_crossentropy", 0.2, 10)
