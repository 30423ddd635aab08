#!/usr/bin/env bash
# get_xgrammar.sh DIR: XGrammar for node, for the test that asks a second engine.
#
#   DIR/xgrammar.cjs   the engine, to be loaded with require()
#   DIR/VERSION        its version
#
# Takes 0.5 MB from npm. A DIR that is already complete is left alone.
set -euo pipefail

version=0.1.27
pinned_sum=ce4bab44c89d06c57600cefdfaf6c5c5f3a85ae55b13209a7d889aad47af8193

die() {
    printf 'get_xgrammar.sh: %s\n' "$*" >&2
    exit 1
}

[[ $# == 1 && -n $1 && $1 != -* ]] || die 'usage: get_xgrammar.sh DIR'
dir=$(realpath -m -- "$1")
[[ ! -s $dir/xgrammar.cjs || $(cat -- "$dir/VERSION" 2>/dev/null) != "$version" ]] || exit 0
for tool in npm tar sha256sum; do
    command -v "$tool" >/dev/null || die "needs $tool, which is not on the PATH"
done

# Inside DIR, so that the last step is a rename within one file system.
mkdir -p -- "$dir"
work=$(mktemp -d -- "$dir/new.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

npm pack --ignore-scripts --cache "$work/npm" --no-update-notifier --logs-max=0 --loglevel=error --fetch-retries=1 \
    "@mlc-ai/web-xgrammar@$version" >/dev/null </dev/null ||
    die "npm could not fetch web-xgrammar $version: is its registry reachable?"
package=mlc-ai-web-xgrammar-$version.tgz
sha256sum --check --quiet <<<"$pinned_sum  $package" || die 'the package is not the pinned one'

# The package calls its file a module, which it is not; under this name node takes it for what it is.
tar -xzOf "$package" package/lib/index.js >xgrammar.cjs
printf '%s\n' "$version" >VERSION
mv -- xgrammar.cjs VERSION "$dir/" # the engine first: VERSION vouches for it
printf 'XGrammar %s in %s\n' "$version" "$dir"
