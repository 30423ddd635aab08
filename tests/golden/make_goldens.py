#!/usr/bin/env python3
"""Makes every golden but the reference's own from one hand-checked file an edition and setting.

five_tools.EDITION.gbnf is written and reviewed by hand; what a real llama.cpp says of it is tested
in tests/llama. The other registries differ from it in the `toolname` rule alone, which this script
spells on its own, recursively, so that the C++ is compared with something it did not make.

    make_goldens.py           rewrite the goldens
    make_goldens.py --check   only compare; exit code 1 and their names if any differ
"""

import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
EDITIONS = ["", ".fast", ".strict"]
SETTINGS = [".gbnf", ".require_reply.gbnf"]


def alternation(names):
    return " | ".join(f'"{name}"' for name in names)


def prefix_tree(names):
    """The names as an alternation in which no two alternatives start with the same byte."""
    branches = []
    for first in sorted({name[:1] for name in names}):
        group = [name for name in names if name[:1] == first]
        if len(group) == 1:
            branches.append(f'"{group[0]}"')
            continue
        shared = os.path.commonprefix(group)
        rest = prefix_tree([name[len(shared):] for name in group])
        branches.append(f'"{shared}" ( {rest} )')
    return " | ".join(branches)


def golden(template, names, spell):
    before, rule, after = template.partition("toolname ::= ")
    return before + rule + spell(sorted(set(names))) + "\n" + after.split("\n", 1)[1]


def main():
    check = sys.argv[1:] == ["--check"]
    differing = []
    for edition in EDITIONS:
        for setting in SETTINGS:
            template = (FOLDER / f"five_tools{edition}{setting}").read_bytes().decode()
            for registry in sorted(FOLDER.glob("*.names")):
                names = registry.read_text().split("\n")[:-1]
                text = golden(template, names, prefix_tree if edition else alternation).encode()
                path = FOLDER / f"{registry.stem}{edition}{setting}"
                if path.exists() and path.read_bytes() == text:
                    continue
                differing.append(path.name)
                if not check:
                    path.write_bytes(text)
    print("\n".join(differing))
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
