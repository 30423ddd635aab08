# shellcheck shell=bash
# Packages of another Debian suite, without touching the machine's own apt. To be sourced by a script
# that has a function `die`.

# open_suite SUITE: makes ./apt.conf, with which `apt-get -c apt.conf download PACKAGE...` takes the
# packages of SUITE. It is to run in a folder of its own. DEBIAN_MIRROR names the archive; unless set,
# it is the one that this machine's apt uses.
open_suite() {
    local suite=$1 tool mirrors mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    for tool in apt-get apt-cache dpkg-deb; do
        command -v "$tool" >/dev/null || die "needs $tool, which is not on the PATH"
    done
    [[ -r $keyring ]] || die "needs $keyring (package debian-archive-keyring)"

    # apt reads its own sources, of either syntax, and says what it would fetch from them.
    mirrors=${DEBIAN_MIRROR:-$(apt-get update --print-uris </dev/null |
        sed -n "s#^'\([^']*/debian[/.][^']*\)dists/.*#\1#p")}
    mirror=${mirrors%%$'\n'*}
    [[ -n $mirror ]] || die 'no Debian archive in the sources of apt; name one in DEBIAN_MIRROR'

    # The empty status file makes apt forget what is installed; hooks are cleared because they act on
    # the machine (container images empty its package cache in one).
    mkdir -p state/lists/partial cache/archives/partial
    touch status
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >sources.list
    cat >apt.conf <<CONF
Dir::Etc::sourcelist "$PWD/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$PWD/state";
Dir::State::status "$PWD/status";
Dir::Cache "$PWD/cache";
Acquire::Languages "none";
Acquire::Retries "2";
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
    apt-get -c apt.conf -qq update </dev/null || die "cannot read $suite from $mirror"
}
