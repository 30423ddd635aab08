#!/usr/bin/env bash
# get_llama_server.sh DIR: a real llama-server, for tests that speak to it.
#
#   DIR/run llama-server -m MODEL --host 127.0.0.1 --port PORT -t 1 ...
#   DIR/run test-gbnf-validator GRAMMAR-FILE TEXT-FILE     # exits with 0 always: read what it prints
#   DIR/VERSION                                            # the engine's version
#
# Debian packages of a newer suite, unpacked into DIR/root with all the libraries they need, down to
# libc. Nothing is installed and the machine's own apt state is not touched; root is not needed.
# The suite moves, so no version is pinned: delete DIR to get today's. A complete DIR is left alone.
#
# LLAMA_SERVER_SUITE names the suite to take, forky unless set.
set -euo pipefail

suite=${LLAMA_SERVER_SUITE:-forky}
stamp=.suite-$suite

die() {
    printf 'get_llama_server.sh: %s\n' "$*" >&2
    exit 1
}

# shellcheck source=../debian_suite.sh
source "$(dirname -- "$(realpath -- "$0")")/../debian_suite.sh"

complete() { # is folder $1?
    [[ -s $1/$stamp && -s $1/VERSION && -x $1/run && -x $1/root/usr/bin/llama-server ]] &&
        compgen -G "$1/root/usr/libexec/*/llama.cpp-tests/test-gbnf-validator" >/dev/null
}

[[ $# == 1 && -n $1 && $1 != -* ]] || die 'usage: get_llama_server.sh DIR'
dir=$(realpath -m -- "$1")
! complete "$dir" || exit 0

# What is there may be replaced only if an earlier run made it.
if [[ -e $dir ]] && ! compgen -G "$dir/.suite-*" >/dev/null; then
    [[ -d $dir && -z $(ls -A -- "$dir") ]] || die "$dir holds something else; give a new or empty folder"
fi
# Beside DIR, so that the last step is a rename within one file system.
mkdir -p -- "$(dirname -- "$dir")"
work=$(mktemp -d -- "$dir.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

open_suite "$suite"
mkdir debs

# Of what the programs depend on take the libraries, by name, since their sonames move with the
# suite. The rest (debconf, wget, ...) serves the installation that does not happen here.
packages=(llama.cpp-tools llama.cpp-tests)
while true; do
    depends=$(apt-cache -c apt.conf depends --important "${packages[@]}") || die "$suite lacks ${packages[*]}"
    mapfile -t closure < <({
        printf '%s\n' "${packages[@]}"
        sed -n 's/^ *|\{0,1\}\(Pre\)\{0,1\}Depends: \(z\{0,1\}lib[^ ]*\)$/\2/p' <<<"$depends"
    } | sort -u)
    ((${#closure[@]} > ${#packages[@]})) || break
    packages=("${closure[@]}")
done
(cd debs && apt-get -c ../apt.conf -qq download "${packages[@]}" </dev/null) || die "cannot fetch ${packages[*]}"

mkdir -p new/root
for deb in debs/*.deb; do
    dpkg-deb -x "$deb" new/root
done

# ggml takes the best of the CPU back ends that lie beside the executable. To the kernel that is
# the loader, since the run script starts it by name.
for loader in new/root/usr/lib/*-linux-gnu/ld-linux*.so.*; do
    for backend in "${loader%/*}"/ggml/backends*/libggml-cpu-*.so; do
        ln -s "${backend#"${loader%/*}/"}" "${loader%/*}/"
    done
done

cat >new/run <<'RUN'
#!/usr/bin/env bash
# run PROGRAM [ARGUMENT...]: a program of the unpacked packages, with their own loader and libraries
root=$(dirname -- "$(realpath -- "$0")")/root
for program in "$root"/usr/bin/"$1" "$root"/usr/libexec/*/llama.cpp-tests/"$1"; do
    [[ -n $1 && -x $program ]] || continue
    for loader in "$root"/usr/lib/*-linux-gnu/ld-linux*.so.*; do
        exec "$loader" --library-path "${loader%/*}:${loader%/*}/llama" "$program" "${@:2}"
    done
done
printf 'run: no program "%s" here\n' "$1" >&2
exit 127
RUN
chmod +x new/run

version=$(dpkg-deb -f debs/llama.cpp-tools_*.deb Version)
version=${version#*:} # without the epoch
printf '%s\n' "${version%%[!0-9.]*}" >new/VERSION
(cd debs && printf '%s\n' *.deb) >"new/$stamp"

# Both programs must start here, before anyone relies on them.
new/run llama-server --version >server.log 2>&1 </dev/null || die "llama-server does not start: $(<server.log)"
printf 'root ::= "tick"' >grammar
printf 'tick' >text
new/run test-gbnf-validator grammar text 2>&1 </dev/null | grep -q 'is valid' || die 'test-gbnf-validator does not work'

# A second run may have finished meanwhile; its DIR is as good.
[[ ! -e $dir ]] || complete "$dir" || mv -T -- "$dir" old
mv -T -- new "$dir" 2>/dev/null || complete "$dir" || die "cannot put the result at $dir"
printf 'llama-server %s in %s\n' "$(<"$dir/VERSION")" "$dir"
