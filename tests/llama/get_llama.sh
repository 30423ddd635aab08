#!/usr/bin/env bash
# get_llama.sh DIR: llama.cpp as a library, for tests that ask the real engine.
#
#   DIR/include   llama.h and the ggml headers
#   DIR/lib       libllama.so, libggml.so, libggml-base.so and one libggml-cpu-*.so per kind of CPU
#   DIR/vocab     qwen2.gguf, llama-bpe.gguf, gpt-2.gguf: tokenizers without weights
#   DIR/VERSION   the engine's version
#
# Build:  g++ -IDIR/include PROGRAM.cpp -LDIR/lib -lllama -lggml -lggml-base -Wl,-rpath,DIR/lib
# Weights need a CPU back end, and ggml does not look for one beside its own library:
#   ggml_backend_load_all_from_path("DIR/lib");   // tokenizers do without
#
# Takes 46 MB from npm; Linux on x86-64. A DIR that is already complete is left alone.
set -euo pipefail

package_version=3.21.1
pinned_sums="\
7a231d6bafa14142a1cbed9893d4ec5bc6041b2a5f5939a623accaab4203c11f  node-llama-cpp-$package_version.tgz
4b5b65a8b2611d8af94349b02d815c0f424a30a0a19aef2be5db25ecfef6730f  node-llama-cpp-linux-x64-$package_version.tgz"
vocabularies=(qwen2.gguf llama-bpe.gguf gpt-2.gguf)
stamp=.node-llama-cpp-$package_version

die() {
    printf 'get_llama.sh: %s\n' "$*" >&2
    exit 1
}

# The name of the first file that folder $1 lacks; empty when nothing is missing.
first_missing() {
    local file
    for file in "$stamp" VERSION include/{llama,ggml,ggml-backend,ggml-cpu,ggml-opt,gguf}.h \
        lib/lib{llama,ggml,ggml-base,ggml-cpu-x64}.so "${vocabularies[@]/#/vocab/}"; do
        [[ -s $1/$file ]] || { printf '%s' "$file"; return; }
    done
}

[[ $# == 1 && -n $1 && $1 != -* ]] || die 'usage: get_llama.sh DIR'
[[ $(uname -sm) == 'Linux x86_64' ]] || die "the binaries are for Linux x86_64, this is $(uname -sm)"
dir=$(realpath -m -- "$1")
[[ -n $(first_missing "$dir") ]] || exit 0

# What is there may be replaced only if an earlier run made it.
if [[ -e $dir ]] && ! compgen -G "$dir/.node-llama-cpp-*" >/dev/null; then
    [[ -d $dir && -z $(ls -A -- "$dir") ]] || die "$dir holds something else; give a new or empty folder"
fi
for tool in npm git tar sha256sum ldd; do
    command -v "$tool" >/dev/null || die "needs $tool, which is not on the PATH"
done

# Beside DIR, so that the last step is a rename within one file system.
mkdir -p -- "$(dirname -- "$dir")"
work=$(mktemp -d -- "$dir.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

# npm checks the registry's own integrity value; its cache stays in here, whatever $HOME is.
npm pack --ignore-scripts --cache "$work/npm" --no-update-notifier --logs-max=0 --loglevel=error --fetch-retries=1 \
    "node-llama-cpp@$package_version" "@node-llama-cpp/linux-x64@$package_version" >/dev/null </dev/null ||
    die "npm could not fetch node-llama-cpp $package_version: is its registry reachable?"
sha256sum --check --quiet <<<"$pinned_sums" || die 'a package is not the pinned one'

mkdir source binary
tar -xzf "node-llama-cpp-$package_version.tgz" -C source --strip-components=2 package/llama
tar -xzf "node-llama-cpp-linux-x64-$package_version.tgz" -C binary --strip-components=3 package/bins/linux-x64

# Headers come with one package and libraries with the other: they must be of one release.
tag=$(sed -n 's/.*"tag": *"\([^"]*\)".*/\1/p' source/llama.cpp.info.json)
built=$(sed -n 's/.*"release": *"\([^"]*\)".*/\1/p' binary/_nlcBuildMetadata.json)
[[ -n $tag && $tag == "$built" ]] || die "headers of '$tag', libraries of '$built'"

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE # set when a git hook runs us
git clone --quiet --bare --depth 1 source/gitRelease.bundle git </dev/null
mkdir tree
git --git-dir=git archive HEAD include ggml/include "${vocabularies[@]/#/models/ggml-vocab-}" | tar -x -C tree

mkdir -p new/include new/lib new/vocab
cp tree/include/*.h tree/ggml/include/*.h new/include/
cp binary/lib{llama,ggml}."$tag".so binary/libggml-base.so binary/libggml-cpu-*.so new/lib/
for name in llama ggml; do # the soname carries the release, -l wants the plain name
    ln -s "lib$name.$tag.so" "new/lib/lib$name.so"
done
for name in "${vocabularies[@]}"; do
    cp "tree/models/ggml-vocab-$name" "new/vocab/$name"
done
printf '%s\n' "${tag#v}" >new/VERSION
printf '%s\n' "$pinned_sums" >"new/$stamp"

missing=$(first_missing new)
[[ -z $missing ]] || die "the packages lack $missing"
unresolved=$(ldd new/lib/libllama.so 2>&1 | grep 'not found') && die "libllama.so does not load: $unresolved"

# A second run may have finished meanwhile; its DIR is as good.
[[ ! -e $dir || -z $(first_missing "$dir") ]] || mv -T -- "$dir" old
mv -T -- new "$dir" 2>/dev/null || [[ -z $(first_missing "$dir") ]] || die "cannot put the result at $dir"
printf 'llama.cpp %s in %s\n' "${tag#v}" "$dir"
