#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Mistakes in an INI file that only show when it is used: messages name the file, the line and the way out.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$(pwd)/../../..
case $srcdir in /*) top=$srcdir ;; esac
record=$(cd "$top" && readlink -f "$record")
# shellcheck source=tests/cli/make-safetensors.sh
. "$top/tests/cli/make-safetensors.sh"
cd "$scratch" || exit 99
st_begin
st_tensor a 2 2
st_end >m.safetensors
unset LIBRECORD_CONFIG

# mistake NAME OPTION FILE MESSAGE: a conversion with the option fails; its errors contain each line of MESSAGE
mistake() {
    printf '%b' "$3" >bad.ini
    # shellcheck disable=SC2086 # an option and its value
    LIBRECORD_CONFIG=$scratch/bad.ini run convert -y $2 m.safetensors out.mpk
    status_is "$1: fails" 2
    printf '%s\n' "$4" >expected
    sed "s:$scratch/::g" err >said
    while IFS= read -r line; do
        check "$1: $line" grep -qF -- "$line" said
    done <expected
}

mistake 'an included file that is missing' '--from x' \
    '[profile p]\ninclude = other.ini:y\n[recorder x]\nplugin = Safetensors\nprofile = p\n' \
    'bad.ini: line 2: cannot open other.ini: No such file'
mistake 'a profile that includes itself' '--from x' \
    '[profile p]\ninclude = p\n[recorder x]\nplugin = Safetensors\nprofile = p\n' \
    'bad.ini: line 2: [profile p] includes itself, and no other profile has that name'
mistake 'a key of another language' '--from x' \
    '[profile p]\nextends = llama\n[recorder x]\nplugin = Safetensors\nprofile = p\n' \
    'Did you mean "include"?'
mistake 'a size in small letters' '--profile auto' \
    '[profile p]\nfamily = P\nhas = ^a$ | [C, z]\n' \
    '[profile p]: has has the size "z" for each match of a group, and its pattern has no group
  Write it in capitals if it is one number for all keys.'
mistake 'a recorder that extends a recorder' '--to a' \
    '[recorder a]\nplugin = x\n[recorder x]\nplugin = NamedMpk\n' \
    'bad.ini: line 2: no recorder is called "x"
  plugin takes the name of a plugin; [recorder x] cannot be extended by another one.'
check 'a recorder that extends a recorder: nothing similar is suggested' [ "$(grep -c 'Did you mean' err)" = 0 ]
mistake 'an unknown default recorder' '--to Default' '[librecord]\nrecorder = nope\n' \
    'bad.ini: line 2: no recorder is called "nope"'
mistake 'a number with a unit' '--to x' '[recorder x]\nplugin = NamedMpkGz\nlevel = 4KiB\n' \
    'bad.ini: line 3: expected a whole number from 0 to 9 for the option level, found
  Write the number without a unit.'

finish
