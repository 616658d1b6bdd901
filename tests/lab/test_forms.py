"""Fields of parameters, the widgets made of them, and tables as points."""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import param
import pytest

from verulam.base import DataError
from verulam.lab import (
    LearnerSetting,
    ParameterField,
    Picture,
    PlaneState,
    Points,
    parameter_fields,
    plane,
    plane_learners,
)
from verulam.lab._draw import PlaneFigure, joined
from verulam.lab._jobs import LEVELS, picture
from verulam.lab._lines import Line
from verulam.lab._notebook import OPEN
from verulam.lab._pages.plane_view import PlaneView, gaussian_lines, read_gaussians
from verulam.lab._pages.table import ComparisonView
from verulam.lab._pages.tile import Tile
from verulam.lab._parameters import check_setting
from verulam.lab._pool import Outcome, Pool
from verulam.lab._shell import CodeDrawer, Session, words
from verulam.lab._state import TASKS, Generated
from verulam.lab._studies.answers import table_html
from verulam.lab._studies.comparing import describe
from verulam.lab._studies.questions import TableQuestion
from verulam.lab._style import DARK, LIGHT, class_palette, density_palette, mixed, page_style
from verulam.lab._table_points import FileLoader, plane_columns, points_of_table, read_upload
from verulam.lab._widgets import NOTHING, NUMBER, ParameterForm


class Deaf(Pool):
    """A pool that does nothing."""

    def submit(self, session, kind, function, *arguments, deliver, urgent=True, limit=None):
        self.last = kind


def field_named(learner, name):
    return next(item for item in parameter_fields(learner) if item.name == name)


def test_constraints_become_fields():
    cost = field_named("kernel.SupportVectorClassifier", "C")
    assert (cost.kind, cost.default, cost.ratio, cost.main) == ("number", 1.0, True, True)
    depth = field_named("tree.DecisionTreeClassifier", "max_depth")
    assert (depth.kind, depth.optional, depth.low) == ("integer", True, 1)
    width = field_named("nonparametric.KernelDensity", "bandwidth")
    assert width.words == ("likelihood", "plug_in", "scott", "silverman")
    intercept = field_named("kernel.SupportVectorClassifier", "fit_intercept")
    assert (intercept.kind, intercept.default) == ("switch", True)
    kernel = field_named("kernel.SupportVectorClassifier", "kernel")
    assert "rbf" in kernel.words
    assert "precomputed" not in kernel.words
    assert "support" in kernel.meaning.lower() or kernel.meaning


def test_every_learner_of_the_plane_has_a_form():
    for task in TASKS:
        names = plane_learners(task)
        assert len(names) >= 7
        for name in names:
            form = ParameterForm(LearnerSetting(name), print)
            assert set(form.widgets) <= {item.name for item in parameter_fields(name)}
            for item in parameter_fields(name):
                assert isinstance(item, ParameterField)
                assert math.isfinite(item.low)
                assert math.isfinite(item.high)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_neighbors", "five", "kind integer"),
        ("n_neighbors", 2.5, "kind integer"),
        ("n_neighbors", True, "kind integer"),
        ("weights", "none", "distance, uniform"),
        ("colour", 1, "no field 'colour'"),
    ],
)
def test_values_that_do_not_fit_are_refused(name, value, message):
    setting = LearnerSetting("nonparametric.KNeighborsClassifier", {name: value})
    with pytest.raises(DataError, match=message):
        check_setting(setting, "classification")
    with pytest.raises(DataError, match="no learner of the plane for density"):
        check_setting(LearnerSetting("nonparametric.KNeighborsClassifier"), "density")


def test_widgets_report_what_differs_from_the_defaults():
    settings = []
    form = ParameterForm(LearnerSetting("tree.DecisionTreeClassifier"), settings.append)
    form.widgets["max_depth"].value = NUMBER
    assert settings[-1].parameters == {"max_depth": 1}
    form.widgets["max_depth"].value = NOTHING
    assert settings[-1].parameters == {}
    form.widgets["criterion"].value = "gini"
    assert settings[-1].parameters == {"criterion": "gini"}
    form = ParameterForm(LearnerSetting("nonparametric.KNeighborsClassifier"), settings.append)
    slider = form.widgets["n_neighbors"]
    with param.edit_constant(slider):
        slider.value_throttled = 9
    assert settings[-1].parameters == {"n_neighbors": 9}


