"""Pictures are drawn without a screen, and put away after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def put_away():
    mpl.use("Agg")
    yield
    plt.close("all")
