"""Suffix lookup: find the longest end of the text that occurred before, however long, and copy what followed it most often.

After SuffixDecoding (arXiv 2411.04975), as a chain, over prompt and output of this run. Prompt lookup looks for at most n
tokens and copies one earlier position; here length has no limit, all positions that match vote on each next token (the latest
decides a tie), and where every one of them has run out the longest shorter match goes on. How much is drafted follows
the match: a long one is believed further than a single token that happens to occur twice. (200 answers of SmolLM2-135M,
K = 4: one token a matched token keeps 1.40 of 1.45 tokens a pass and drafts 0.9 instead of 2.0 a step.)

The text is kept in a suffix automaton, which grows by one token at a time: two states a token at most, and time that
does not depend on how long the text is. Example: after ``a b c a b c a b d a b`` the longest match is ``a b``, followed
by ``c`` twice and by ``d`` once: it proposes ``c`` where prompt lookup copies the latest, ``d``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.settings import MAX_K, RunSettings, knob
from specviz.core.words import sentence
from specviz.drafting.base import Readers, Strategy
from specviz.drafting.parts import point_masses

REACH = knob("reach", 1, 0, 32, 0.5)


class SuffixDrafter:
    """Keeps the text of one run as an automaton."""

    about = ""

    def __init__(self, readers: Readers) -> None:
        self.readers = readers
        self.text = Automaton()

    def adopt(self, settings: RunSettings) -> None:
        """Nothing to do: no knob decides what it reads with."""

    def behind(self, ids: Sequence[int]) -> bool:
        """More than one step can have added."""
        return len(ids) - len(self.text.ids) > MAX_K + 1

    def catch_up(self, ids: Sequence[int]) -> None:
        """Add what is new; a text that does not continue the last one is added from its start."""
        if self.text.ids != list(ids[: len(self.text.ids)]):
            self.text = Automaton()
        for token in ids[len(self.text.ids) :]:
            self.text.append(token)

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A chain of up to `k` point masses; empty with stop "no match" where nothing repeats."""
        if not k:
            return Draft()
        self.catch_up(ids)
        reach = float(settings.options.get("reach", REACH.default))
        most = min(k, max(1, int(reach * self.text.matched))) if reach else k
        return point_masses(list(self.text.likely(most)), k, self.readers)


SUFFIX_LOOKUP = Strategy(
    help=sentence("help.suffix_lookup"),
    deterministic=True,
    knobs={"reach": REACH},
    start=SuffixDrafter,
)


class Automaton:
    """All substrings of a growing list of ids (Blumer et al., 1985). State 0 is the empty one.

    A state stands for the substrings that end at the same positions; `length`: of its longest. `link`: the state of the
    longest suffix that ends at more positions. `ends[s]`: where s was first seen to end, None for a copy, which ends where
    the states that link to it end.
    """

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.next: list[dict[int, int]] = [{}]
        self.link = [-1]
        self.linked: list[set[int]] = [set()]
        self.length = [0]
        self.ends: list[int | None] = [None]
        self.last = 0

    @property
    def matched(self) -> int:
        """Length of the longest end of the text that occurred before."""
        return self.length[max(0, self.link[self.last])]

    def append(self, token: int) -> None:
        """One more id."""
        self.ids.append(token)
        new = self._state({}, self.length[self.last] + 1, len(self.ids) - 1)
        here = self.last
        while here != -1 and token not in self.next[here]:
            self.next[here][token] = new
            here = self.link[here]
        self._hang(new, 0 if here == -1 else self._exactly(here, token))
        self.last = new

    def likely(self, most: int) -> Iterator[int]:
        """Up to `most` ids, each the one that most often followed the longest match with the ids before it."""
        state, ends = self._followed(self.link[self.last])
        for _ in range(most):
            if state <= 0:
                return
            votes: dict[int, list[int]] = {}
            for end in ends:
                if end + 1 < len(self.ids):
                    votes.setdefault(self.ids[end + 1], []).append(end + 1)
            token = max(votes, key=lambda t: (len(votes[t]), max(votes[t])))
            yield token
            state, ends = self.next[state][token], votes[token]
            if not self.next[state]:  # all these positions were the last of the text
                state, ends = self._followed(self.link[state])

    def _followed(self, state: int) -> tuple[int, list[int]]:
        """The longest suffix of `state` that something followed, and where it ended; 0 or less where there is none."""
        while state > 0 and not self.next[state]:
            state = self.link[state]
        return state, list(self._ends(state)) if state > 0 else []

    def _ends(self, state: int) -> Iterator[int]:
        waiting = [state]
        while waiting:
            here = waiting.pop()
            end = self.ends[here]
            if end is not None:
                yield end
            waiting += self.linked[here]

    def _exactly(self, before: int, token: int) -> int:
        """The state of `before`'s longest with `token`; split off where its state has longer ones too."""
        whole = self.next[before][token]
        if self.length[whole] == self.length[before] + 1:
            return whole
        part = self._state(dict(self.next[whole]), self.length[before] + 1, None)
        self._hang(part, self.link[whole])
        self.linked[self.link[whole]].discard(whole)
        self._hang(whole, part)
        while before != -1 and self.next[before].get(token) == whole:
            self.next[before][token] = part
            before = self.link[before]
        return part

    def _state(self, following: dict[int, int], length: int, end: int | None) -> int:
        self.next.append(following)
        self.link.append(-1)
        self.linked.append(set())
        self.length.append(length)
        self.ends.append(end)
        return len(self.next) - 1

    def _hang(self, state: int, parent: int) -> None:
        self.link[state] = parent
        self.linked[parent].add(state)
