"""Stage 1: what the target will be asked. Instructions from topics and templates, or a file of prompts.

The topics of the held-out prompts occur in no other prompt, so that what is measured on them was not learnt by heart.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from specviz.core.settings import SettingsError, SpecvizError
from specviz.distill import topics
from specviz.distill.recipe import Recipe
from specviz.distill.shards import save
from specviz.models.text import TextCodec

PLAIN_SHARE = 0.1
"""Of prompts that are beginnings to be continued, where the target has a chat template."""


def make_prompts(codec: TextCodec, context: int, recipe: Recipe, file: Path) -> int:
    """Write `recipe.answers` prompts to `file`: prompt_ids, prompt_lengths, held_out, temperature. Returns how many.

    Raises SpecvizError for a file of prompts that cannot be read, and where the tokenizer can write none of them.
    """
    source = _from_file(recipe, codec) if recipe.prompts else _made(recipe)
    known: dict[tuple[str, bool], list[int] | None] = {}
    ids: list[list[int]] = []
    held_out: list[bool] = []
    temperatures: list[float] = []
    greedy: set[str] = set()
    chance = random.Random(recipe.seed)
    problem: SpecvizError | None = None
    warm = [t for t in recipe.temperatures if t > 0] or list(recipe.temperatures)
    with tqdm(total=recipe.answers, desc="prompts", unit="prompt") as bar:
        for tried, (text, plain, apart) in enumerate(source):
            if tried >= 4 * recipe.answers or len(ids) == recipe.answers:
                break
            chat = codec.has_chat_template and not plain
            if (text, chat) not in known:
                try:
                    known[text, chat] = codec.encode(text, chat)
                except SpecvizError as error:  # a word that this tokenizer does not know
                    known[text, chat], problem = None, error
            found = known[text, chat]
            temperature = chance.choice(recipe.temperatures)
            if temperature == 0 and text in greedy:  # the same prompt again would get the same answer again
                temperature = chance.choice(warm)
            if found is None or len(found) + 1 >= context:
                continue
            if temperature == 0:
                greedy.add(text)
            ids.append(found)
            held_out.append(apart)
            temperatures.append(temperature)
            bar.update()
    if len(ids) < 2 or all(held_out) or (recipe.held_out and not any(held_out)):
        why = f" ({problem})" if problem else ""
        raise SpecvizError(f"There are too few prompts that the target can read{why}; give others with --prompts FILE.")
    save(
        file,
        {
            "prompt_ids": np.concatenate([np.array(i, np.int32) for i in ids]),
            "prompt_lengths": np.array([len(i) for i in ids], np.int32),
            "held_out": np.array(held_out),
            "temperature": np.array(temperatures, np.float32),
        },
    )
    return len(ids)


def read_prompts(file: Path) -> dict[str, NDArray[Any]]:
    """What `make_prompts` wrote. Raises SpecvizError for a file that is missing or damaged."""
    if not file.exists():
        raise SpecvizError("There are no prompts yet; run the stage prompts first.")
    try:
        with np.load(file, allow_pickle=False) as data:
            return {name: data[name] for name in ("prompt_ids", "prompt_lengths", "held_out", "temperature")}
    except Exception as error:  # whatever numpy and zipfile raise for a damaged file
        raise SpecvizError(f"{file} is damaged; remove it, and the stage prompts makes it again.") from error


def _made(recipe: Recipe) -> Iterator[tuple[str, bool, bool]]:
    """(text, to be continued as it is, held out), without end."""
    chance = random.Random(recipe.seed + 1)
    sides = {name: _split(getattr(topics, name), recipe.held_out, chance) for name in ("TOPICS", "TASKS")}
    kinds, weights = list(topics.KINDS), [weight for weight, _ in topics.KINDS.values()]
    while True:
        apart = chance.random() < recipe.held_out
        plain = chance.random() < PLAIN_SHARE
        templates = topics.BEGINNINGS if plain else topics.KINDS[chance.choices(kinds, weights)[0]][1]
        yield fill(chance.choice(templates), sides["TOPICS"][apart], sides["TASKS"][apart], chance), plain, apart


def fill(template: str, subjects: list[str], tasks: list[str], chance: random.Random) -> str:
    """The template with its blanks filled: topics from `subjects`, tasks from `tasks`, the rest from all there are."""
    topic, other = chance.sample(subjects, 2) if len(subjects) > 1 else (subjects[0], "nothing")
    sentences = [sentence.format(topic=topic) for sentence in chance.sample(topics.SENTENCES, 4)]
    return template.format(
        topic=topic,
        other=other,
        task=chance.choice(tasks),
        place=chance.choice(topics.PLACES),
        people=chance.choice(topics.PEOPLE),
        name=chance.choice(topics.NAMES),
        language=chance.choice(topics.LANGUAGES),
        code=chance.choice(topics.CODE),
        things=chance.choice(topics.THINGS),
        small=chance.randint(3, 9),
        a=chance.randint(20, 99),
        b=chance.randint(2, 60),
        passage=" ".join(sentences),
        sentence=sentences[0],
    )


def _split(words: tuple[str, ...], share: float, chance: random.Random) -> dict[bool, list[str]]:
    """held out → words; two at least on each side, where anything is held out."""
    shuffled = chance.sample(words, len(words))
    apart = max(2, round(len(words) * share)) if share else 0
    return {True: shuffled[:apart], False: shuffled[apart:]}


def _from_file(recipe: Recipe, codec: TextCodec) -> Iterator[tuple[str, bool, bool]]:
    assert recipe.prompts is not None
    try:
        found = [line.strip() for line in recipe.prompts.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{recipe.prompts} cannot be read; give a text file with a prompt on each line.") from error
    lines = [line for line in dict.fromkeys(found) if _can_write(codec, line)]
    if len(lines) < 2:
        raise SettingsError(
            f"{recipe.prompts} holds fewer than two prompts that the target can read; write more, one on each line."
        )
    chance = random.Random(recipe.seed)
    chance.shuffle(lines)
    apart = min(len(lines) - 1, max(1, round(len(lines) * recipe.held_out))) if recipe.held_out else 0
    while True:
        yield from ((line, False, here < apart) for here, line in enumerate(lines))


def _can_write(codec: TextCodec, line: str) -> bool:
    try:
        codec.encode(line, codec.has_chat_template)
    except SpecvizError:
        return False
    return True
