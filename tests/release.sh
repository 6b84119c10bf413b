#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The files for a release that cannot run here: workflows, the Homebrew formula and the conda-forge recipe.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:=.}/tests/tap.sh"
release=$srcdir/packaging/release
version=$(sed -n 's/^AC_INIT(\[librecord\], \[\([^]]*\)\].*/\1/p' "$srcdir/configure.ac")

# mentions FILE: archives are named by this version
mentions() {
    ! grep -o 'librecord-[0-9][0-9.]*[0-9]' "$srcdir/$1" | grep -vx "librecord-$version"
}
for file in README.md docs/guide/burn-0.22.md; do
    check "$file names archives of version $version" mentions "$file"
done

echo source >"$scratch/librecord-$version.tar.xz"
check "the recipes are made" "$release/recipes" https://example.org/librecord https://example.org/source.tar.xz \
    "$scratch/librecord-$version.tar.xz" "$scratch/recipes"
filled() { # FILE
    grep -q "$(echo source | sha256sum | cut -d ' ' -f 1)" "$1" && grep -q example.org/source.tar.xz "$1" && ! grep '@' "$1"
}
for file in librecord.rb recipe.yaml; do
    check "$file has URL and checksum" filled "$scratch/recipes/$file"
done
check "the recipe has the version" grep -qF "version: \"$version\"" "$scratch/recipes/recipe.yaml"
refuses() {
    ! "$release/recipes" a b "$scratch/nowhere.tar.xz" "$scratch/recipes"
}
check "a missing tarball is an error" refuses

if command -v ruby >/dev/null; then
    check "the formula is Ruby" ruby -c "$scratch/recipes/librecord.rb"
else
    skip "the formula is Ruby" "ruby is not installed"
fi
if python3 -c 'import yaml' 2>/dev/null; then
    check "the recipe is YAML" python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))' "$scratch/recipes/recipe.yaml"
else
    skip "the recipe is YAML" "PyYAML is not installed"
fi

actionlint=$(command -v actionlint || echo "${GOPATH:-$HOME/go}/bin/actionlint")
if [ ! -d "$srcdir/.github" ]; then
    skip "the workflows are right" "the tarball has none"
elif [ -x "$actionlint" ]; then
    check "the workflows are right" "$actionlint" "$srcdir"/.github/workflows/*.yml
else
    skip "the workflows are right" "actionlint is not installed"
fi

finish