def test_gaussians_are_read_and_refused():
    recipe = Generated()
    assert read_gaussians(gaussian_lines(recipe)) == (recipe.means, recipe.covariances)
    with pytest.raises(DataError, match="two to five lines, not 0"):
        read_gaussians("")
    with pytest.raises(DataError, match="five numbers"):
        read_gaussians("0 0 1 0 1\n1 2 3")
    with pytest.raises(DataError, match="positive definite"):
        read_gaussians("0 0 1 0 1\n0 0 1 2 1")


def test_tables_become_points():
    table = pd.DataFrame(
        {"a": [1.0, 2.0, None, 3.0], "b": [10, 20, 30, 30], "kind": ["x", "y", "x", "y"]}
    )
    points = points_of_table(table, "a", "b", "kind", scale=False)
    assert points == Points((1.0, 2.0, 3.0), (10.0, 20.0, 30.0), (0, 1, 1), ("a", "b"))
    scaled = points_of_table(table, "a", "b")
    assert scaled.names == ("a (scaled)", "b (scaled)")
    assert sum(scaled.horizontal) == pytest.approx(0.0, abs=1e-3)
    with pytest.raises(DataError, match="two different columns"):
        points_of_table(table, "a", "a")
    with pytest.raises(DataError, match="two rows"):
        points_of_table(table.head(1), "a", "b")
    with pytest.raises(DataError, match="at most 5 classes, not 6"):
        points_of_table(
            pd.DataFrame({"a": range(6), "b": range(6)}).assign(c=range(6)), "a", "b", "c"
        )
    with pytest.raises(DataError, match="finite"):
        points_of_table(pd.DataFrame({"a": [1.0, math.inf], "b": [1.0, 2.0]}), "a", "b")


def test_uploads_are_read_by_the_readers():
    assert read_upload("my.csv", b"a,b\n1,2\n3,4\n").shape == (2, 2)
    with pytest.raises(DataError, match=r"must end in one of .*not 'run.sh'"):
        read_upload("run.sh", b"echo")
    with pytest.raises(DataError, match="at most 50 MB"):
        read_upload("my.csv", bytes(50_000_001))


def test_a_file_is_read_by_the_pool_and_refused_in_words():
    said, shown = [], []
    loader = FileLoader(Session(Deaf()), shown.append, lambda text, wrong=False: said.append(text))
    loader._dropped(SimpleNamespace(new={"run.sh": b"echo"}))
    assert "must end in one of" in said[-1]
    loader._dropped(SimpleNamespace(new={"a.csv": b"a,b,kind,note\n1,2,x,p\n3,5,y,q\n4,4,x,r\n"}))
    assert loader._session.pool.last == "file"
    loader._read(Outcome("failed", message="no table"))
    assert said[-1] == "no table"
    assert not loader._choice.visible
    loader._read(Outcome("done", plane_columns("a.csv", b"a,b,kind\n1,2,x\n3,5,y\n4,4,x\n")))
    loader._load()
    assert shown[0].codes == (0, 1, 0)
    assert shown[0].names == ("a (scaled)", "b (scaled)")


def test_of_a_file_the_plane_gets_what_it_can_show():
    rows = "".join(f"{i},{-i},id{i},{i % 2}\n" for i in range(30))
    table = plane_columns("a.csv", f"a,b,name,side\n{rows}".encode())
    assert list(table.columns) == ["a", "b", "side"]
    with pytest.raises(DataError, match="two columns of numbers"):
        plane_columns("a.csv", b"a,word\n1,x\n2,y\n")


def test_points_are_added_and_erased_without_a_mouse():
    view = PlaneView(Session(Deaf()))
    view.change(data=Points((0.0, 2.0), (0.0, 2.0), (0, 1)))
    view.erase(1.5, 3.0)
    assert view.state.points.rows.tolist() == [[0.0, 0.0]]
    view.erase(9.0, 9.0)
    view.erase(0.0, 0.0)
    assert len(view.state.points) == 0


def test_the_plane_refuses_in_words_and_goes_on():
    view = PlaneView(Session(Deaf()))
    view.restore("#s=AAAA")
    assert "damaged" in view._message.object
    view.change(data=Points())
    assert view._message.object == ""
    assert len(view.state.points) == 0
    view.add(0.0, 1.0)
    assert view.state.points.rows.tolist() == [[0.0, 1.0]]
    view.set_task("regression")
    assert view.state.learners[0].name == "nonparametric.KernelSmoother"
    view.set_count(4)
    assert len(view.tiles) == 4 == len({item.name for item in view.state.learners})
    view.play()
    assert view.session.pool.last.startswith("frames")
    view.set_count(1)
    view.play()
    assert "trained in passes" in view._message.object


