"""Chains of the draft model's tokens, one after another: greedy and sampling. And no draft at all.

Greedy: the token is chosen, not drawn, so its distribution is a point mass, and the rule accepts it with the target's own
probability. Taking the draft's softmax for q here would silently break losslessness.

Sampling: the token is drawn from the draft's distribution, shaped by the run's own filters. This is the form that the
papers analyse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.draft import Draft
from specviz.core.records import DraftEnd
from specviz.core.sampling import check_finite, draw, one_hot, penalise
from specviz.core.settings import RunSettings
from specviz.core.words import sentence
from specviz.drafting.base import Strategy
from specviz.drafting.parts import Propose, Reader, SimpleDrafter, goes_on, on_draft_model, shaped

Pick = Callable[[Tensor, Sequence[int], RunSettings, float], tuple[int, Tensor]]
"""``pick(logits, history, settings, coin)``: a token, and the distribution [vocabulary] that it was really drawn from.

`logits` [vocabulary]: the drafter's raw ones after `history`.
"""


def likeliest(logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
    """The argmax after the repetition penalty (temperature and filters do not change it); no coin is used."""
    check_finite(logits)
    token = int(penalise(logits[None], [history], settings.repetition_penalty)[0].argmax())
    return token, one_hot(token, logits.shape[-1])


def drawn(logits: Tensor, history: Sequence[int], settings: RunSettings, coin: float) -> tuple[int, Tensor]:
    """Inverse transform with the "draft" coin of this position; at temperature 0 that is the argmax."""
    probs = shaped(logits, history, settings)
    return draw(probs, coin), probs


def chain(reader: Reader, end_ids: Collection[int], pick: Pick) -> Propose:
    """Propose one token after another: up to `k`, fewer after an end token or at the end of the model's own context."""

    def propose(ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
        text = list(ids)
        tokens: list[int] = []
        probs: list[Tensor] = []
        own: list[Tensor] = []
        stop = DraftEnd.K if k else DraftEnd.NONE
        while len(tokens) < k:
            if len(text) > reader.loaded.context:
                stop = DraftEnd.DRAFT_CONTEXT
                break
            logits = reader.logits(text)[0].cpu()
            token, drawn_from = pick(logits, text, settings, coins(start + len(tokens), "draft", 0))
            text.append(token)
            tokens.append(token)
            probs.append(drawn_from)
            own.append(logits)
            # kept although it ends the draft: dropping a token because of what it is would change q
            if token in end_ids:
                stop = DraftEnd.END_TOKEN
                break
            if len(tokens) < k and not goes_on(logits, token, settings):
                stop = DraftEnd.CONFIDENCE
                break
        return Draft(tuple(tokens), tuple(range(-1, len(tokens) - 1)), tuple(probs), tuple(own), stop)

    return propose


def nothing(ids: Sequence[int], k: int, settings: RunSettings, coins: Coins, start: int) -> Draft:
    """No token, whatever K is."""
    return Draft(stop=DraftEnd.NONE)


NONE = Strategy(
    help=sentence("help.none"),
    deterministic=True,
    start=lambda readers: SimpleDrafter(nothing),
)
GREEDY = Strategy(
    help=sentence("help.greedy"),
    needs_draft_model=True,
    deterministic=True,
    start=on_draft_model(partial(chain, pick=likeliest)),
)
SAMPLING = Strategy(
    help=sentence("help.sampling"),
    needs_draft_model=True,
    start=on_draft_model(partial(chain, pick=drawn)),
)
