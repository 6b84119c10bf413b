/* SPDX-License-Identifier: MIT OR Apache-2.0
 * hostile FILE...: loads each prefix of each file and copies of it with one changed byte, and reads all data. Every
 * prefix must be rejected. Whatever a copy holds, the plugin must not break a rule of librecord: a changed file gives
 * an error of the file or another record. Records loaded from a .msgpack are saved again. Build it with sanitizers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord/plugin.h>

extern const rec_plugin *const flax_LTX_librecord_plugins[];
extern const rec_plugin *const onnx_LTX_librecord_plugins[];

typedef struct subject {
    const char *file;
    rec_recorder *recorder;
    int saves;
    uint64_t loaded, rejected, failures;
} subject;

static volatile unsigned touched; /* so that no read is left out */

static void touch(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    while ((value = rec_iterator_next(iterator, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        uint64_t size = 0;
        const uint8_t *bytes = tensor ? rec_tensor_bytes(tensor, &size) : NULL;
        for (uint64_t i = 0; bytes && i < size; i++) {
            touched += bytes[i];
        }
    }
    rec_iterator_free(iterator);
}

static void fail(subject *s, const char *what, uint64_t at)
{
    s->failures++;
    (void)printf("# %s, %s at byte %llu: %s\n", s->file, what, (unsigned long long)at, rec_error_message());
}

static void save(subject *s, const rec_record *record, uint64_t at)
{
    void *data = NULL;
    uint64_t size;
    if (rec_save_bytes(s->recorder, record, &data, &size) == REC_E_PLUGIN) {
        fail(s, "saved after a change", at);
    }
    rec_free(data);
}

/* @param whole the bytes are those of the file, of which `size` are given. */
static void load(subject *s, const uint8_t *bytes, uint64_t size, int whole, uint64_t at)
{
    rec_record *record = rec_load_bytes(s->recorder, bytes, size);
    s->loaded += record != NULL;
    s->rejected += record == NULL;
    if (!record && rec_error_status() == REC_E_PLUGIN) {
        fail(s, whole ? "truncated" : "changed", at);
    }
    if (record && whole) {
        fail(s, "accepted although truncated", at);
    }
    if (record) {
        touch(record);
        if (s->saves) {
            save(s, record, at);
        }
    }
    rec_record_free(record);
}

static void damage(subject *s, const uint8_t *original, uint64_t size)
{
    static const uint8_t changes[] = {0x01, 0x08, 0x80, 0xff};
    uint8_t *bytes = malloc(size);
    for (uint64_t at = 0; bytes && at < size; at++) {
        memcpy(bytes, original, at); /* a separate allocation, so that a sanitizer detects reads past the end */
        bytes = realloc(bytes, at ? at : 1);
        load(s, bytes, at, 1, at);
        bytes = realloc(bytes, size);
        for (size_t i = 0; bytes && i < sizeof changes; i++) {
            memcpy(bytes, original, size);
            bytes[at] ^= changes[i];
            load(s, bytes, size, 0, at);
        }
    }
    free(bytes);
}

static int try_file(rec_context *context, const char *file, const char *values)
{
    int flax = strstr(file, ".msgpack") != NULL;
    subject s = {.file = file, .saves = flax};
    uint8_t bytes[65536];
    FILE *in = fopen(file, "rb");
    size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    if (in) {
        (void)fclose(in);
    }
    s.recorder = rec_open_recorder_in(context, flax ? "Flax" : "Onnx", REC_PRECISION_KEEP);
    /* Loads the file's own contents, without Burn's layout. */
    if (!size || !s.recorder || rec_recorder_set(s.recorder, "adapter", "none") != REC_OK ||
        (flax && rec_recorder_set(s.recorder, "values", values) != REC_OK)) {
        fail(&s, "cannot begin", 0);
    } else {
        damage(&s, bytes, size);
    }
    rec_close_recorder(s.recorder);
    (void)printf("# %s: %llu loaded, %llu rejected\n", file, (unsigned long long)s.loaded,
                 (unsigned long long)s.rejected);
    return s.failures == 0;
}

int main(int count, char **files)
{
    rec_context *context = rec_context_new(NULL);
    int good = 1;
    if (rec_context_add_plugin(context, flax_LTX_librecord_plugins[0]) != REC_OK ||
        rec_context_add_plugin(context, onnx_LTX_librecord_plugins[0]) != REC_OK) {
        (void)puts(rec_error_message());
        good = 0;
    }
    for (int i = 1; i < count && good; i++) {
        good = try_file(context, files[i], "model") && good;
        good = (!strstr(files[i], ".msgpack") || try_file(context, files[i], "all")) && good;
    }
    rec_context_free(context);
    return good ? 0 : 1;
}
