"""Masking of slurs in users' posts for readers: ``b****``.

This repository holds only the first digits of the hash of each word (SHA-256 of the word in lower
case). The words come from HateCheck's templates, HatEval's keywords and tokens of Davidson et al.'s
tweets, with their plurals. New spellings are not masked.
"""

from __future__ import annotations

import re
from hashlib import sha256

WORD = re.compile(r"\w+")
DIGITS = 8
HASH_LIST = """
00940d98 022a8753 038c9ccd 044eb98b 045c89d1 086bc1cc 08a841e9 09231e07 0ce875d6 0dcc4d33
0ea1bedb 11cf8376 120f6e5b 1290d04b 12e6274e 158869a9 16ea09fc 17a110e5 17bde8b4 1c86838f
1db64d8c 1e02eec4 1f5758ae 1f6ea1fd 206d6599 22fc75e6 262f86db 268651b3 27a62b68 328d721e
32c2aaad 33740da8 33b9a12f 341d5638 3b1e0d7c 3dc769bb 3eed6d8f 3ff99471 402f7ebd 448b303c
44f8202e 45cd3e1b 470dd245 489a8455 4bfae123 4cc34eab 4d4a5cbe 50465236 517ae3f7 544fc854
566f532d 58d5ed00 5a9d9dce 5af82665 5b3ae48b 5cb6af43 619bc82e 6422a9a5 64dd7c4e 67bfe059
6ada028b 6db5f27a 6dbe0f85 70a4ce37 7122c9a1 7145d43d 74006ca1 7665769c 784b36e2 7d1300df
7f4d74d5 82159dd0 86c434a1 87d1690e 886d51e9 8a161949 8d5506af 8dd8c052 8f5083e3 92a9bf81
937d56e4 940cd091 98b52c4b 9915ba2d 994c293a 99a25944 9ae315a9 a2bd9297 a40ccba8 b0105c79
b3bf874e bb209d50 bbcd2f1e bd331fb1 be00f1af c0d07de7 c0f42ff5 c1cabb6f c2c3b68b c3de533e
c74677ab cc020323 ced52bdc d4f68464 d6320c80 d75a838d d7cc7ecc d873147a da474c1d daec0c23
dc50e12f e0cb2381 e10c5b19 e7b98c6a eef3bd09 efe29369 f07a64bb f1b9c63b f3cf22cc f49305ac
f6d76e10 f9d0d9b1 fa38a8d3 fd3d4829 ff454a87
"""
HASHES = frozenset(HASH_LIST.split())


def mask_slurs(text: str) -> str:
    """Replace all but the first letter of each slur in a text by asterisks."""
    return WORD.sub(lambda match: _masked(match[0]), text)


def _masked(word: str) -> str:
    is_slur = sha256(word.lower().encode()).hexdigest()[:DIGITS] in HASHES
    return word[0] + "*" * (len(word) - 1) if is_slur else word
