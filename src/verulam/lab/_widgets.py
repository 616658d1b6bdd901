"""Forms: the fields of a learner's parameters as widgets of Panel."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from panel.io.state import set_curdoc
from panel.viewable import Viewable

from verulam.lab._parameters import ParameterField, parameter_fields
from verulam.lab._shell import words
from verulam.lab._state import LearnerSetting, Scalar
from verulam.lab._style import PARTS

WIDTH = 300
#: Stands in a list for a number that a slider gives.
NUMBER = "a number"
NOTHING = "none"
STEPS = 60


def label_of(name: str) -> str:
    """Return a parameter's name as a label: as it is written in code."""
    return name.replace("kernel__", "kernel ")


class ParameterForm:
    """Widgets for the parameters of a learner.

    Parameters
    ----------
    setting
        The learner and its values.
    changed
        Called with the new setting whenever a widget was moved.

    Examples
    --------
    >>> form = ParameterForm(LearnerSetting("nonparametric.KNeighborsClassifier"), print)
    >>> form.widgets["n_neighbors"].value
    5
    """

    def __init__(self, setting: LearnerSetting, changed: Callable[[LearnerSetting], None]) -> None:
        self.setting = setting
        self._changed = changed
        self.widgets: dict[str, Any] = {}
        fields = parameter_fields(setting.name)
        main = [self._row(item) for item in fields if item.main]
        rest = [self._row(item) for item in fields if not item.main]
        parts: list[Viewable] = main
        if rest:
            parts = [
                *main,
                folded("More parameters", *rest),
            ]
        self.view = pn.Column(*parts, width=WIDTH + 20)

    def _row(self, item: ParameterField) -> Viewable:
        value = self.setting.parameters.get(item.name, item.default)
        if item.kind == "word":
            return self._listed(item, value, [])
        if item.kind == "switch":
            widget = pn.widgets.Checkbox(label=label_of(item.name), value=bool(value))
            return self._watched(item, widget, "value")
        slider = number_widget(item, value)
        if not item.words and not item.optional:
            return self._watched(item, slider, "value_throttled")
        slider.visible = isinstance(value, int | float) and not isinstance(value, bool)
        view = self._listed(item, NUMBER if slider.visible else value, [NUMBER], slider)
        slider.param.watch(lambda event: self._set(item, event.new), _moved(slider))
        return pn.Column(view, slider, margin=0)

    def _listed(
        self, item: ParameterField, value: Any, more: list[str], slider: Any = None
    ) -> Viewable:
        words = [*more, *item.words, *([NOTHING] if item.optional else [])]
        shown = NOTHING if value is None else value
        widget = pn.widgets.Select(
            label=label_of(item.name), options=words, value=shown if shown in words else words[0]
        )

        def select(event: Any) -> None:
            if slider is not None:
                slider.visible = event.new == NUMBER
            if event.new == NUMBER:
                self._set(item, slider.value)
            else:
                self._set(item, None if event.new == NOTHING else event.new)

        widget.param.watch(select, "value")
        return self._registered(item, widget)

    def _watched(self, item: ParameterField, widget: Any, parameter: str) -> Viewable:
        source = parameter if parameter in widget.param else "value"
        widget.param.watch(lambda event: self._set(item, event.new), source)
        return self._registered(item, widget)

    def _registered(self, item: ParameterField, widget: Any) -> Viewable:
        self.widgets[item.name] = widget
        widget.width = WIDTH
        widget.margin = (2, 5)
        if item.meaning and "description" in widget.param:
            widget.description = item.meaning
        return widget

    def _set(self, item: ParameterField, value: Scalar) -> None:
        values = {**self.setting.parameters, item.name: item.check(value)}
        if value == item.default:
            del values[item.name]
        self.setting = LearnerSetting(self.setting.name, values)
        self._changed(self.setting)


def folded(title: str, *content: Viewable) -> pn.Card:
    """Return parts of a form that are shown when their title is clicked."""
    heading = pn.pane.HTML(words(title), stylesheets=[PARTS], margin=(2, 4))
    return pn.Card(
        *content,
        header=heading,
        collapsed=True,
        width=WIDTH + 16,
        header_background="transparent",
        styles={"box-shadow": "none", "border": "0", "background": "transparent"},
        margin=(2, 0),
    )


def _moved(widget: Any) -> str:
    return "value_throttled" if "value_throttled" in widget.param else "value"


def number_widget(item: ParameterField, value: Any) -> Any:
    """Return a slider for a number; equal steps are equal ratios where the field says so."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    name = label_of(item.name)
    if item.kind == "integer":
        start = round(item.low if number is None else number)
        low, high = min(round(item.low), start), max(round(item.high), start)
        if high - low > 1000:
            return pn.widgets.IntInput(label=name, value=start, start=round(item.low), width=WIDTH)
        return pn.widgets.IntSlider(
            label=name, start=low, end=max(high, low + 1), value=start, width=WIDTH
        )
    if item.ratio:
        return ratio_slider(item, number)
    middle = (item.low + item.high) / 2 if number is None else float(number)
    least, most = min(item.low, middle), max(item.high, middle)
    return pn.widgets.FloatSlider(
        label=name,
        start=least,
        end=most if most > least else least + 1.0,
        value=middle,
        step=(most - least) / 100 or 0.01,
        format="0.[0000]",
        width=WIDTH,
    )


def ratio_slider(item: ParameterField, number: float | None) -> Any:
    """Return a slider whose steps are equal ratios between two ends."""
    low, high = math.log(item.low), math.log(item.high)
    values = {
        float(f"{math.exp(low + (high - low) * step / STEPS):.3g}") for step in range(STEPS + 1)
    }
    start = math.exp((low + high) / 2) if number is None else float(number)
    nearest = min(values, key=lambda value: abs(math.log(value / start)))
    if number is not None:
        values = (values - {nearest}) | {start}
        nearest = start
    options = sorted(values)
    return pn.widgets.DiscreteSlider(
        label=label_of(item.name), options=options, value=nearest, formatter="%g", width=WIDTH
    )


def labelled_select(
    name: str, options: Any, value: Any, changed: Callable[[Any], None], **more: Any
) -> Any:
    """Return a list to take one entry from, which calls back with it."""
    widget = pn.widgets.Select(label=name, options=options, value=value, **more)
    widget.param.watch(partial(_with_value, changed), "value")
    return widget


def _with_value(changed: Callable[[Any], None], event: Any) -> None:
    changed(event.new)


def button(name: str, pressed: Callable[[], None], **more: Any) -> Any:
    """Return a button that calls back."""
    widget = pn.widgets.Button(label=name, **more)
    widget.on_click(lambda _: _at_next_tick(pressed))
    return widget


def _at_next_tick(change: Callable[[], None]) -> None:
    """Change the page once its document is locked, which a click does not wait for."""
    document = pn.state.curdoc
    if document is None or document.session_context is None:
        change()
    else:
        document.add_next_tick_callback(partial(_in_document, document, change))


def _in_document(document: Any, change: Callable[[], None]) -> None:
    with set_curdoc(document), pn.io.unlocked():
        change()
