/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Text in memory: JSON that is written, and the path that names a tensor. */

#include "common/json.h"
#include "plugins/codec/json/number.h"
#include "plugins/codec/safetensors/safetensors.h"

void lr_st_put_uint(lr_buffer *b, uint64_t number)
{
    char text[LR_NUMBER_ROOM];
    lr_put(b, text, lr_uint_write(text, number));
}

void lr_st_put_string(lr_buffer *b, const char *text, uint64_t length)
{
    uint64_t from = 0;
    char escape[6];
    lr_put(b, "\"", 1);
    for (uint64_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < ' ' || byte == '"' || byte == '\\') {
            lr_put(b, text + from, i - from);
            lr_put(b, escape, lr_json_escape(byte, "bfnrt", escape));
            from = i + 1;
        }
    }
    lr_put(b, text + from, length - from);
    lr_put(b, "\"", 1);
}

uint64_t lr_st_path_enter(lr_st_path *path, const rec_scalar *part)
{
    char number[LR_NUMBER_ROOM];
    uint64_t before = path->text.size;
    if (path->parts++) {
        lr_put(&path->text, ".", 1);
    }
    switch (part->kind) {
    case REC_KIND_STRING:
        lr_put(&path->text, part->text, part->v.length);
        break;
    case REC_KIND_BOOL:
        lr_put_word(&path->text, part->v.i ? "true" : "false");
        break;
    case REC_KIND_INT:
        lr_put(&path->text, number, lr_int_write(number, part->v.i));
        break;
    default:
        lr_put(&path->text, number, lr_uint_write(number, part->v.u));
        break;
    }
    return before;
}

void lr_st_path_leave(lr_st_path *path, uint64_t size)
{
    path->text.size = size;
    path->parts--;
}
