#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record plugins
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"

run plugins
status_is "record plugins succeeds" 0
check "a recorder with files shows its extension" grep -qE '^NamedMpkGz +\.mpk\.gz +[^ ]' "$scratch/out"
check "one without shows none" grep -qE '^NamedMpkBytes +- +[^ ]' "$scratch/out"
awk 'length > 80' "$scratch/out" >"$scratch/long"
same "it fits 80 columns" /dev/null "$scratch/long"

run plugins --why
cp "$scratch/out" "$scratch/shown"
check "--why names the file" grep -qE '^NamedMpk +\.mpk +(built in|[^ ]*/mpk\.so) +[^ ]' "$scratch/out"
check "--why lists other names" grep -qE '^  also called  mpk, NamedMpkFileRecorder' "$scratch/out"
check "--why lists options" grep -qE '^  options      level \(' "$scratch/out"

run plugins mpk-gz
status_is "all of one plugin, by any of its names" 0
check "its name" grep -qx 'NamedMpkGz' "$scratch/out"
check "its extension" grep -qx '  extension    mpk.gz' "$scratch/out"
check "what it can" grep -qx '  can          load and save' "$scratch/out"
check "what it is made of" sh -c "grep -qx '  format       NamedMpk' '$scratch/out' && grep -qx '  codec        gzip' '$scratch/out'"
check "its options" grep -qE '^  options      level \(' "$scratch/out"
run plugins BinFile
check "that it has no names" grep -qE '^  names        are not in its files' "$scratch/out"
run plugins no-such-plugin
status_is "a name that nothing has" 2
check "is answered with those there are" grep -q 'no recorder is called "no-such-plugin"' "$scratch/err"

# What cannot be used: a file that is no shared object.
mkdir "$scratch/folder"
chmod 700 "$scratch" "$scratch/folder"
echo "not a shared object" >"$scratch/folder/broken.so"
LIBRECORD_PLUGIN_PATH=$scratch/folder${LIBRECORD_PLUGIN_PATH:+:$LIBRECORD_PLUGIN_PATH}
export LIBRECORD_PLUGIN_PATH
run plugins
status_is "a broken plugin is no error" 0
check "it is not listed" [ "$(grep -c '^broken' "$scratch/out")" = 0 ]
check "but mentioned" grep -qx '1 more is rejected; record plugins --why shows the reason.' "$scratch/out"
run plugins --why
check "--why says why it was refused" grep -qE '^broken(\.so)? +- +.*broken\.so +refused: ' "$scratch/out"
check "the others are there" grep -qE '^NamedMpk ' "$scratch/out"
run plugins broken
status_is "one that was refused is told too" 0
check "with the reason" grep -qE '^  refused      [a-z]' "$scratch/out"

if command -v jq >/dev/null; then
    run plugins --json
    answers "--json" '.plugins[] | select(.name == "NamedMpk") | [.usable, .extension, .aliases[0], (.options | length)]' \
        '[true,"mpk","mpk",1]'
    answers "--json has options" '.plugins[] | select(.name == "NamedMpkGz") | .options | length' 2
    answers "--json has what a plugin can do" '.plugins[] | select(.name == "NamedMpkGz") |
        [.kind, .extensions, .can_load, .can_save, .needs_type, .has_names, .reads_folders, .hidden]' \
        '["stack",["mpk.gz"],true,true,false,true,false,""]'
    answers "--json has options with their bounds" '.plugins[] | select(.name == "NamedMpkGz") |
        .option_list[] | select(.name == "level") | [.type, .minimum, .maximum]' '["int",0,9]'
    answers "--json has what was refused" '[.plugins[] | select(.usable | not) | .refused != ""]' '[true]'
else
    skip "JSON output" "jq is not installed"
fi

# The same plugins again, behind the first ones.
if grep -q '/mpk\.so' "$scratch/shown"; then
    mkdir "$scratch/again"
    chmod 700 "$scratch/again"
    cp "$(sed -n 's/^NamedMpk  *\.mpk  *\([^ ]*mpk\.so\) .*/\1/p' "$scratch/shown")" "$scratch/again/mpk.so"
    LIBRECORD_PLUGIN_PATH=$LIBRECORD_PLUGIN_PATH:$scratch/again
    run plugins
    check "what is hidden is not listed" [ "$(grep -c '^NamedMpk ' "$scratch/out")" = 1 ]
    check "but mentioned" grep -qE '^[0-9]+ more are hidden by others of the same name' "$scratch/out"
    run plugins --why
    check "--why says by whom" grep -qE '^  hidden       all of it: NamedMpk of .*mpk\.so$' "$scratch/out"
else
    skip "plugins that others hide" "this build has its plugins built in"
fi

LIBRECORD_PLUGINS=none
export LIBRECORD_PLUGINS
run plugins
if grep -q '^NamedMpk' "$scratch/out"; then
    ok "LIBRECORD_PLUGINS=none leaves those that are built in"
else
    printf '%s\n' 'No plugin was found. LIBRECORD_PLUGIN_PATH names the directories to look into.' >"$scratch/expected"
    same "without any plugin that is said" "$scratch/expected" "$scratch/out"
fi

finish
