/* SPDX-License-Identifier: MIT OR Apache-2.0
 * bincode reader: the record, by the type that the caller gave or that the file carries, else what is found without
 * one. */
#include "plugins/codec/bincode/bincode_private.h"

#include "plugins/codec/trailing.h"
#include "plugins/codec/little.h"

const rec_option lr_bincode_trailing = LR_TRAILING;

/* Reads the type that a file carries after its value. */
static int32_t read_tail(lr_bincode_reader *r)
{
    const uint8_t *tail;
    uint64_t length;
    if (r->size < LR_BINCODE_TAIL) {
        return REC_OK;
    }
    tail = r->data + r->size - LR_BINCODE_TAIL;
    length = lr_little(tail, 8);
    if (memcmp(tail + 8, LR_BINCODE_MAGIC, 8) != 0 || length > r->size - LR_BINCODE_TAIL) {
        return REC_OK;
    }
    r->size -= LR_BINCODE_TAIL + length;
    return rec_job_use_layout_text(r->job, (const char *)r->data + r->size, length);
}

static int32_t no_type(lr_bincode_reader *r)
{
    int32_t status = rec_fail(r->job, REC_E_TYPE, REC_UNKNOWN, "a bincode record carries no names: its type is needed");
    rec_fail_hint(r->job, "Give the model's Rust source or another form of its type, or set the option `positional` to "
                          "list its parameters by position.");
    return status;
}

static int32_t read_item(lr_bincode_reader *r)
{
    const rec_layout *whole = NULL;
    int32_t status = rec_job_layout(r->job, &whole);
    if (status != REC_OK) {
        return status;
    }
    if (!whole) {
        const char *positional = rec_job_option_text(r->job, "positional");
        bool head = strcmp(positional, "head") == 0;
        return head || strcmp(positional, "yes") == 0 ? lr_bincode_scan(r, head) : no_type(r);
    }
    for (uint64_t i = 1; i < rec_layout_count(whole) && status == REC_OK; i++) {
        status = lr_bincode_key(r, rec_layout_name(whole, i));
        status = status == REC_OK ? lr_bincode_value(r, rec_layout_child(whole, i)) : status;
    }
    return status;
}

int32_t lr_bincode_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    lr_bincode_reader r = {.job = job, .source = source, .visitor = visitor, .self = self};
    const rec_layout *head = NULL;
    const void *data;
    int32_t status = rec_source_view(job, source, &data, &r.size);
    if (status == REC_OK) {
        r.data = data;
        status = read_tail(&r);
    }
    status = status == REC_OK ? rec_job_layout(job, &head) : status;
    status = status == REC_OK ? visitor->map_begin(self, 0, REC_FORM_STRUCT, REC_UNKNOWN) : status;
    status = status == REC_OK ? lr_bincode_key(&r, rec_layout_name(head, 0)) : status;
    status = status == REC_OK ? lr_bincode_value(&r, rec_layout_child(head, 0)) : status;
    status = status == REC_OK ? read_item(&r) : status;
    status = status == REC_OK ? visitor->end(self, r.at) : status;
    return status == REC_OK ? lr_trailing(job, r.at, r.size,
                                          "The type is not that of the whole record: of one module of it, or one that "
                                          "lacks its last fields.")
                            : status;
}

int32_t lr_bincode_probe(const uint8_t *data, uint64_t length)
{
    /* metadata.float is the first string: "f32", "f64", "f16", "half::binary16::f16" or another Rust path to one. */
    static const char *const floats[] = {"\003f32", "\003f64", "\003f16", "\004bf16", "\023half::binary16::f16"};
    static const char *const ints[] = {"\003i32", "\003i64", "\003i16", "\003f32"};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        size_t n = strlen(floats[i]);
        if (length > n + 4 && memcmp(data, floats[i], n) == 0) {
            for (size_t j = 0; j < sizeof ints / sizeof *ints; j++) {
                if (memcmp(data + n, ints[j], 4) == 0) {
                    return 64;
                }
            }
        }
    }
    return 0;
}
