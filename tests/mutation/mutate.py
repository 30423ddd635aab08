#!/usr/bin/env python3
"""Puts the small faults of mutants.txt into the header, one at a time, and sees which survive the
tests. A fault that survives is a gap in the tests, unless mutants.txt says why no test can see it.

Works in a scratch copy of the checkout. Needs what the tests need, and Ninja for speed. Ends with
`N mutants, K killed, S survived`; the exit code is 0 only when every fault was killed, or is known
to be equivalent and did survive.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "mutants.txt"
HEADER = "include/tick_grammar.hpp"

# Compiled once, since the faults do not change them.
PRECOMPILED = """<fmt/format.h> <algorithm> <filesystem> <fstream> <list> <map> <memory> <mutex>
  <set> <sstream> <string> <thread> <unordered_map> <vector>"""
# Takes longer than all other cases of unit_tests together, and so comes last.
SLOW_CASES = "large registries*"
# Those of llama_tests that need no walk through a whole vocabulary.
LLAMA_CASES = '"every sample output*","every name of a registry*"'
TEST_SECONDS = 120  # a loop that a fault has made endless
TEST_BYTES = 3 << 30  # or greedy
SANITIZER_OPTIONS = "halt_on_error=1:hard_rss_limit_mb=3000"

Mutant = collections.namedtuple("Mutant", "line part programs meaning places equivalent")
Outcome = collections.namedtuple("Outcome", "kind detail")  # killed, survived or broken


def read_table(text):
    """The faults of mutants.txt, in order."""
    mutants, part, programs, block = [], None, None, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        heading = re.fullmatch(r"\[(\w+): (.+)\]", line)
        if heading and not block:
            part, programs = heading.group(1), heading.group(2).split()
        elif line.strip() and (block or not line.startswith("#")):
            block.append(line)
        elif not line.strip() and block:
            mutants.append(read_mutant(number - len(block), part, programs, block))
            block = []
    return mutants


def read_mutant(number, part, programs, block):
    places, equivalent, last = [], None, ""
    for line in block[1:]:
        mark, text = line[:1], line[2:]
        if mark not in "-+=" or line[1:2] not in ("", " ") or part is None:
            sys.exit(f"{TABLE.name}:{number}: cannot read: {line}")
        if mark == "-" and last != "-":
            places.append(([], []))
        if mark == "=":
            equivalent = text
        else:
            places[-1]["-+".index(mark)].append(text)
        last = mark
    if not places:
        sys.exit(f"{TABLE.name}:{number}: changes nothing: {block[0]}")
    pairs = [("\n".join(old), "\n".join(new)) for old, new in places]
    return Mutant(number, part, programs, block[0], pairs, equivalent)


def changed(header, mutant):
    """The header with the fault; None when it does not fit the header (any more)."""
    spans = []
    for old, new in mutant.places:
        if header.count(old) != 1 or old == new:
            print(f"{TABLE.name}:{mutant.line}: {mutant.meaning}: "
                  f"occurs {header.count(old)} times instead of once:\n{old}", file=sys.stderr)
            return None
        spans.append((header.index(old), old, new))
    for start, old, new in sorted(spans, reverse=True):
        header = header[:start] + new + header[start + len(old):]
    return header


class Workshop:
    """A scratch copy, and a build of it for each sanitizer in use."""

    def __init__(self, folder, mutants, args):
        self.source = folder / "source"
        self.folder = folder
        self.jobs = args.jobs
        self.llama = args.llama
        self.header = self.source / HEADER
        shutil.copytree(ROOT, self.source,
                        ignore=shutil.ignore_patterns(".git", ".llama*", ".xgrammar*", "build*",
                                                      "__pycache__"))
        lists = self.source / "CMakeLists.txt"  # a warning is no test: tests are to notice a fault
        lists.write_text(lists.read_text(encoding="utf-8").replace("-Werror", "-w"),
                         encoding="utf-8")
        programs = sorted({p for m in mutants for p in m.programs})
        with open(self.source / "tests/CMakeLists.txt", "a", encoding="utf-8") as lists:
            for file in (p for p in programs if p.endswith(".cpp")):
                lists.write(f"\ntick_grammar_test({self.target(file)} {file})")
            for target in {self.target(p) for p in programs} - {"llama_tests", "cpp20_tests"}:
                lists.write(f"\ntarget_precompile_headers({target} PRIVATE catch.hpp {PRECOMPILED})")
            lists.write(f"\ntarget_precompile_headers(test_support PRIVATE {PRECOMPILED})\n")

    @staticmethod
    def target(program):
        return program.partition("@")[0].replace(".cpp", "_alone")

    def build(self, program):
        """The compiler's complaint, or None."""
        sanitizer = program.partition("@")[2]
        build = self.folder / f"build_{sanitizer or 'plain'}"
        if not (build / "CMakeCache.txt").exists():
            command = ["cmake", "-S", self.source, "-B", build, "-DTICK_GRAMMAR_BUILD_EXAMPLES=OFF",
                       "-DTICK_GRAMMAR_INSTALL=OFF", f"-DTICK_GRAMMAR_LLAMA_DIR={ROOT / '.llama'}"]
            if shutil.which("ninja"):
                command += ["-G", "Ninja"]
            if sanitizer:  # -O1: or the library's own copies of small functions are called unchecked
                command += [f"-DCMAKE_CXX_FLAGS=-O1 -fsanitize={sanitizer}"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        built = subprocess.run(["cmake", "--build", build, "--target", self.target(program), "-j",
                                str(self.jobs)], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
        return built.stdout if built.returncode else None

    def run(self, program):
        """What a built program found, in words, or None."""
        target, sanitizer = self.target(program), program.partition("@")[2]
        found = list((self.folder / f"build_{sanitizer or 'plain'}").rglob(target))
        cases = [[]]
        if target == "unit_tests":
            cases = [["~" + SLOW_CASES], [SLOW_CASES]]
        elif target == "llama_tests":
            cases = [[LLAMA_CASES]]
        environment = dict(os.environ, ASAN_OPTIONS=SANITIZER_OPTIONS,
                           TSAN_OPTIONS=SANITIZER_OPTIONS)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (TEST_BYTES, TEST_BYTES))
        for case in cases:
            try:
                ran = subprocess.run([next(f for f in found if f.is_file()), "--abort", *case],
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     errors="replace", timeout=TEST_SECONDS, env=environment,
                                     preexec_fn=None if sanitizer else limit)
            except subprocess.TimeoutExpired:
                return f"not done after {TEST_SECONDS} s"
            if ran.returncode:
                return self.failure(ran)
        return None

    @staticmethod
    def failure(ran):
        for pattern in (r"^SUMMARY: ([^(\n]+?) \(", r"^-{79}\n(.+)\n(?:  .*\n)*-{79}$"):
            match = re.search(pattern, ran.stdout, re.MULTILINE)
            if match:
                return match.group(1)
        return f"exit code {ran.returncode}"

    def outcome(self, mutant):
        for program in mutant.programs:
            if program == "llama_tests" and not self.llama:
                continue
            complaint = self.build(program)
            if complaint and re.search(r"static.assert\w* failed", complaint):
                return Outcome("killed", f"by {program}: a static assertion")
            if complaint:
                return Outcome("broken", f"does not compile:\n{complaint}")
            finding = self.run(program)
            if finding:
                return Outcome("killed", f"by {program}: {finding}")
        return Outcome("survived", mutant.equivalent and f"equivalent: {mutant.equivalent}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true",
                        help="only see whether every fault still fits the header; builds nothing")
    parser.add_argument("--llama", action="store_true",
                        help="judge the faults in the texts by a real llama.cpp before the goldens")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="only faults of which `part: meaning` matches")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="compilers at a time")
    args = parser.parse_args()

    original = (ROOT / HEADER).read_text(encoding="utf-8")
    mutants = read_table(TABLE.read_text(encoding="utf-8"))
    texts = [changed(original, mutant) for mutant in mutants]
    twins = len(texts) - len(set(texts))
    if None in texts or twins:
        sys.exit(f"{TABLE.name} does not fit the header" + (", or holds twins" if twins else ""))
    if args.check:
        print(f"{len(mutants)} mutants fit the header")
        return 0
    chosen = [(m, t) for m, t in zip(mutants, texts) if re.search(args.only, f"{m.part}: {m.meaning}")]

    with tempfile.TemporaryDirectory(prefix="tick_grammar_mutation_") as folder:
        shop = Workshop(pathlib.Path(folder), mutants, args)
        everything = list(dict.fromkeys(p for m, _ in chosen for p in m.programs))
        original_fails = shop.outcome(Mutant(0, "", everything, "", [], None))
        if original_fails.kind != "survived":
            sys.exit(f"the header as it is: {original_fails.kind} {original_fails.detail}")
        counts, bad, began = collections.Counter(), [], time.monotonic()
        for number, (mutant, text) in enumerate(chosen, 1):
            start = time.monotonic()
            shop.header.write_text(text, encoding="utf-8")
            found = shop.outcome(mutant)
            counts[found.kind] += 1
            line = (f"{mutant.part}: {mutant.meaning}: "
                    + (found.kind if found.kind == "killed" else found.kind.upper())
                    + f" {found.detail or ''}")
            print(f"[{number}/{len(chosen)}] {time.monotonic() - start:4.1f} s  {line}", flush=True)
            if (found.kind == "survived") != bool(mutant.equivalent) or found.kind == "broken":
                bad.append(line.partition("\n")[0])

    print(f"\nin {time.monotonic() - began:.0f} s; not as they should be: {len(bad)}", *bad, sep="\n  ")
    print(f"{len(chosen)} mutants, {counts['killed']} killed, {counts['survived']} survived"
          + (f", {counts['broken']} did not compile" if counts["broken"] else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
