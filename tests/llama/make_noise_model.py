#!/usr/bin/env python3
"""Write a language model that knows nothing: a llama of random weights, 0.5 MB as GGUF.

The tests hand it a grammar and let it babble. Its next token is close to a fair draw among those
the grammar leaves, so whatever shape its output has is the grammar's doing and not the model's.
A token is one byte, so no tokenizer stands between the grammar and the text either.

It loads in llama-server and through libllama. The same seed gives the same file everywhere.
"""

import argparse
import array
import math
import random
import struct
import sys

# Type numbers of metadata values and of tensors, and the roles of tokens, as GGUF defines them.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TENSOR_F32 = 0
TOKEN_NORMAL, TOKEN_CONTROL = 1, 3

ALIGNMENT = 32  # of tensor data, unless the metadata says otherwise

# The smallest shape that still has every part of a llama: two layers, more than one head.
CONTEXT, WIDTH, LAYERS, HEADS, HIDDEN = 4096, 64, 2, 4, 128

# Logits then spread by 0.05 * sqrt(WIDTH) = 0.4: lively, yet no token is ever out of reach.
WEIGHT_DEVIATION = 0.05

CHAT_TEMPLATE = (
    "{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


class GgufWriter:
    """Collects metadata and tensors, then writes them as one little-endian GGUF 3 file."""

    VERSION = 3
    SCALARS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}

    def __init__(self):
        self.metadata = []
        self.tensors = []

    def add(self, key, kind, value):
        self.metadata.append(self._encode(STRING, key) + struct.pack("<I", kind) + self._encode(kind, value))

    def add_array(self, key, kind, values):
        items = b"".join(self._encode(kind, value) for value in values)
        header = struct.pack("<IIQ", ARRAY, kind, len(values))
        self.metadata.append(self._encode(STRING, key) + header + items)

    def add_tensor(self, name, shape, values):
        """The fastest-running dimension comes first in `shape`."""
        floats = array.array("f", values)
        if sys.byteorder == "big":
            floats.byteswap()
        self.tensors.append((name, shape, self._padded(floats.tobytes())))

    def write(self, path):
        directory, offset = [], 0
        for name, shape, data in self.tensors:
            dimensions = struct.pack("<I%dQ" % len(shape), len(shape), *shape)
            directory.append(self._encode(STRING, name) + dimensions + struct.pack("<IQ", TENSOR_F32, offset))
            offset += len(data)
        header = b"GGUF" + struct.pack("<IQQ", self.VERSION, len(self.tensors), len(self.metadata))
        with open(path, "wb") as file:
            file.write(self._padded(b"".join([header, *self.metadata, *directory])))
            file.writelines(data for _, _, data in self.tensors)

    @classmethod
    def _encode(cls, kind, value):
        if kind == STRING:
            text = value.encode("utf-8")
            return struct.pack("<Q", len(text)) + text
        return struct.pack(cls.SCALARS[kind], value)

    @staticmethod
    def _padded(data):
        return data + bytes(-len(data) % ALIGNMENT)


def byte_alphabet():
    """GPT-2's spelling of bytes 0 to 255: a printable character stands for itself, the others are
    numbered from U+0100."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    stand_ins = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(stand_ins)) for byte in range(256)]


def add_vocabulary(gguf):
    """Adds a token for each byte and one for the end of text; returns their number."""
    tokens = [*byte_alphabet(), "<|endoftext|>"]
    end_of_text = len(tokens) - 1
    gguf.add("tokenizer.ggml.model", STRING, "gpt2")
    gguf.add("tokenizer.ggml.pre", STRING, "gpt-2")
    gguf.add_array("tokenizer.ggml.tokens", STRING, tokens)
    gguf.add_array("tokenizer.ggml.token_type", INT32, [TOKEN_NORMAL] * end_of_text + [TOKEN_CONTROL])
    gguf.add_array("tokenizer.ggml.merges", STRING, [])  # the loader insists on the key, not on an entry
    gguf.add("tokenizer.ggml.bos_token_id", UINT32, end_of_text)
    gguf.add("tokenizer.ggml.eos_token_id", UINT32, end_of_text)
    gguf.add("tokenizer.ggml.add_bos_token", BOOL, False)
    gguf.add("tokenizer.chat_template", STRING, CHAT_TEMPLATE)
    return len(tokens)


def add_hyperparameters(gguf, vocabulary_size):
    gguf.add("general.architecture", STRING, "llama")
    gguf.add("general.name", STRING, "noise")
    gguf.add("llama.vocab_size", UINT32, vocabulary_size)
    gguf.add("llama.context_length", UINT32, CONTEXT)
    gguf.add("llama.embedding_length", UINT32, WIDTH)
    gguf.add("llama.block_count", UINT32, LAYERS)
    gguf.add("llama.feed_forward_length", UINT32, HIDDEN)
    gguf.add("llama.attention.head_count", UINT32, HEADS)
    gguf.add("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5)
    gguf.add("llama.rope.dimension_count", UINT32, WIDTH // HEADS)


def add_weights(gguf, vocabulary_size, rng):
    # random() alone: it is the one method whose sequence Python promises never to change.
    bound = WEIGHT_DEVIATION * math.sqrt(3)

    def noise(name, *shape):
        values = [(2 * rng.random() - 1) * bound for _ in range(math.prod(shape))]
        gguf.add_tensor(name + ".weight", shape, values)

    def ones(name):
        gguf.add_tensor(name + ".weight", (WIDTH,), [1.0] * WIDTH)

    noise("token_embd", WIDTH, vocabulary_size)
    for layer in range(LAYERS):
        block = "blk.%d." % layer
        ones(block + "attn_norm")
        for projection in ("attn_q", "attn_k", "attn_v", "attn_output"):
            noise(block + projection, WIDTH, WIDTH)
        ones(block + "ffn_norm")
        noise(block + "ffn_gate", WIDTH, HIDDEN)
        noise(block + "ffn_up", WIDTH, HIDDEN)
        noise(block + "ffn_down", HIDDEN, WIDTH)
    ones("output_norm")
    noise("output", WIDTH, vocabulary_size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", metavar="OUT.gguf")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another model (default: 1)")
    arguments = parser.parse_args()

    gguf = GgufWriter()
    vocabulary_size = add_vocabulary(gguf)
    add_hyperparameters(gguf, vocabulary_size)
    add_weights(gguf, vocabulary_size, random.Random(arguments.seed))
    gguf.write(arguments.out)


if __name__ == "__main__":
    main()
