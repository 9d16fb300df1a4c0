"""Beam search: the draft model's likeliest continuations, K tokens long, as one tree.

At each place every beam is continued by its likeliest tokens and the `width` best by total log-probability go on. What
the last beams have in common is one branch, so the target reads the whole tree in one pass. Example, width 2: the beams
``a b`` and ``a c`` become the tree a → (b, c), three nodes.

All tokens were chosen, none drawn: each is a point mass. Siblings are ordered by the draft's probability, best first.
The search uses the draft's own softmax after the repetition penalty; temperature and filters have no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from specviz.coins import Coins
from specviz.drafting.base import ModelDrafter, Readers, WithModel, end_ids_of
from specviz.drafting.tree import MAX_NODES, narrowed
from specviz.sampling import one_hot, penalise
from specviz.settings import Knob, RunSettings
from specviz.trace import ROOT
from specviz.verification import Draft

WIDTH = Knob(
    "beam width",
    2,
    1,
    8,
    1,
    f"Beams kept at each place; K is their length. At most {MAX_NODES} tokens in all: fewer beams above K = 8.",
    whole=True,
)


class BeamSearch(WithModel):
    """Beams of the draft model."""

    help = "The draft model's likeliest continuations of K tokens as one tree (point masses); the target reads all at once."
    deterministic = True
    knobs: Mapping[str, Knob] = MappingProxyType({"width": WIDTH})

    def start(self, readers: Readers) -> BeamDrafter:
        """A drafter over the run's own cache of the draft model."""
        assert readers.draft is not None
        return BeamDrafter(readers.draft, end_ids_of(readers))


@dataclass(frozen=True, slots=True)
class Beam:
    """A continuation. `totals[i]`: log-probability of its first i + 1 tokens; `own_logits[i]`: the draft's, before
    token i. `node`: its last token's place in the tree that the draft model reads."""

    tokens: tuple[int, ...] = ()
    totals: tuple[float, ...] = ()
    own_logits: tuple[Tensor, ...] = ()
    node: int = ROOT

    @property
    def total(self) -> float:
        """Log-probability of the whole beam."""
        return self.totals[-1] if self.totals else 0.0

    def longer(self, token: int, score: float, own_logits: Tensor) -> Beam:
        """Continued by one token; `node` is still that of the last token read."""
        return Beam(
            (*self.tokens, token), (*self.totals, self.total + score), (*self.own_logits, own_logits), self.node
        )


class BeamDrafter(ModelDrafter):
    """See module."""

    def propose(self, ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        """A tree up to `k` deep; a beam that ends in an end token stays as it is. No coin is used."""
        if not k:
            return Draft(stop="none")
        width = narrowed(int(settings.options.get("width", WIDTH.default)), k)
        beams, kept, stop = [Beam()], [Beam()], "k"
        nodes: list[int] = []
        parents: list[int] = []
        for depth in range(k):
            if len(ids) + depth > self.reader.loaded.context:
                stop = "draft context"
                break
            live = [beam for beam in beams if not self._ended(beam)]
            # one pass a place: the nodes added last are exactly the live beams' ends
            rows = self.reader.tree_logits(ids, nodes, parents, last=len(live)).cpu()
            found = [beam for beam in beams if self._ended(beam)]
            found += [
                longer
                for beam, row in zip(live, rows, strict=True)
                for longer in self._continued(beam, row, width, ids, settings)
            ]
            found.sort(key=lambda beam: -beam.total)
            beams = []
            for beam in found[:width]:
                if len(beam.tokens) == depth + 1 and not self._ended(beam):
                    nodes.append(beam.tokens[-1])
                    parents.append(beam.node)
                    beam = Beam(beam.tokens, beam.totals, beam.own_logits, len(nodes) - 1)
                beams.append(beam)
            kept += beams
            if all(map(self._ended, beams)):
                stop = "end token"
                break
        return _merged(kept, self.reader.columns, stop)

    def _ended(self, beam: Beam) -> bool:
        return bool(beam.tokens) and beam.tokens[-1] in self.end_ids

    def _continued(self, beam: Beam, row: Tensor, width: int, ids: Sequence[int], settings: RunSettings) -> list[Beam]:
        """The beam with each of its `width` likeliest next tokens; one that the model rules out (-inf) is none."""
        penalised = penalise(row[None], [[*ids, *beam.tokens]], settings.repetition_penalty)[0]
        likely = torch.log_softmax(penalised.double(), -1).topk(min(width, len(row)))
        pairs = zip(likely.indices.tolist(), likely.values.tolist(), strict=True)
        return [beam.longer(token, score, row) for token, score in pairs if score > -torch.inf]


def _merged(beams: Sequence[Beam], columns: int, stop: str) -> Draft:
    """The beams as a tree, depth by depth; a prefix that several share is one node."""
    place: dict[tuple[int, ...], int] = {(): ROOT}
    own: list[Tensor] = []
    for depth in range(max(len(beam.tokens) for beam in beams)):
        prefixes = {b.tokens[: depth + 1]: b for b in beams if len(b.tokens) > depth}
        # siblings have the same total before them, so this order is best first among them
        for prefix, beam in sorted(prefixes.items(), key=lambda item: -item[1].totals[depth]):
            place[prefix] = len(own)
            own.append(beam.own_logits[depth])
    ways = list(place)[1:]
    return Draft(
        tuple(way[-1] for way in ways),
        tuple(place[way[:-1]] for way in ways),
        tuple(one_hot(way[-1], columns) for way in ways),
        tuple(own),
        stop,
    )
