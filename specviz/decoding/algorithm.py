"""Speculative decoding on one screen, in the letters of the papers.

These functions state the method; they call the models once for each position and keep no cache. `specviz.decoding.engine.step`
emits the same tokens, random number for random number, with one target pass for each step (`tests/decoding`).

`M_q`, `M_p`: ids → probabilities [vocabulary] of draft and target. γ is K on the page. `coins(position, purpose,
sibling)` is uniform in [0, 1); `start` is the output position of the first new token. No end token, no stop string.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor

from specviz.core.coins import Coins
from specviz.core.sampling import draw

Model = Callable[[list[int]], Tensor]


def norm(mass: Tensor) -> Tensor:
    """`mass` [vocabulary] divided by its sum."""
    return mass / mass.sum()


def chain_step(prefix: list[int], start: int, γ: int, M_q: Model, M_p: Model, coins: Coins) -> list[int]:
    """The tokens of one step: Leviathan et al. 2023 (arXiv 2211.17192), Algorithm 1."""
    # sample γ guesses x_1 … x_γ from M_q, one after another
    x: list[int] = []
    q: list[Tensor] = []
    for i in range(γ):
        q.append(M_q(prefix + x))
        x.append(draw(q[i], coins(start + i, "draft", 0)))
    # run M_p on all γ + 1 prefixes: one pass in practice
    p = [M_p(prefix + x[:i]) for i in range(γ + 1)]
    # n: the guesses before the first one whose random number is not below p/q
    r = [coins(start + i, "accept", 0) for i in range(γ)]
    n = next((i for i in range(γ) if r[i] >= p[i][x[i]] / q[i][x[i]]), γ)
    # a rejected guess is replaced by a draw from the residual; γ accepted guesses earn a bonus token
    rest = norm((p[n] - q[n]).clamp_min(0)) if n < γ else p[n]
    return [*x[:n], draw(rest, coins(start + n, "emit", 0))]


@dataclass
class Node:
    """A guess, the distribution [vocabulary] it was drawn from, and the guesses that continue it."""

    token: int
    q: Tensor
    children: list[Node] = field(default_factory=list)


def draft_tree(prefix: list[int], start: int, γ: int, width: int, M_q: Model, coins: Coins) -> list[Node]:
    """Up to `width` different guesses for each of γ positions, drawn without replacement; the first is continued.

    The form with recursive rejection of arXiv 2402.14160. Returns the children of the root.
    """
    if γ == 0:
        return []
    nodes: list[Node] = []
    q = M_q(prefix)
    while len(nodes) < width and q.sum() > 0:
        x = draw(q, coins(start, "draft", len(nodes)))
        nodes.append(Node(x, q))
        q = q.index_fill(0, q.new_tensor([x]).long(), 0)
        q = norm(q) if q.sum() > 0 else q
    nodes[0].children = draft_tree([*prefix, nodes[0].token], start + 1, γ - 1, width, M_q, coins)
    return nodes


def tree_step(prefix: list[int], start: int, tree: list[Node], M_p: Model, coins: Coins) -> list[int]:
    """The tokens of one step over a drafted tree: SpecInfer (arXiv 2305.09781), Algorithm 3.

    Siblings are tried in order. Each rejection leaves the residual for the next sibling, and in the end for the target.
    A chain is a tree with one child at each node: the result is then that of `chain_step`.
    """
    out: list[int] = []
    while True:
        p = M_p(prefix + out)
        for s, node in enumerate(tree):
            if coins(start + len(out), "accept", s) < p[node.token] / node.q[node.token]:
                out.append(node.token)
                tree = node.children
                break
            p = norm((p - node.q).clamp_min(0))
        else:
            return [*out, draw(p, coins(start + len(out), "emit", 0))]
