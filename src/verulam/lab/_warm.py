"""Work done once in the process that others are copies of, so that none of them begins cold.

Compiled loops are loaded at their first call, which takes longer than a picture. Importing this
module makes these calls; it is imported nowhere but there.
"""

import os
import warnings
from importlib import import_module

from verulam.base import publish
from verulam.lab._jobs import estimate, picture
from verulam.lab._state import Generated, LearnerSetting, PlaneState

#: What the other pages ask for.
WORK = ("_chapters.pictures", "_studies.comparing", "_studies.looking")
#: Of the first learners of a plane, those whose loops take time to load.
LEARNERS = (
    "nonparametric.KNeighborsClassifier",
    "kernel.SupportVectorClassifier",
    "tree.DecisionTreeClassifier",
    "neural.MLPClassifier",
)


def warm() -> None:
    """Load what pages ask for, and make a picture and an estimate of each learner."""
    for module in WORK:
        import_module(f"verulam.lab.{module}")
    settings = tuple(LearnerSetting(name) for name in LEARNERS)
    state = PlaneState(data=Generated("Gaussians", 200, seed=1), learners=settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in range(len(settings)):
            picture(state, place)
        estimate(state, 0)


# The processes share the cores: threads of theirs would only compete, and a copy has none of them.
os.environ["VERULAM_THREADS"] = "1"
warm()
# Questions arrive under their public names. Looked up among what is loaded, they need no pages,
# whose libraries take seconds to load.
publish("verulam.lab")
