"""Stop strings cut at the same token and the same character, however the ids fall into steps."""

import itertools
import random
from dataclasses import replace

import pytest
from transformers import AutoTokenizer

from specviz.core.settings import RunSettings
from specviz.core.stopping import first_stop
from specviz.decoding import engine
from specviz.models.text import TextCodec
from tests import tiny

FULL_STOP, SMILE = "。", "🙂"


@pytest.fixture(scope="module")
def codecs(tmp_path_factory):
    """Byte-level as GPT-2, and pieces with bytes where no piece fits."""
    made = {}
    for name, write in (("bytes", tiny.write_bytes_tokenizer), ("pieces", tiny.write_pieces_tokenizer)):
        write(folder := tmp_path_factory.mktemp(name))
        made[name] = TextCodec(AutoTokenizer.from_pretrained(folder), name)
    return made


def byte_ids(codec, text):
    """The tokens of `text`: its own where it is a piece, else one for each byte."""
    ids = {token: i for i, token in codec.tokens.items()}
    if "<0x00>" not in ids:
        return codec.encode(text)
    return [i for c in text for i in ([ids[c]] if c in ids else [ids[f"<0x{byte:02X}>"] for byte in c.encode()])]


def split(ids, sizes):
    """`ids` in pieces of these sizes, and a rest."""
    ends = [0, *itertools.accumulate(sizes)]
    return [ids[a:b] for a, b in itertools.pairwise([*ends, len(ids)]) if a < b]


def told(codec, ids, sizes, stops, before=0):
    """What a run over these steps emits and shows; the first `before` ids came before the stop strings were set."""
    known = codec.decode(ids[:before])
    output = list(ids[:before])
    for block in split(ids[before:], sizes):
        if found := first_stop(codec.decode, output, block, dict.fromkeys(stops, known)):
            return [*output, *block[: found[0]]], found[1]
        output += block
    return output, None


def ways(length):
    """All ways to cut so many ids into steps."""
    for marks in itertools.product((False, True), repeat=max(0, length - 1)):
        ends = [i + 1 for i, mark in enumerate(marks) if mark]
        yield [b - a for a, b in itertools.pairwise([0, *ends])]


@pytest.mark.parametrize("kind", ["bytes", "pieces"])
@pytest.mark.parametrize("stop", [FULL_STOP, SMILE, "é" + FULL_STOP])
def test_the_last_byte_of_a_stop_string_ends_the_run(codecs, kind, stop):
    codec = codecs[kind]
    ids = byte_ids(codec, "s" + stop + "s")
    for sizes in ways(len(ids)):
        assert told(codec, ids, sizes, [stop]) == (ids[:-1], "s")


@pytest.mark.parametrize("kind", ["bytes", "pieces"])
def test_any_split_of_the_same_ids_gives_the_same_cut(codecs, kind):
    codec, chance = codecs[kind], random.Random(5)
    whole = byte_ids(codec, FULL_STOP), byte_ids(codec, SMILE), byte_ids(codec, "sa")
    some = sorted({i for group in whole for i in group}) + [i for i in (259, 262, 264) if i in codec.tokens]
    sets = [[FULL_STOP], [SMILE], ["\ufffd"], ["\ufffds"], [SMILE, FULL_STOP, "a"], ["s" + FULL_STOP], ["as", "ss"]]
    stopped = 0
    for _ in range(150):
        ids = [i for _ in range(3) for i in chance.choice([*whole, *([i] for i in some)])][:8]
        stops, before = chance.choice(sets), chance.choice([0, 0, 1, 3])
        once = told(codec, ids, [1] * len(ids), stops, before)
        stopped += once[1] is not None
        for sizes in ways(len(ids) - before):
            assert told(codec, ids, sizes, stops, before) == once, (ids, stops, before, sizes)
    assert 20 < stopped < 130


@pytest.mark.parametrize("kind", ["bytes", "pieces"])
def test_bytes_on_the_way_to_a_character_are_no_replacement_character(codecs, kind):
    codec = codecs[kind]
    ids = byte_ids(codec, "s" + SMILE + "s")
    assert told(codec, ids, [1] * 9, ["\ufffd"]) == (ids, None)
    broken = ids[:2] + ids[-1:]  # a byte alone, then a letter: now it is one
    for sizes in ways(3):
        assert told(codec, broken, sizes, ["\ufffd"]) == (broken, "s")
    # nothing follows an end token
    assert first_stop(codec.decode, [], [*broken[:2], 999], {"\ufffd": ""}, {999}) == (3, "s")


def test_a_stop_string_set_in_mid_run_needs_a_new_character(codecs):
    codec = codecs["pieces"]
    ids = byte_ids(codec, "s" + FULL_STOP + "s" + FULL_STOP)
    for before, cut in ((0, 4), (3, 4), (4, 8), (6, 8)):
        for sizes in ways(8 - before):
            assert told(codec, ids, sizes, [FULL_STOP], before)[0] == ids[:cut]


def test_the_earliest_of_several_stop_strings_cuts(codecs):
    codec = codecs["bytes"]
    ids = codec.encode("abcabc")
    for sizes in ways(6):
        assert told(codec, ids, sizes, ["c", "bc"]) == (ids[:3], "a")


class ByteCodec(TextCodec):
    """The words of the tiny models as bytes: w1, w2 and w3 are the three of one character, the others are letters."""

    def decode(self, ids):
        whole = dict(zip((1, 2, 3), FULL_STOP.encode(), strict=True))
        return bytes(whole.get(i, 97 + i) for i in ids).decode("utf-8", "replace")


@pytest.mark.parametrize(("stop", "text"), [(FULL_STOP, ""), ("e", FULL_STOP), ("ef" + "ghijkl", FULL_STOP)])
def test_a_run_is_cut_the_same_for_every_k(pair, stop, text):
    both = pair("cycle12", "cycle12")
    codec = ByteCodec(both.target.codec.tokenizer)
    both = replace(both, target=replace(both.target, codec=codec), draft=replace(both.draft, codec=codec))
    settings = RunSettings(temperature=0, stop=(stop,), max_new_tokens=30)
    runs = [
        engine.run(both, [0], replace(settings, strategy="greedy" if k else "none", k=k)) for k in (0, 1, 2, 3, 5, 8)
    ]
    assert {(t.text, t.stop) for t in runs} == {(text, "stop string")}
    assert len({t.output_ids for t in runs}) == 1
