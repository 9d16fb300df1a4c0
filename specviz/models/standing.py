"""How a pair of the catalogue stands on this machine: is it here, how much would be fetched, what speaks against it.

Asks disk, memory and environment, never a network.

Example: ``standing(PAIRS["Llama 3.2 3B ← 1B"]).problem`` is "gated: accept the licence of …" until HF_TOKEN is set.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.core.runtime import DTYPES, free_memory, pick_device, pick_dtype
from specviz.core.words import say
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
        return say("pairs.to_download", size=size(self.fetch)) if self.fetch else say("pairs.here")

    @property
    def sentence(self) -> str:
        """All of it."""
        parts = [
            say("pairs.to_download", size=size(self.fetch)) if self.fetch else say("pairs.on_this_machine"),
            say("pairs.memory", half=size(self.half), full=size(self.full)),
            self.licence,
            say("pairs.run_on", where=self.run) if self.run else say("pairs.not_run"),
        ]
        unusable = [say("pairs.unusable", problem=self.problem)] if self.problem else []
        return " ".join(["; ".join(parts) + ".", *unusable])


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
        return say("pairs.offline")
    gated = [source.where for source in absent if source.gated]
    if gated and not token():
        return say("pairs.gated", names=say("pairs.and").join(gated))
    on_device = pick_device(device)
    kinds = [pick_dtype(dtype, on_device, DTYPES[source.stored]) for source in sources]
    need = sum(memory_for(s.parameters * kind.itemsize) for s, kind in zip(sources, kinds, strict=True))
    free = free_memory(on_device)
    if need > free:
        return say("pairs.too_large", need=size(need), free=size(max(0, free)))
    return ""
