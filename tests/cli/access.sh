#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Files that a command replaces keep their access control list (ACL): nobody can read the new one who could not read the old.
set -u
# shellcheck source=tests/cli/cli.sh
. "${srcdir:=.}/tests/cli/cli.sh"
top=$(pwd)
cd "$scratch" || exit 99

# acl FILE: gives FILE a list that denies user 65534 what others may do, and its group what user 1001 may
cat >acl.py <<'PYTHON'
import os, struct, sys
NONE = 0xFFFFFFFF
ENTRIES = [(1, 6, NONE), (2, 6, 1001), (2, 0, 65534), (4, 0, NONE), (16, 6, NONE), (32, 4, NONE)]
LIST = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in ENTRIES)
NAME = "system.posix_acl_access"
if sys.argv[1] == "set":
    open(sys.argv[2], "ab").close()
    os.setxattr(sys.argv[2], NAME, LIST)
else:
    sys.exit(os.getxattr(sys.argv[2], NAME) != LIST)
PYTHON
if ! command -v python3 >/dev/null || ! python3 acl.py set probe 2>/dev/null; then
    skip "access control lists" "python3 is not installed, or the file system has no lists"
    finish
fi
cp "$top/0.18.0/mnist.mpk" in.mpk || exit 99
chmod 755 .

# replaces FILE COMMAND...: runs the command, which replaces FILE; the list stays, and whoever is denied is denied
replaces() {
    file=$1
    shift
    python3 acl.py set "$file"
    before=$(stat -c %i "$file")
    run "$@"
    status_is "record $1 replaces $file" 0
    check "… by a new file" test "$(stat -c %i "$file")" != "$before"
    check "… with the same list" python3 acl.py get "$file"
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        check "… and user 65534 cannot read it" sh -c \
            "! setpriv --reuid 65534 --regid 65534 --clear-groups cat '$file' >/dev/null 2>&1"
    else
        skip "… and user 65534 cannot read it" "needs root and setpriv"
    fi
}

replaces out.mpk convert -q in.mpk out.mpk
replaces out.safetensors convert -q in.mpk out.safetensors
run convert -q --max-shard-size 20KB in.mpk m.safetensors
replaces m.safetensors.index.json convert -q --max-shard-size 20KB in.mpk m.safetensors
replaces out.mpk edit -i out.mpk meta note text
replaces page.html report in.mpk -o page.html
replaces net.c embed in.mpk -o net.c
replaces sums verify --sums write --sums-file sums in.mpk

finish
