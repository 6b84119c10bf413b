/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader of the header-first format: reads the header and leaves the data where it is. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "header.h"

struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    char *line, *next;   /**< the rest of the line, the rest of the header; both NUL-terminated */
    uint64_t at;         /**< of the line */
    uint64_t data, room; /**< where the data begins, and how many bytes there are */
};

static int32_t wrong(struct reader *r, const char *expected, const char *found)
{
    return rec_fail_found(r->job, REC_E_FORMAT, r->at, expected, "\"%.40s\"", found);
}

/** The next word of the line, "" at its end. */
static char *word(struct reader *r)
{
    char *start = r->line, *space = strchr(start, ' ');

    if (space != NULL) {
        *space = '\0';
        r->line = space + 1;
    } else {
        r->line = start + strlen(start);
    }
    return start;
}

static int32_t number(struct reader *r, int base, uint64_t most, uint64_t *value)
{
    char *text = word(r);
    size_t digits = strspn(text, base == 16 ? "0123456789abcdef" : "0123456789");

    if (digits == 0 || text[digits] != '\0' || digits > (base == 16 ? 16 : 19)) {
        return wrong(r, "a number", text);
    }
    *value = strtoull(text, NULL, base);
    return *value <= most ? REC_OK : wrong(r, "a smaller number", text);
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/** Turns the escapes of a word back, in place. */
static int32_t text(struct reader *r, rec_scalar *out)
{
    char *start = word(r), *to = start;

    for (const char *from = start; *from != '\0'; to++) {
        if (*from != '%') {
            *to = *from++;
            continue;
        }
        int high = hex(from[1]), low = high < 0 ? -1 : hex(from[2]);
        if (low < 0) {
            return wrong(r, "an escape of two digits", from);
        }
        *to = (char)(high * 16 + low);
        from += 3;
    }
    *out = (rec_scalar){.kind = REC_KIND_STRING, .v.length = (uint64_t)(to - start), .text = start};
    return REC_OK;
}

static int32_t scalar(struct reader *r, rec_scalar *out)
{
    uint64_t kind, bits, form;
    int32_t status;

    if ((status = number(r, 10, REC_KIND_STRING, &kind)) != REC_OK || (status = number(r, 10, 64, &bits)) != REC_OK ||
        (status = number(r, 10, UINT16_MAX, &form)) != REC_OK) {
        return status;
    }
    if (kind == REC_KIND_STRING) {
        return text(r, out);
    }
    *out = (rec_scalar){.kind = (int32_t)kind, .bits = (uint16_t)bits, .form = (uint16_t)form};
    return number(r, 16, UINT64_MAX, &out->v.u); /* all members of the union are 64 bits */
}

/** The size of the data must be what the shape asks for, where that is known; core checks the same. */
static int32_t read_tensor(struct reader *r)
{
    uint64_t shape[RANK], dtype, rank, begin, end;
    rec_scalar name, id;
    char name_text[512], id_text[128];
    int32_t status;

    if ((status = number(r, 10, INT32_MAX, &dtype)) != REC_OK || (status = text(r, &name)) != REC_OK ||
        (status = text(r, &id)) != REC_OK || (status = number(r, 10, RANK, &rank)) != REC_OK) {
        return status;
    }
    if (name.v.length >= sizeof name_text || id.v.length >= sizeof id_text) {
        return wrong(r, "a shorter name", name.text);
    }
    memcpy(name_text, name.text, (size_t)name.v.length); /* NUL-terminated for the event */
    name_text[name.v.length] = '\0';
    memcpy(id_text, id.text, (size_t)id.v.length);
    id_text[id.v.length] = '\0';
    for (uint64_t i = 0; i < rank; i++) {
        if ((status = number(r, 10, UINT64_MAX, &shape[i])) != REC_OK) {
            return status;
        }
    }
    if ((status = number(r, 10, r->room, &begin)) != REC_OK || (status = number(r, 10, r->room, &end)) != REC_OK) {
        return status;
    }
    if (end < begin) {
        return rec_fail(r->job, REC_E_FORMAT, r->at, "a tensor ends at %" PRIu64 " before it begins", end);
    }
    rec_tensor_event event = {.size = sizeof event, .dtype = (rec_dtype)dtype, .rank = (uint32_t)rank, .shape = shape};
    event.id = strcmp(id_text, "-") != 0 ? id_text : NULL;
    event.flags = event.id ? 0 : REC_EVENT_BARE; /* the file has the id of each parameter */
    event.dtype_name = strcmp(name_text, "-") != 0 ? name_text : NULL;
    event.data = (rec_blob){.size = sizeof(rec_blob),
                            .kind = REC_BLOB_RANGE,
                            .length = end - begin,
                            .source = r->source,
                            .offset = r->data + begin};
    return r->visitor->tensor(r->self, r->data + begin, &event);
}

static int32_t read_line(struct reader *r)
{
    const rec_visitor *v = r->visitor;
    const char *kind = word(r);
    uint64_t form, index, payload;
    rec_scalar value, key;
    int32_t status;

    if (strcmp(kind, "meta") == 0) {
        status = text(r, &key);
        status = status == REC_OK ? text(r, &value) : status;
        return status == REC_OK ? v->metadata(r->self, r->at, &key, &value) : status;
    }
    if (strcmp(kind, "map") == 0 || strcmp(kind, "list") == 0) {
        status = number(r, 10, INT32_MAX, &form);
        if (status != REC_OK) {
            return status;
        }
        return *kind == 'm' ? v->map_begin(r->self, r->at, (int32_t)form, REC_UNKNOWN)
                            : v->list_begin(r->self, r->at, (int32_t)form, REC_UNKNOWN);
    }
    if (strcmp(kind, "key") == 0 || strcmp(kind, "scalar") == 0) {
        if ((status = scalar(r, &value)) != REC_OK) {
            return status;
        }
        if (*kind == 'k' && (value.kind == REC_KIND_NIL || value.kind == REC_KIND_FLOAT)) {
            return wrong(r, "a key that is text, a bool or an integer", "another");
        }
        return *kind == 'k' ? v->key(r->self, r->at, &value) : v->scalar(r->self, r->at, &value);
    }
    if (strcmp(kind, "option") == 0) {
        status = number(r, 10, 1, &index);
        return status == REC_OK ? v->option(r->self, r->at, (int32_t)index) : status;
    }
    if (strcmp(kind, "variant") == 0) {
        if ((status = number(r, 16, UINT64_MAX, &index)) != REC_OK || (status = number(r, 10, 1, &payload)) != REC_OK ||
            (status = text(r, &value)) != REC_OK) {
            return status;
        }
        return v->variant_begin(r->self, r->at, index, &value, (int32_t)payload);
    }
    if (strcmp(kind, "tensor") == 0) {
        return read_tensor(r);
    }
    return strcmp(kind, "end") == 0 ? v->end(r->self, r->at) : wrong(r, "an event", kind);
}

/** All lines; refuses trees that are not closed, or closed too often, as this file's mistake. */
static int32_t read_lines(struct reader *r)
{
    int64_t depth = 0;
    int32_t status = REC_OK;

    while (status == REC_OK && *r->next != '\0') {
        char *line = r->next, *end = strchr(line, '\n');
        if (end == NULL) {
            return wrong(r, "an end of line", line);
        }
        *end = '\0';
        r->next = end + 1;
        r->line = line;
        depth += strncmp(line, "map", 3) == 0 || strncmp(line, "list", 4) == 0 || strncmp(line, "variant", 7) == 0;
        depth -= strcmp(line, "end") == 0;
        if (depth < 0) {
            return wrong(r, "as many ends as beginnings", "end");
        }
        status = read_line(r);
        if (status == REC_OK && *r->line != '\0') {
            status = wrong(r, "the end of the line", r->line);
        }
        r->at += (uint64_t)(end + 1 - line);
    }
    return status == REC_OK && depth > 0 ? wrong(r, "as many ends as beginnings", "the end of the header") : status;
}

int32_t header_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    struct reader r = {.job = job, .source = source, .visitor = visitor, .self = self, .at = PREFIX};
    uint64_t total, length = 0;
    uint8_t prefix[PREFIX];
    char *header;
    int32_t status = rec_source_read_at(job, source, 0, prefix, sizeof prefix);

    if (status != REC_OK) {
        return status;
    }
    for (int i = 0; i < 8; i++) {
        length |= (uint64_t)prefix[8 + i] << (8 * i);
    }
    total = rec_source_size(source); /* known once something was read at a place */
    if (memcmp(prefix, HEADER_MAGIC, 8) != 0) {
        return rec_fail_found(job, REC_E_FORMAT, 0, "a Header file", "something else");
    }
    if (length > total - PREFIX || header_align(PREFIX + length) > total) {
        return rec_fail_found(job, REC_E_FORMAT, 8, "a header within the file", "a length of %" PRIu64, length);
    }
    r.data = header_align(PREFIX + length);
    r.room = total - r.data;
    header = rec_job_alloc(job, length + 1);
    if (header == NULL) {
        return REC_E_MEMORY;
    }
    status = rec_source_read_at(job, source, PREFIX, header, length);
    header[length] = '\0';
    r.next = header;
    if (status == REC_OK && memchr(header, '\0', (size_t)length) != NULL) {
        status = rec_fail(job, REC_E_FORMAT, PREFIX, "the header has a NUL");
    }
    status = status == REC_OK ? read_lines(&r) : status;
    rec_job_free(job, header);
    return status;
}