def test_a_figure_shows_regions_lines_and_points():
    figure = PlaneFigure(DARK)
    state = PlaneState(data=Generated("XOR", 40, 0.3, 1), resolution=30)
    figure.set_axes(state.extent, ("a", "b"))
    figure.set_points(state.points)
    drawn = picture(state, 0)
    figure.show(drawn)
    assert figure._image.data["image"][0] is drawn.image
    assert figure._mapper.palette[LEVELS] == class_palette(DARK)[LEVELS]
    assert len(figure._lines["boundary"].data_source.data["x"]) > 10
    assert figure._lines["boundary"].visible
    assert not figure._lines["margin"].visible
    assert sum(len(item.data_source.data["x"]) for item in figure._points) == 40
    figure.show(Picture(drawn.image, "density"))
    assert list(figure._mapper.palette) == density_palette(DARK)
    figure.clear()
    assert not figure._picture.visible


def test_lines_are_joined_with_gaps():
    lines = [Line(np.array([0.0, 1.0]), np.array([2.0, 3.0]), "curve")] * 2
    columns = joined([*lines, Line(np.ones(3), np.ones(3), "net")], "curve")
    assert np.isnan(columns["x"]).tolist() == [False, False, True, False, False, True]
    assert len(joined(lines, "band")["x"]) == 0


def test_colours_of_both_grounds():
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"
    for tones in (LIGHT, DARK):
        assert len(class_palette(tones)) == 9 * LEVELS
        assert tones.ground in page_style(tones)
        assert contrast(tones.ink, tones.panel) > 7
        assert contrast(tones.faint, tones.ground) > 4.5
        assert contrast(tones.accent, tones.panel) > 4.5


def contrast(first, second):
    """Return the contrast of two colours by the rules for accessible pages."""

    def light(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)


def test_text_is_never_markup():
    assert words("<b>x</b> \n y", "wrong") == '<span class="wrong">&lt;b&gt;x&lt;/b&gt; y</span>'
    drawer = CodeDrawer(lambda: "a < b")
    drawer._button.value = True
    assert "a &lt; b" in drawer._text.object


def test_a_refused_estimate_stays_within_its_caption():
    tile = Tile(Session(Pool()), 0, 420, print)
    tile._estimate_arrived(Outcome("failed", message='no "density"'))
    seen = []
    reader = HTMLParser()
    reader.handle_data = seen.append
    reader.feed(tile.caption.object)
    assert "".join(seen).strip() == 'no "density"'


def test_numbers_stand_to_the_right_and_ranges_do_not():
    row = ["size", "12", "0.3 ms", "3 to 9", "3 columns of 0 and 1", "-0.5"]
    cells = table_html(["a"] * 6, [row], "cells").split("<td")[1:]
    assert [cell.startswith(" class=number") for cell in cells] == [True, True, False, False, True]


def in_thread(function, *arguments):
    """Call something where no loop runs: the browser's tests hold that of the main thread."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function, *arguments).result(400)


def test_a_notebook_gets_the_plane():
    with pytest.raises(DataError, match="must be a PlaneState or None, not str"):
        plane("iris")
    with pytest.raises(DataError, match=r"plane\(\) is for notebooks"):
        in_thread(plane)


def test_a_notebook_gets_its_pictures():
    async def cell():
        view = plane(PlaneState(data=Generated("XOR", 40, 0.3, 1), resolution=30))
        session = next(item for item in OPEN if item.root is view)
        while not session.view.tiles[0].figure._picture.visible:
            await asyncio.sleep(0.02)
        session.pool.close()
        return session.view.tiles[0].caption.object

    assert "k-nearest neighbours" in in_thread(asyncio.run, asyncio.wait_for(cell(), 300))


def test_a_contestant_that_a_link_names_otherwise_is_listed_once():
    view = ComparisonView(Session(Pool()))
    opened = describe(Path(), TableQuestion("wine"))
    usual = list(opened.usual)
    asked = TableQuestion("wine", learners=("majority class", "naive bayes", "nearest mean"))
    view._fill_choices(opened, asked)
    assert list(view.learners.options.values()) == [*usual, "nearest mean"]
    assert view.learners.value == ["majority class", "parametric.NaiveBayes", "nearest mean"]
    view._fill_choices(opened, None)
    assert view.learners.value == usual
