/* SPDX-License-Identifier: MIT OR Apache-2.0
 * driver TYPES.rs: librecord for the tests beside it. One process loads and saves many files: it reads a command a line
 * from its standard input, words separated by tabs, and answers each.
 *
 *     convert TYPE IN RECORDER OUT RECORDER PRECISION LAYOUT    rec_convert
 *     resave TYPE IN RECORDER OUT RECORDER PRECISION LAYOUT     rec_load, rec_save
 *     dump TYPE IN RECORDER                                     every leaf, a line each
 *
 * TYPE may be empty. The last line of an answer is "ok" or "error MESSAGE". */
#include <librecord.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, ROOM = 1 << 16 };

static rec_recorder *open_recorder(const rec_types *types, const char *type, const char *name, rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder(name, precision);
    if (recorder && *type && rec_recorder_set_type_name(recorder, types, type) != REC_OK) {
        rec_close_recorder(recorder);
        return NULL;
    }
    return recorder;
}

/* A recorder without an extension is one for memory. */
static int in_memory(const rec_recorder *recorder)
{
    return *rec_recorder_extension(recorder) == '\0' && strcmp(rec_recorder_name(recorder), "Auto") != 0;
}

static void *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long length = -1;
    void *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        data = malloc((size_t)length + 1);
        if (data && fread(data, 1, (size_t)length, file) != (size_t)length) {
            free(data);
            data = NULL;
        }
    }
    if (file) {
        (void)fclose(file);
    }
    *size = data ? (size_t)length : 0;
    return data;
}

/* @param held (out) what the record points into, to be freed after it. */
static rec_record *load(rec_recorder *recorder, const char *path, void **held)
{
    size_t size;
    *held = NULL;
    if (!in_memory(recorder)) {
        return rec_load(recorder, path);
    }
    *held = slurp(path, &size);
    return *held ? rec_load_bytes(recorder, *held, size) : NULL;
}

static rec_status save(rec_recorder *recorder, const rec_record *record, const char *path)
{
    void *data;
    uint64_t size;
    FILE *file;
    rec_status status;
    if (!in_memory(recorder)) {
        return rec_save(recorder, record, path);
    }
    status = rec_save_bytes(recorder, record, &data, &size);
    if (status == REC_OK) {
        file = fopen(path, "wb");
        status = file && fwrite(data, 1, (size_t)size, file) == size ? REC_OK : REC_E_IO;
        if (file && fclose(file) != 0) {
            status = REC_E_IO;
        }
        rec_free(data);
    }
    return status;
}

static void hex(const void *data, uint64_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    for (uint64_t i = 0; i < size; i++) {
        putchar(digits[bytes[i] >> 4]);
        putchar(digits[bytes[i] & 15]);
    }
}

static void print_scalar(const rec_scalar *s)
{
    switch (s->kind) {
    case REC_KIND_BOOL:
        printf("bool %d", (int)s->v.i);
        break;
    case REC_KIND_INT:
        printf("int %" PRId64, s->v.i);
        break;
    case REC_KIND_UINT:
        printf("int %" PRIu64, s->v.u);
        break;
    case REC_KIND_FLOAT:
        printf("float ");
        hex(&s->v.f, sizeof s->v.f);
        break;
    case REC_KIND_STRING:
        printf("text ");
        hex(s->text, s->v.length);
        break;
    default:
        printf("nil");
        break;
    }
}

static int print_tensor(const rec_tensor *tensor)
{
    const char *id = rec_tensor_id(tensor);
    uint64_t size;
    const void *bytes = rec_tensor_bytes(tensor, &size);
    if (!bytes) {
        return 0;
    }
    printf("tensor %s %s ", rec_dtype_name(rec_tensor_dtype(tensor)), id ? id : "-");
    for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
        printf("%s%" PRIu64, i ? "," : "", rec_tensor_shape(tensor)[i]);
    }
    putchar(' ');
    hex(bytes, size);
    return 1;
}

