"""All controls of the page as one thing: read them, put values into them, bring them back after a reload.

Example: ``panel.put({"k": 8, "strategy": "greedy"})`` are updates for `panel.outputs`, the sliders of the new strategy
shown and those of the others hidden.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

import gradio as gr

from specviz.core.words import say, spoken
from specviz.decoding.knobs import own_knobs
from specviz.drafting import LENGTHS, STRATEGIES
from specviz.models.catalogue import DEFAULT_PAIR, OFFLINE_PAIR, PAIRS
from specviz.models.standing import standing
from specviz.recordings.gallery import present, read
from specviz.sessions import links
from specviz.sessions.files import controls_of
from specviz.sessions.next_action import coming
from specviz.sessions.pair_choice import DEFAULT_TARGET, pair_of
from specviz.sessions.stops import write_stops
from specviz.sessions.visitors import Visitor, Visitors
from specviz.verification import RULES
from specviz.views import wire

# what a page that has just been loaded knows: the run it showed before, where the controls then stood, and its own address
ARRIVAL_JS = """() => {
    let run = '', controls = null;
    try {
        // the run of another address is not picked up: a link was opened in this tab, which is not a reload
        const address = new URLSearchParams(location.search);
        address.delete('lang'); // the same page in another language, as in assets/language.js
        const here = (sessionStorage.getItem('specviz.address') || '') === String(address);
        run = here ? sessionStorage.getItem('specviz.run') || '' : '';
        controls = run && JSON.parse(sessionStorage.getItem('specviz.controls'));
    } catch { /* storage is switched off */ }
    return [JSON.stringify({ run, controls, query: location.search })];
}"""

TABLES: Mapping[str, Mapping[str, Any]] = {"strategy": STRATEGIES, "draft_length": LENGTHS, "rule": RULES}
"""Menus whose entries explain themselves."""


class Panel:
    """The widgets by the names of what they set, the groups that hold an entry's own knobs, by menu and entry, and the
    menu of pairs. `instead`: a sentence where another pair runs in place of the default one (`Pair.instead`), or none."""

    def __init__(
        self,
        widgets: Mapping[str, Any],
        groups: Mapping[tuple[str, str], gr.Group],
        pair: gr.Dropdown,
        instead: Callable[[], str] = str,
    ) -> None:
        self.names = list(widgets)
        self.widgets = list(widgets.values())
        self.groups = dict(groups)
        self.pair = pair
        self.instead = instead
        self.usual = [links.OMITTED.get(name, widget.value) for name, widget in widgets.items()]

    @property
    def outputs(self) -> list[Any]:
        """What `put` has updates for."""
        return [*self.widgets, *self.groups.values(), self.pair]

    def put(self, values: Mapping[str, Any]) -> list[Any]:
        """Updates that put `values` in and leave the other controls as they are."""
        updates = []
        for name in self.names:
            if name not in values:
                updates.append(gr.update())
            elif values[name] in TABLES.get(name, ()):
                updates.append(gr.update(value=values[name], info=spoken(TABLES[name][values[name]].help)))
            else:
                updates.append(gr.update(value=values[name]))
        return [*updates, *self.shown_groups(values), self.pair_update(values)]

    def explain(self, name: str, entry: str) -> list[Any]:
        """Updates for a menu that was turned to `entry` and for all groups."""
        return [gr.update(info=spoken(TABLES[name][entry].help)), *self.shown_groups({name: entry})]

    def shown_groups(self, values: Mapping[str, Any]) -> list[Any]:
        """Updates for the groups: of each menu in `values` its entry's own is shown."""
        return [
            gr.update(visible=values[name] == entry) if name in values else gr.update() for name, entry in self.groups
        ]

    def pair_update(self, values: Mapping[str, Any]) -> Any:
        """The menu of pairs after target or draft were set."""
        if "target" not in values and "draft" not in values:
            return gr.update()
        name = self.pair_shown(values)
        if name != pair_wished(values):
            return gr.update(value=name, info=self.instead())
        info = standing(PAIRS[name]).sentence if name in PAIRS else say("controls.pair_own_info")
        return gr.update(value=name, info=info)

    def pair_shown(self, values: Mapping[str, Any]) -> str:
        """What the menu of pairs shows for `values`: what runs, not what was wished for."""
        name = pair_wished(values)
        return OFFLINE_PAIR if name == DEFAULT_PAIR and self.instead() else name

    def arrive(self, visitors: Visitors, session: str | None, told: str) -> tuple[Visitor, dict[str, Any], str]:
        """Who has come, where the controls must stand, and what to say: a reload comes before the address's wishes."""
        try:
            data = json.loads(told or "{}")
            run, query, kept = str(data.get("run") or ""), str(data.get("query") or ""), data.get("controls")
        except (ValueError, AttributeError):
            run, query, kept = "", "", None
        visitor = visitors.adopt(run, session)
        if visitor is not None:
            return visitor, self.standing(visitor), ""
        if run and isinstance(kept, dict):  # the server was started anew: the run is gone, its controls need not be
            return visitors.of(session), self.known(links.check(kept)[0]), ""
        values, invalid = links.read(query)
        # an address without settings opens the page as it starts now
        base = recorded(query) or (links.OMITTED if values else {})
        values = base | values
        return visitors.of(session), self.known(values), links.told(invalid)

    def known(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Those that there is a control for."""
        return {name: value for name, value in values.items() if name in self.names}

    def standing(self, visitor: Visitor) -> dict[str, Any]:
        """Where a visitor's controls stand, as the widgets want it."""
        values = {**visitor.controls.values, **visitor.controls.values.get("options", {})}
        if "stop" in values:
            values["stop"] = write_stops(values["stop"])
        return {name: values[name] for name in self.names if name in values}

    def keep_js(self) -> str:
        """Hands all values on, and leaves them in this tab's own storage for a reload that finds its run gone."""
        kept = f"Object.fromEntries({json.dumps(self.names)}.map((name, i) => [name, values[i]]))"
        write = f"sessionStorage.setItem('specviz.controls', JSON.stringify({kept}))"
        return f"(...values) => {{ try {{ {write}; }} catch {{ /* storage is switched off */ }} return values; }}"

    def copy_js(self) -> str:
        """Hands where the controls stand now to the view's script, which makes a link of it; no server is asked."""
        owners = {
            knob: [
                [menu, label] for menu, table in TABLES.items() for label, entry in table.items() if knob in entry.knobs
            ]
            for knob in own_knobs()
        }
        facts = {
            "names": self.names,
            "usual": self.usual,
            "always": links.ALWAYS,
            "most": links.MAX_LINK,
            "owners": owners,
        }
        known = json.dumps(facts).replace("<", "\\u003c")
        event = "new CustomEvent('specviz-link', { detail: { ...known, values } })"
        return f"(...values) => {{ const known = {known}; document.dispatchEvent({event}); }}"


def pair_wished(values: Mapping[str, Any]) -> str:
    """The pair that target and draft in `values` are, by name."""
    return pair_of(str(values.get("target", DEFAULT_TARGET)), str(values.get("draft", "")))


def recorded(query: str) -> dict[str, Any]:
    """Where the controls stand for the recording that an address names, so that Play runs live what is seen."""
    name = parse_qs(query.removeprefix("?")).get("trace", [""])[-1]
    return links.check(controls_of(read(name)))[0] if name in present() else {}


def note(visitor: Visitor, say: str) -> Any:
    """A sentence for the status line, or nothing; all but a `links.Note` reports something invalid."""
    wrong = not isinstance(say, links.Note)
    return wire.pack({"m": "note", "seq": visitor.next_seq(), "say": say, "wrong": wrong}) if say else gr.update()


def hint(visitor: Visitor) -> Any:
    """What Play will do after the controls were moved, for the status line; nothing where there is no run."""
    if visitor.run is None:
        return gr.update()
    return wire.pack({"m": "hint", "seq": visitor.next_seq(), "r": visitor.shown.id, "hint": coming(visitor)})
