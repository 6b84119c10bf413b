/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Scans a bincode file without a type: finds parameters by their ids, and the bytes between them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/types/types_private.h"

enum { BYTES_MOST = 1 << 20, GAP_MOST = 4096 }; /* between parameters, in all and between two */

/* A file that is read at places. */
typedef struct place {
    FILE *file;
    uint64_t at;
    bool wrong;
} place;

char tool_types_kind(const rec_tensor *tensor)
{
    const char *name = rec_dtype_name(rec_tensor_dtype(tensor));

    return strncmp(name, "bool", 4) == 0 ? 'b' : name[0] == 'i' || name[0] == 'u' ? 'i' : 'f';
}

void tool_types_param(text *t, uint32_t rank, char kind)
{
    tool_text_format(t, "Param<Tensor<B, %" PRIu32 "%s>>", rank, kind == 'b' ? ", Bool" : kind == 'i' ? ", Int" : "");
}

static uint8_t next_byte(place *p)
{
    int byte = p->wrong ? EOF : getc(p->file);

    p->wrong |= byte == EOF;
    p->at += byte != EOF;
    return byte == EOF ? 0 : (uint8_t)byte;
}

static void go_to(place *p, uint64_t at)
{
    p->wrong |= at > INT64_MAX || fseeko(p->file, (off_t)at, SEEK_SET) != 0;
    p->at = at;
}

/* Reads a number in bincode's encoding. */
static uint64_t next_number(place *p)
{
    uint8_t first = next_byte(p);
    unsigned size = first < 251 ? 0 : first == 251 ? 2 : first == 252 ? 4 : 8;
    uint64_t number = 0;

    if (first < 251) {
        return first;
    }
    p->wrong |= first > 253;
    for (unsigned i = 0; i < size; i++) {
        number |= (uint64_t)next_byte(p) << 8 * i;
    }
    return number;
}

/* Passes over the metadata: five strings. */
static void skip_metadata(place *p)
{
    for (int i = 0; i < 5; i++) {
        uint64_t length = next_number(p);
        p->wrong |= length > 4096;
        go_to(p, p->at + length);
    }
}

static unsigned number_size(uint64_t number)
{
    return number < 251 ? 1 : number <= UINT16_MAX ? 3 : number <= UINT32_MAX ? 5 : 9;
}

/* @return whether an id stands at a place, with its length before it. */
static bool is_id_at(place *p, uint64_t at, const char *id, size_t length)
{
    bool same = true;

    go_to(p, at);
    same = next_byte(p) == length;
    for (size_t i = 0; i < length && same; i++) {
        same = next_byte(p) == (uint8_t)id[i];
    }
    return same && !p->wrong;
}

/* Where a parameter begins: before its data are its id and their length. Up to 0.13 data have no place where numbers
 * are as short as they can be: the id is looked for. @return REC_UNKNOWN if it is not as it must be. */
static uint64_t start_of(place *p, const rec_tensor *tensor, bool v1)
{
    const char *id = rec_tensor_id(tensor);
    size_t length = id ? strlen(id) : 0;
    uint64_t offset = rec_tensor_offset(tensor), head = 1 + length + number_size(rec_tensor_nbytes(tensor)), at = p->at;

    if (!length || length > 250 || (!v1 && (offset == REC_UNKNOWN || offset < head))) {
        return REC_UNKNOWN;
    }
    if (!v1) {
        return is_id_at(p, offset - head, id, length) ? offset - head : REC_UNKNOWN;
    }
    for (uint64_t last = at + GAP_MOST; at < last && !p->wrong; at++) {
        if (is_id_at(p, at, id, length)) {
            return at;
        }
    }
    return REC_UNKNOWN;
}

/* Passes over a parameter that begins at `at`: its data, then the shape, and from 0.14 on the element type. */
static void skip_parameter(place *p, uint64_t at, const rec_tensor *tensor, bool v1, unsigned minor)
{
    uint32_t rank = rec_tensor_rank(tensor);
    rec_dtype dtype = rec_tensor_dtype(tensor);
    bool bools = tool_types_kind(tensor) == 'b', raw = !v1 || dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64 || bools;

    go_to(p, at + 1 + strlen(rec_tensor_id(tensor)));
    p->wrong |= next_number(p) != (v1 ? rec_tensor_count(tensor) : rec_tensor_nbytes(tensor));
    if (raw) {
        go_to(p, p->at + rec_tensor_nbytes(tensor));
    }
    for (uint64_t i = 0; !raw && i < rec_tensor_count(tensor) && !p->wrong; i++) {
        (void)next_number(p);
    }
    p->wrong |= next_number(p) != rank;
    for (uint32_t i = 0; i < rank; i++) {
        p->wrong |= next_number(p) != rec_tensor_shape(tensor)[i];
    }
    if (!v1) {
        (void)next_number(p);
        if (minor >= 21 && bools) {
            (void)next_number(p); /* how it is stored */
        }
    }
}

static bool add(tokens *t, token what)
{
    t->at = tool_grown(t->at, t->count, sizeof *t->at);
    t->at[t->count++] = what;
    return t->count < BYTES_MOST;
}

bool tool_types_tokens(tokens *t, const rec_record *record, const char *path)
{
    const rec_value *root = rec_root(record);
    const char *version = rec_metadata(record, "version");
    const rec_origin *origin = rec_record_origin(record);
    uint64_t count = rec_value_count(root), size = 0;
    place p = {.file = strcmp(path, "-") == 0 ? fdopen(dup(STDIN_FILENO), "rbe") : fopen(path, "rbe")};
    bool v1;

    *t = (tokens){0};
    if (!p.file && errno == ENOMEM) {
        (void)tool_enough(NULL);
    }
    t->minor = version && strncmp(version, "0.", 2) == 0 ? (unsigned)strtoul(version + 2, NULL, 10) : 0;
    v1 = t->minor < 14;
    p.wrong = !p.file || t->minor < 12 || t->minor > 21 || origin->stored != origin->inflated;
    if (!p.wrong) {
        p.wrong = fseeko(p.file, 0, SEEK_END) != 0;
        size = p.wrong ? 0 : (uint64_t)ftello(p.file);
        go_to(&p, 0);
        skip_metadata(&p);
    }
    for (uint64_t i = 0; i <= count && !p.wrong; i++) {
        const rec_tensor *tensor = i < count ? rec_value_tensor(rec_value_item(root, i)) : NULL;
        uint64_t from = p.at, to = tensor ? start_of(&p, tensor, v1) : size;
        p.wrong |= to == REC_UNKNOWN || to < from || to - from > GAP_MOST ||
                   (tensor && rec_tensor_dtype(tensor) == REC_DTYPE_QFLOAT);
        if (p.wrong) {
            break;
        }
        go_to(&p, from);
        while (p.at < to && !p.wrong) {
            p.wrong |= !add(t, (token){.byte = next_byte(&p)});
        }
        if (tensor && !p.wrong) {
            p.wrong = !add(
                t, (token){
                       .tensor = tensor, .index = i, .rank = rec_tensor_rank(tensor), .kind = tool_types_kind(tensor)});
            skip_parameter(&p, to, tensor, v1, t->minor);
        }
    }
    if (p.file) {
        (void)fclose(p.file);
    }
    return !p.wrong;
}