/* PATH, a tab, and what is there; paths in hex, as they may hold anything. */
static int print_leaf(const char *path, const rec_value *value)
{
    int32_t kind = rec_value_kind(value);
    rec_scalar scalar;
    int good = 1;
    hex(path, strlen(path));
    putchar('\t');
    switch (kind) {
    case REC_KIND_TENSOR:
        good = print_tensor(rec_value_tensor(value));
        break;
    case REC_KIND_LIST:
        printf("list");
        break;
    case REC_KIND_MAP:
        printf("map");
        break;
    case REC_KIND_NUMBERS:
        printf("numbers");
        for (uint64_t i = 0; i < rec_value_count(value); i++) {
            putchar('\t');
            scalar = rec_value_number(value, i);
            print_scalar(&scalar);
        }
        break;
    case REC_KIND_VARIANT: /* a unit variant: its name */
        scalar = rec_value_key(value, 0);
        print_scalar(&scalar);
        break;
    default:
        scalar = rec_value_scalar(value);
        print_scalar(&scalar);
        break;
    }
    putchar('\n');
    return good;
}

static int dump(const rec_types *types, char **word)
{
    rec_recorder *reader = open_recorder(types, word[1], word[3], REC_PRECISION_KEEP);
    rec_record *record = NULL;
    rec_iterator *iterator = NULL;
    const rec_value *value;
    const char *path;
    void *held = NULL;
    int good = 0;
    if (!reader || !(record = load(reader, word[2], &held)) || !(iterator = rec_iterate(record))) {
        goto done;
    }
    printf("metadata %s %s\n", rec_metadata(record, "version"), rec_metadata(record, "settings"));
    good = 1;
    while (good && (value = rec_iterator_next(iterator, &path))) {
        good = print_leaf(path, value);
    }
done:
    rec_iterator_free(iterator);
    rec_record_free(record);
    free(held);
    rec_close_recorder(reader);
    return good;
}

static int convert(const rec_types *types, char **word, int whole)
{
    rec_recorder *reader = open_recorder(types, word[1], word[3], REC_PRECISION_KEEP);
    rec_recorder *writer = NULL;
    rec_record *record = NULL;
    void *held = NULL;
    int good = 0;
    if (!reader || !(writer = open_recorder(types, word[1], word[5], rec_precision_from_name(word[6]))) ||
        rec_recorder_set(writer, "layout", word[7]) != REC_OK || rec_recorder_set(writer, "sync", "no") != REC_OK) {
        goto done;
    }
    if (!whole && !in_memory(reader) && !in_memory(writer)) {
        good = rec_convert(reader, word[2], writer, word[4], NULL) == REC_OK;
    } else {
        record = load(reader, word[2], &held);
        good = record && save(writer, record, word[4]) == REC_OK;
    }
done:
    rec_record_free(record);
    free(held);
    rec_close_recorder(writer);
    rec_close_recorder(reader);
    return good;
}

static size_t split(char *line, char **word)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < WORDS; count++) {
        word[count] = at;
        at = strchr(at, '\t');
        if (at) {
            *at++ = '\0';
        }
    }
    return count;
}

static void answer(int good)
{
    char message[1024];
    if (good) {
        puts("ok");
    } else {
        /* the whole message in one line */
        (void)snprintf(message, sizeof message, "%s", rec_error_message());
        for (char *at = message; (at = strchr(at, '\n'));) {
            *at = ' ';
        }
        printf("error %s\n", *message ? message : "the file cannot be read or written");
    }
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static char line[ROOM];
    rec_types *types = rec_types_new(NULL);
    if (argc != 2 || !types || rec_types_add_file(types, argv[1]) != REC_OK) {
        fprintf(stderr, "driver: %s\n", argc == 2 ? rec_error_message() : "usage: driver TYPES.rs");
        return 2;
    }
    while (fgets(line, sizeof line, stdin)) {
        char *word[WORDS] = {0};
        size_t count = split(line, word);
        if (count == 8 && strcmp(word[0], "convert") == 0) {
            answer(convert(types, word, 0));
        } else if (count == 8 && strcmp(word[0], "resave") == 0) {
            answer(convert(types, word, 1));
        } else if (count == 4 && strcmp(word[0], "dump") == 0) {
            answer(dump(types, word));
        } else {
            fprintf(stderr, "driver: no such command: %s\n", line);
            return 2;
        }
    }
    rec_types_free(types);
    return 0;
}
