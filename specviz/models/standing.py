"""How a pair of the catalogue stands on this machine: is it here, how much would be fetched, what speaks against it.

Asks disk, memory and environment, never a network.

Example: ``standing(PAIRS["Llama 3.2 3B ← 1B"]).problem`` is "gated: accept the licence of …" until HF_TOKEN is set.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.core.runtime import DTYPES, free_memory, pick_device, pick_dtype
from specviz.models.catalogue import MODELS, ModelSource, PairSource
from specviz.models.fetching import cached, token
from specviz.models.fitness import memory_for
from specviz.models.where import offline


@dataclass(frozen=True, slots=True)
class Standing:
    """`fetch`: bytes to download, 0 if all is here. `half`, `full`: bytes of weights in bfloat16 and in float32.

    `problem`: why the pair cannot be used now, or empty. `run`: where we have run it, or empty.
    """

    fetch: int
    half: int
    full: int
    licence: str
    problem: str
    run: str

    @property
    def short(self) -> str:
        """For a menu."""
        if self.problem:
            return self.problem.split(":")[0]
        return f"{size(self.fetch)} to download" if self.fetch else "here"

    @property
    def sentence(self) -> str:
        """All of it."""
        parts = [
            "on this machine" if not self.fetch else f"{size(self.fetch)} to download",
            f"{size(self.half)} of memory in bfloat16, {size(self.full)} in float32",
            self.licence,
            f"run by us on: {self.run}" if self.run else "not run by us",
        ]
        return "; ".join(parts) + "." + (f" Cannot be used now: {self.problem}." if self.problem else "")


def standing(pair: PairSource, dtype: str = "auto", device: str = "auto") -> Standing:
    """How `pair` stands now, with the target that asking for it by name would bring: the first that is here, else the
    first (`fetching.locate_first`)."""
    target = next((name for name in pair.targets if cached(name)), pair.targets[0])
    sources = [MODELS[name] for name in dict.fromkeys((target, *([pair.draft] if pair.draft else [])))]
    absent = [source for source in sources if cached(source.name) is None]
    return Standing(
        fetch=sum(source.size for source in absent),
        half=sum(2 * source.parameters for source in sources),
        full=sum(4 * source.parameters for source in sources),
        licence=", ".join(dict.fromkeys(source.licence for source in sources)),
        problem=_problem(sources, absent, dtype, device),
        run=pair.run,
    )


def size(count: int) -> str:
    """Bytes for people, three figures at most."""
    return f"{count / 1e9:.1f} GB" if count >= 0.95e9 else f"{count / 1e6:.0f} MB"


def _problem(sources: list[ModelSource], absent: list[ModelSource], dtype: str, device: str) -> str:
    if absent and offline():
        return "not here, and network use is switched off: choose a pair that is here"
    gated = [source.where for source in absent if source.gated]
    if gated and not token():
        return (
            f"gated: accept the licence of {' and '.join(gated)} with your account on the hub, and set HF_TOKEN in the "
            "environment of this app"
        )
    place = pick_device(device)
    kinds = [pick_dtype(dtype, place, DTYPES[source.stored]) for source in sources]
    need = sum(memory_for(s.parameters * kind.itemsize) for s, kind in zip(sources, kinds, strict=True))
    free = free_memory(place)
    if need > free:
        return f"too large: it needs about {size(need)} of memory and {size(max(0, free))} are free"
    return ""
