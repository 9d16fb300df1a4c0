"""Prompts in, text and chips out."""

from __future__ import annotations

import threading

import pytest
from transformers import AutoTokenizer

from specviz.core.settings import SpecvizError
from specviz.models.catalogue import BUNDLED
from specviz.models.text import TextCodec, end_ids
from tests import tiny

BOS_CHAT = "{{ bos_token }} {% for message in messages %}{{ message['content'] }}{% endfor %}"


def codec(name: str, **options) -> TextCodec:
    return TextCodec(AutoTokenizer.from_pretrained(tiny.folder(name, **options)), name)


# prompts


def test_words_become_ids_and_nothing_is_added():
    assert codec("target12").encode("w0 w3") == [0, 3]


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("prompt", ["w5", "w0 w5", "w0 w0 w5"])
def test_exactly_one_bos_whoever_else_writes_it(chat, prompt):
    words = codec("target12", bos=0, add_bos=True, chat=BOS_CHAT)
    assert words.encode(prompt, chat=chat) == [0, 5]


@pytest.mark.parametrize("chat", [False, True])
def test_half_a_character_is_an_error_in_plain_words(chat):
    with pytest.raises(SpecvizError, match=r"^Character 4 of the prompt is incomplete; delete it and type it again\.$"):
        codec("pieces_lm").encode("abc\ud83d", chat=chat)


def test_a_template_that_writes_the_bos_does_not_double_it():
    pieces = codec("pieces_lm")
    assert pieces.encode("the", chat=True).count(1) == 1
    assert pieces.encode("the")[0] == 1 and pieces.encode("the").count(1) == 1


def test_no_bos_where_the_tokenizer_does_not_want_one():
    assert codec("target12", bos=0).encode("w5") == [5]


@pytest.mark.parametrize("prompt", ["", " ", "\n"])
def test_an_empty_prompt_starts_from_bos_or_is_reported_in_a_sentence(prompt):
    assert codec("target12", bos=0).encode(prompt) == [0]
    assert codec("pieces_lm").encode("") == [1]
    with pytest.raises(SpecvizError, match="Type a prompt"):
        codec("target12").encode(prompt)


def test_chat_without_a_template_is_an_error_and_plain_text_still_works():
    words = codec("target12")
    assert not words.has_chat_template
    with pytest.raises(SpecvizError, match="no chat template"):
        words.encode("w0", chat=True)
    assert words.encode("w0") == [0]


def test_a_template_that_fails_is_told_in_a_sentence():
    with pytest.raises(SpecvizError, match="chat template of target12 cannot format this prompt"):
        codec("target12", chat="{{ raise_exception('no') }}").encode("w0", chat=True)


@pytest.mark.parametrize("prompt", ["hello", "w0 w12"])
def test_text_that_the_tokenizer_cannot_write_is_an_error(prompt):
    with pytest.raises(SpecvizError, match="cannot encode"):
        codec("target12").encode(prompt)


def test_ids_beyond_the_embedding_are_errors():
    words = codec("target12")
    words.vocab_size = 10
    with pytest.raises(SpecvizError, match="w11"):
        words.encode("w11")


def test_many_threads_may_ask_at_once():
    shared, wrong = codec("bytes_lm"), []

    def ask(n: int) -> None:
        for _ in range(50):
            if shared.decode(shared.encode("abc" * n)) != "abc" * n:
                wrong.append(n)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# text and chips


@pytest.mark.parametrize("text", ["Seán über 你好 😀", "a  b    c", "x\n\ty ", "w3 , it 's"])
def test_the_whole_list_decodes_to_the_text(text):
    bytes_lm = codec("bytes_lm")
    assert bytes_lm.decode(bytes_lm.encode(text)) == text


def test_special_and_nameless_ids_are_left_out_of_the_text():
    assert codec("target12").decode([1, 2, 15, 4]) == "w1 w2 w4"
    bytes_lm = codec("bytes_lm")
    assert bytes_lm.decode([*bytes_lm.encode("hi"), 256, 300]) == "hi"
    assert codec("target12", eos=4).decode([1, 4]) == "w1"


def test_special_and_nameless_ids_have_a_chip_each():
    assert codec("bytes_lm").show(256) == "<|im_end|>"
    assert codec("target12").show(15) == "⟨id 15⟩"
    assert codec("target12", eos=4).show(4) == "w4"


def test_a_byte_level_chip_shows_decoded_text():
    bytes_lm = codec("bytes_lm")
    shown = [bytes_lm.show(i) for i in bytes_lm.encode("a ü\n")]
    assert shown == ["a", " ", "⟨C3⟩", "⟨BC⟩", "\n"]


def test_a_real_byte_level_tokenizer_shows_words_and_half_characters():
    real = TextCodec(AutoTokenizer.from_pretrained(BUNDLED / "smollm2-draft-small"))
    shown = [real.show(i) for i in real.encode("Hello, you 你")]
    assert shown == ["Hello", ",", " you", " ", "⟨E4 BD⟩", "⟨A0⟩"]
    assert all(real.show(i) for i in range(0, 24576, 97))


def test_a_sentencepiece_chip_keeps_its_leading_blank():
    pieces = codec("pieces_lm")
    ids = pieces.encode("the cats ü你")
    assert [pieces.show(i) for i in ids] == ["<s>", " the", " cat", "s", " ü", "⟨E4⟩", "⟨BD⟩", "⟨A0⟩"]
    assert pieces.decode(ids) == "the cats ü你"


def test_a_word_shows_no_blank_that_is_not_its_own():
    assert [codec("target12").show(i) for i in (0, 11)] == ["w0", "w11"]


# end tokens


def test_end_tokens_come_from_the_first_that_names_any():
    assert end_ids(None, 4, 7, vocab_size=12) == (4,)
    assert end_ids([4, 2, 4], 7, vocab_size=12) == (4, 2)
    assert end_ids([99], 7, vocab_size=12) == (7,)
    assert end_ids(None, None, vocab_size=12) == ()
