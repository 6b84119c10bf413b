#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A team agrees how checkpoints are stored: by a named recorder in an INI file, which the command and a C program use.
# shellcheck source=tests/journeys/journey.sh
. "${srcdir:=.}/tests/journeys/journey.sh"
needs numpy msgpack gzip pkg-config
with_library

mkdir -p .config/librecord
cat >.config/librecord/librecord.ini <<'END'
[librecord]
recorder = checkpoints

[recorder checkpoints]
plugin = NamedMpkGz
precision = half
layout = burn-0.14
END
cat >save.c <<'END'
#include <err.h>
#include <librecord.h>

int main(void)
{
    rec_recorder *source = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    rec_recorder *target = source ? rec_open_recorder("Default", REC_PRECISION_DEFAULT) : NULL;
    rec_record *record = target ? rec_load(source, "model-1.mpk") : NULL;
    if (!record || rec_save(target, record, "by-program") != REC_OK) {
        errx(1, "%s", rec_error_message());
    }
    rec_record_free(record);
    rec_close_recorder(target);
    rec_close_recorder(source);
    return 0;
}
END
step "the command stores as the team agreed" <<'END'
cp "$journeys/training/first/checkpoint/model-1.mpk" .
record convert --to checkpoints --precision half model-1.mpk by-command
ls
END
prints "by-command.mpk.gz"
step "so does a program that asks for the default" <<'END'
cc -std=c11 -Wall -Wextra -Werror save.c $(pkg-config --cflags --libs librecord) -o save
./save
END
fails 2 "a misspelt word is named with its line" <<'END'
sed s/precision/precison/ .config/librecord/librecord.ini >wrong.ini
LIBRECORD_CONFIG=wrong.ini record convert --to checkpoints model-1.mpk wrong
END
prints "wrong.ini: line 6"
step "gzip unpacks both" <<'END'
gzip -d by-command.mpk.gz by-program.mpk.gz
END

python "they are the same, in halves, as Burn 0.14 writes them" <<'END'
from journey import ids, parse, same, tensors
halves = {key: value.astype("f2") for key, value in tensors("model-1.mpk").items()}
for name in "by-command.mpk", "by-program.mpk":
    same(tensors(name), halves)
    assert ids(name) == ids("model-1.mpk") and parse(name)["metadata"]["version"].startswith("0.14"), name
END
finish
