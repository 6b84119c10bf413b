#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# record-mpi convert while ranks are killed, a disk is full and a file of several is cut: the old file or the new one, whole; no
# hang; and the next save leaves no stray file. LIBRECORD_MPI_KILLS: how many are killed, 10 if it is not set, at any time of a save.
# shellcheck disable=SC2317 # functions that check() calls
set -u
# shellcheck source=tests/mpi/mpi.sh
. "${srcdir:=.}/tests/mpi/mpi.sh"

python3 - <<'END' || exit 99
import json, os, struct
header, data = {}, 0
for i in range(12):
    header["layers.%d.weight" % i] = {"dtype": "F32", "shape": [1024, 512], "data_offsets": [data, data + 2097152]}
    data += 2097152
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open("in.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    block = struct.pack("<65536f", *range(65536)) * 8
    for i in range(12):
        f.write(block)
END

# ------------------------------------------------------------------------------------------------------- ranks are killed

echo "the old file" >old
"$record" convert -qy --precision half --adapter none in.safetensors new.mpk || exit 99
cat >noted <<'END'
#!/bin/sh
echo $$ >"pid.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"
exec "$@"
END
chmod +x noted

ranks 4 convert -y --precision half --adapter none in.safetensors out.mpk
begun=$(date +%s%N)
ranks 4 convert -y --precision half --adapter none in.safetensors out.mpk
status_is "a save of which none is killed" 0
whole=$(($(date +%s%N) - begun))

killed=0 finished=0 strays=0 bad=0 round=0
wanted=${LIBRECORD_MPI_KILLS:-10}
while [ "$killed" -lt "$wanted" ] && [ "$round" -lt $((wanted * 5)) ]; do
    round=$((round + 1))
    rm -f pid.*
    cp old out.mpk
    # From before the ranks have met to after the end of some.
    delay=$(python3 -c 'import random, sys; print("%.3f" % random.uniform(0, int(sys.argv[1]) * 1e-9))' "$whole")
    timeout -k 5 60 "$mpirun" -n 4 ./noted "$record_mpi" convert -y --precision half --adapter none in.safetensors out.mpk >said 2>&1 </dev/null &
    run=$! begun=$(date +%s)
    sleep "$delay"
    victim=$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')
    victim=$(cat "pid.$((victim % 4))" 2>/dev/null) && kill -9 "$victim" 2>/dev/null && killed=$((killed + 1))
    wait "$run"
    run_status=$?
    if [ $(($(date +%s) - begun)) -ge 60 ]; then
        echo "round $round: it hung" >>why
        bad=$((bad + 1))
    elif cmp -s out.mpk new.mpk; then
        finished=$((finished + 1))
    elif ! cmp -s out.mpk old || [ "$run_status" = 0 ]; then
        echo "round $round: status $run_status, and neither file is there" >>why
        bad=$((bad + 1))
    fi
    [ -z "$(find . -name '.out.mpk.*librecord*')" ] || strays=$((strays + 1))
done
echo "# $killed ranks were killed in $round saves, $finished saves were done all the same, $strays left a temporary file"
if [ "$bad" = 0 ]; then
    ok "whatever is killed, one of both files is there"
else
    not_ok "whatever is killed, one of both files is there" why
fi
check "some were killed" [ "$killed" -gt 0 ]
ranks 2 convert -y --precision half --adapter none in.safetensors out.mpk
check "the next save is done" cmp out.mpk new.mpk
check "and sweeps what was left" [ -z "$(find . -name '.out.mpk.*librecord*')" ]

# ----------------------------------------------------------------------------------------------------------- a full disk

mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m none small 2>"$scratch/err"; then
    cp old small/out.mpk
    ranks 3 convert -y --precision half --adapter none in.safetensors small/out.mpk
    status_is "a full disk" 2
    check "is told with rank and file" grep -q "rank 0 (.*): small/out.mpk: .*No space left" "$scratch/err"
    check "the old file is there" cmp old small/out.mpk
    cp old small/out.mpk.gz
    ranks 3 convert -y --option level=0 --adapter none in.safetensors small/out.mpk.gz
    status_is "a full disk while pieces are made" 2
    check "is told with rank and file, too" grep -q "rank . (.*): small/out.mpk.gz: .*No space left" "$scratch/err"
    check "and the old file of these" cmp old small/out.mpk.gz
    rm small/out.mpk.gz
    check "and nothing else" [ "$(find small -type f | wc -l)" = 1 ]
    umount small
else
    skip "a full disk" "no small one can be mounted"
fi

# ----------------------------------------------------------------------------------------------- one of several files is cut

mkdir set
"$record" convert -qy --max-shard-size 10MB in.safetensors set/in.safetensors || exit 99
ranks 3 convert -y --precision half --adapter none set/in.safetensors.index.json many.mpk
"$record" convert -qy --precision half --adapter none set/in.safetensors.index.json one.mpk || exit 99
check "several files are read by all ranks" cmp one.mpk many.mpk
shard=$(find set -name '*00002*')
truncate -s 3000000 "$shard"
cp old out.mpk
ranks 3 convert -y --precision half --adapter none set/in.safetensors.index.json out.mpk
status_is "a file of several that was cut" 2
check "is named" grep -q "rank 0 (.*): .*$(basename "$shard")" "$scratch/err"
check "and the old file is as it was" cmp old out.mpk
finish
