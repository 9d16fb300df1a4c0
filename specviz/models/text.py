"""Between text and token ids: one tokenizer, asked in the few ways that specviz needs.

Knows nothing of weights. Example: ``codec.show(262)`` is " you" for a byte-level token written Ġyou, "⟨E4 BD⟩" for two
thirds of a Chinese character, "<|im_end|>" for an end token and "⟨id 15⟩" for an id that has no name.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from specviz.core.settings import SpecvizError, whole_characters
from specviz.core.words import sentence

_ANCHOR = "a"
log = logging.getLogger("specviz")


class TextCodec:
    """Encodes prompts, decodes whole outputs, and shows single tokens. May be used from several threads."""

    def __init__(self, tokenizer: Any, name: str = "This model", vocab_size: int | None = None) -> None:
        """`vocab_size`: rows of the model's embedding; prompts with ids beyond it are invalid."""
        self.tokenizer = tokenizer
        self.name = name
        self.vocab_size = vocab_size
        self._shown: dict[int, str] = {}
        # a fast tokenizer that is asked by two threads at once raises "Already borrowed"
        self._lock = threading.RLock()

    @property
    def has_chat_template(self) -> bool:
        """Whether `encode` takes chat=True."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    @cached_property
    def tokens(self) -> Mapping[int, str]:
        """id → the tokenizer's own spelling, added tokens included; ids without a name are missing."""
        with self._lock:
            names = {int(i): str(token) for token, i in self.tokenizer.get_vocab().items()}
            added = getattr(self.tokenizer, "added_tokens_decoder", {})
        return names | {int(i): str(token) for i, token in added.items()}

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids that are markup, not text: left out of `decode`."""
        with self._lock:
            added = getattr(self.tokenizer, "added_tokens_decoder", {})
            named = {int(i) for i in self.tokenizer.all_special_ids if i is not None}
        return frozenset(named | {int(i) for i, token in added.items() if getattr(token, "special", False)})

    @cached_property
    def prefix(self) -> tuple[int, ...]:
        """What the tokenizer wants in front of every text: most often nothing or one BOS."""
        marked, plain = self._ids(_ANCHOR, specials=True), self._ids(_ANCHOR, specials=False)
        if not plain:  # a tokenizer of whole words that does not know the anchor
            marked = self._ids("", specials=True)
            bos = self.tokenizer.bos_token_id
            return (bos,) if bos is not None and marked[:1] == [bos] else ()
        for start in range(len(marked) - len(plain) + 1):
            if marked[start : start + len(plain)] == plain:
                return tuple(marked[:start])
        return ()

    def encode(self, prompt: str, chat: bool = False) -> list[int]:
        """Ids of a prompt, as a user's message through the chat template if `chat`; never empty.

        Exactly one BOS where the tokenizer wants one. Raises SpecvizError for an empty prompt without BOS, for a chat
        without a template, and for text that the tokenizer cannot write.
        """
        if chat and not prompt.strip():
            raise SpecvizError(sentence("errors.prompt_no_answer"))
        whole_characters(prompt, "the prompt")
        text = self._templated(prompt) if chat else prompt
        ids, prefix = self._ids(text, specials=False), list(self.prefix)
        if prefix:  # the template, or the person, may have written it already, even twice
            while ids[: len(prefix)] == prefix:
                ids = ids[len(prefix) :]
            ids = prefix + ids
        elif not ids and self.tokenizer.bos_token_id is not None:
            ids = [int(self.tokenizer.bos_token_id)]
        if not ids:
            raise SpecvizError(sentence("errors.prompt_no_start"))
        if self.vocab_size is not None and max(ids) >= self.vocab_size:
            raise SpecvizError(sentence("errors.prompt_no_weights", text=repr(self.show(max(ids))), name=self.name))
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Text of a whole list of ids: special and nameless ones left out, blanks exactly as the tokens say."""
        text_ids = [int(i) for i in ids if int(i) in self.tokens and int(i) not in self.special_ids]
        with self._lock:
            return str(self.tokenizer.decode(text_ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def show(self, token_id: int) -> str:
        """What one token shows on its own, its leading blank included. Never empty; for chips, not for joining."""
        if token_id not in self._shown:
            self._shown[token_id] = self._show(int(token_id))
        return self._shown[token_id]

    def _show(self, token_id: int) -> str:
        raw = self.tokens.get(token_id)
        if raw is None:
            return f"⟨id {token_id}⟩"
        added = getattr(self.tokenizer, "added_tokens_decoder", {})
        if token_id in self.special_ids or token_id in added:
            return raw or f"⟨id {token_id}⟩"
        if self._is_byte_level and all(glyph in _BYTE_OF for glyph in raw):
            return _bytes_shown(bytes(_BYTE_OF[glyph] for glyph in raw)) or f"⟨id {token_id}⟩"
        if (value := _fallback_byte(raw)) is not None and "ByteFallback" in self._decoder:
            return _bytes_shown(bytes([value]))
        return self._in_context(token_id, raw) or f"⟨id {token_id}⟩"

    def _in_context(self, token_id: int, raw: str) -> str:
        """Decoded after another token, since many decoders drop the blank that begins a text."""
        if self._decoder in ("", "null"):  # words joined by blanks that belong to none of them
            return raw.replace("▁", " ")
        anchor = self._anchor
        with self._lock:
            if anchor is not None:
                before = self.tokenizer.decode([anchor], clean_up_tokenization_spaces=False)
                both = self.tokenizer.decode([anchor, token_id], clean_up_tokenization_spaces=False)
                if both.startswith(before):
                    return str(both[len(before) :])
            return str(self.tokenizer.decode([token_id], clean_up_tokenization_spaces=False))

    @cached_property
    def _anchor(self) -> int | None:
        ids = [i for i in self._ids(_ANCHOR, specials=False) if i not in self.special_ids]
        return ids[-1] if ids else None

    @cached_property
    def _decoder(self) -> str:
        """Description of the fast tokenizer's decoder; empty where there is none."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return "slow"
        return "" if backend.decoder is None else str(backend.decoder)

    @cached_property
    def _is_byte_level(self) -> bool:
        return "ByteLevel" in self._decoder

    def _ids(self, text: str, specials: bool) -> list[int]:
        try:
            with self._lock:
                found = self.tokenizer(text, add_special_tokens=specials, verbose=False)["input_ids"]
            return [int(i) for i in found]
        except SpecvizError:
            raise
        except Exception as error:  # the tokenizers library raises plain Exception for a word it does not know
            if text in (_ANCHOR, ""):
                return []
            log.info("%s cannot encode a prompt: %s: %s", self.name, type(error).__name__, error)
            raise SpecvizError(sentence("errors.prompt_no_tokens", name=self.name)) from error

    def _templated(self, prompt: str) -> str:
        if not self.has_chat_template:
            raise SpecvizError(sentence("errors.no_template", name=self.name))
        message = [{"role": "user", "content": prompt}]
        try:
            with self._lock:
                text = self.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # a template is a program of its author and may raise anything
            log.info("the chat template of %s failed: %s: %s", self.name, type(error).__name__, error)
            raise SpecvizError(sentence("errors.template_failed", name=self.name)) from error
        return str(text)


def end_ids(*sources: Any, vocab_size: int) -> tuple[int, ...]:
    """End tokens from the first of `sources` (int, list of ints or None) that names any; ids out of range dropped."""
    for source in sources:
        found: Sequence[Any] = source if isinstance(source, (list, tuple)) else [source]
        ids = tuple(dict.fromkeys(int(i) for i in found if isinstance(i, int) and 0 <= i < vocab_size))
        if ids:
            return ids
    return ()


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's glyph of every byte, turned round: printable ones are themselves, the rest follow from U+0100."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + n): b for n, b in enumerate(others)}


_BYTE_OF = _byte_alphabet()


def _bytes_shown(data: bytes) -> str:
    """Text where the bytes are whole characters, hexadecimal in ⟨⟩ where they are not."""
    shown, broken = "", []
    for part in data.decode("utf-8", errors="surrogateescape"):
        if "\udc80" <= part <= "\udcff":
            broken.append(f"{ord(part) - 0xDC00:02X}")
            continue
        shown += f"⟨{' '.join(broken)}⟩{part}" if broken else part
        broken = []
    return shown + (f"⟨{' '.join(broken)}⟩" if broken else "")


def _fallback_byte(raw: str) -> int | None:
    """0xE4 for the SentencePiece token <0xE4>."""
    if len(raw) == 6 and raw.startswith("<0x") and raw.endswith(">"):
        try:
            return int(raw[3:5], 16)
        except ValueError:
            return None
    return None
