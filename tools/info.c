/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record info: who wrote a record, and what is in it, in five lines. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* --------------------------------------------------------------------------------------------------------- sums -- */

static void add_tensor(summary *s, const rec_tensor *tensor, const char *path)
{
    rec_dtype dtype = rec_tensor_dtype(tensor);
    const char *id = rec_tensor_id(tensor);
    size_t kinds = sizeof s->dtypes / sizeof *s->dtypes;
    size_t kind = dtype >= 0 && (size_t)dtype < kinds ? (size_t)dtype : 0;

    s->tensors++;
    s->elements += rec_tensor_count(tensor);
    s->nbytes += rec_tensor_nbytes(tensor);
    s->assumed += (uint64_t)(rec_tensor_assumed(tensor) != 0);
    s->dtypes[kind]++;
    if (id) {
        uint64_t length = strlen(id);
        s->id_shortest = s->ids && s->id_shortest < length ? s->id_shortest : length;
        s->id_longest = s->id_longest > length ? s->id_longest : length;
        s->ids++;
    }
    if (!s->largest || rec_tensor_nbytes(tensor) > rec_tensor_nbytes(s->largest)) {
        s->largest = tensor;
        s->largest_path.length = 0;
        text_put(&s->largest_path, path);
    }
}

int summarise(const rec_record *record, summary *s)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;

    *s = (summary){0};
    if (!iterator) {
        return fail_library();
    }
    while ((value = rec_iterator_next(iterator, &path))) {
        const rec_tensor *tensor = rec_value_tensor(value);
        if (tensor) {
            add_tensor(s, tensor, path);
        } else if (rec_value_kind(value) == REC_KIND_NIL) {
            s->nils++;
        } else {
            s->values++;
        }
    }
    rec_iterator_free(iterator);
    return EXIT_OK;
}

void summary_free(summary *s)
{
    text_free(&s->largest_path);
}

const char *element_word(const rec_record *record, const char *key)
{
    const char *value = rec_metadata(record, key);
    const char *colon = value ? strrchr(value, ':') : NULL; /* half::binary16::f16 */

    return colon ? colon + 1 : value;
}

const char *precision_word(const rec_record *record)
{
    static const struct {
        const char *real, *integer, *word;
    } known[] = {{"f16", "i16", "half"}, {"f32", "i32", "full"}, {"f64", "i64", "double"}};
    const char *real = element_word(record, "float"), *integer = element_word(record, "int");

    for (size_t i = 0; real && integer && i < sizeof known / sizeof *known; i++) {
        if (strcmp(real, known[i].real) == 0 && strcmp(integer, known[i].integer) == 0) {
            return known[i].word;
        }
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- people -- */

/* Whether its keys are those of another framework. */
static bool is_of_others(const rec_record *record)
{
    return rec_value_form(rec_root(record)) == REC_FORM_PATHS;
}

static void print_precision(const rec_record *record, const summary *s, const char *label)
{
    const char *word = precision_word(record);
    const char *real = element_word(record, "float"), *integer = element_word(record, "int");
    char number[NUMBER_ROOM];
    text line = {0};
    size_t kinds = 0;

    if (word) {
        text_put(&line, word);
    }
    if (real || integer) {
        text_put(&line, word ? " (" : "");
        text_safe(&line, real ? real : "", real ? strlen(real) : 0);
        text_put(&line, real && integer ? ", " : "");
        text_safe(&line, integer ? integer : "", integer ? strlen(integer) : 0);
        text_put(&line, word ? ")" : "");
    } else if (!is_of_others(record)) {
        text_put(&line, "not said");
    }
    for (size_t i = 0; i < sizeof s->dtypes / sizeof *s->dtypes; i++) {
        kinds += s->dtypes[i] > 0;
    }
    /* One element type, that of the metadata, goes without saying. */
    if (kinds > 1 || (kinds == 1 && !(real && s->dtypes[rec_dtype_from_name(real)]))) {
        const char *before = is_of_others(record) ? "" : "; tensors: ";
        for (size_t i = 0; i < sizeof s->dtypes / sizeof *s->dtypes; i++) {
            if (s->dtypes[i]) {
                text_format(&line, "%s%s %s", before, grouped(s->dtypes[i], number), rec_dtype_name((rec_dtype)i));
                before = ", ";
            }
        }
    }
    if (s->assumed) {
        text_format(&line, "; %s assumed", grouped(s->assumed, number));
    }
    if (line.length) {
        printf("%s%s\n", label, line.at);
    }
    text_free(&line);
}

/* What Burn's own metadata are for is said elsewhere. */
static bool is_burns(const char *key)
{
    static const char *const names[] = {"version", "float", "int", "format", "settings"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(key, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void print_metadata(const rec_record *record, const char *label, size_t width, bool all)
{
    enum { SHOWN = 8, VALUE_WIDTH = 60 };
    uint64_t count = rec_metadata_count(record), shown = 0, left = 0;
    const char *key, *value;
    char number[NUMBER_ROOM];

    for (uint64_t i = 0; i < count; i++) {
        text line = {0}, whole = {0};
        if (rec_metadata_get(record, i, &key, &value) != REC_OK || (!is_of_others(record) && is_burns(key))) {
            continue;
        }
        if (shown == SHOWN && !all) {
            left++;
            continue;
        }
        text_safe(&line, key, strlen(key));
        text_put(&line, " = ");
        text_safe(&whole, value, strlen(value));
        text_shortened(&line, whole.at, all ? SIZE_MAX : VALUE_WIDTH, false);
        printf("%-*s%s\n", (int)width, shown++ ? "" : label, line.at);
        text_free(&whole);
        text_free(&line);
    }
    if (left) {
        printf("%-*s… and %s more (--all shows them)\n", (int)width, "", grouped(left, number));
    }
}

static void print_contents(const summary *s, const char *label)
{
    char number[NUMBER_ROOM];

    printf("%s%s tensor%s", label, grouped(s->tensors, number), plural(s->tensors));
    if (s->tensors) {
        printf(", %s parameter%s", grouped(s->elements, number), plural(s->elements));
        printf(", %s", sized(s->nbytes, number));
    }
    if (s->values) {
        printf("; %s value%s", grouped(s->values, number), plural(s->values));
    }
    if (s->nils) {
        printf("; %s nil", grouped(s->nils, number));
    }
    putchar('\n');
}

static void print_largest(const summary *s, const char *label)
{
    char number[NUMBER_ROOM];
    text line = {0};

    text_safe(&line, s->largest_path.at, s->largest_path.length);
    text_put(&line, s->largest_path.length ? "  " : "(root)  ");
    text_format(&line, "%s ", rec_tensor_dtype_name(s->largest));
    text_shape(&line, rec_tensor_shape(s->largest), rec_tensor_rank(s->largest));
    printf("%s%s  %s\n", label, line.at, sized(rec_tensor_nbytes(s->largest), number));
    text_free(&line);
}

static void print_file(const rec_origin *origin, const summary *s, const char *label)
{
    char number[NUMBER_ROOM];

    fputs(label, stdout);
    if (origin->stored != REC_UNKNOWN) {
        printf("%s, ", sized(origin->stored, number));
        if (origin->inflated != origin->stored && origin->inflated != REC_UNKNOWN) {
            printf("inflated %s, ", sized(origin->inflated, number));
        }
    }
    printf("%s", origin->mapped ? "mapped" : "in memory");
    if (!s->tensors) {
        putchar('\n');
    } else if (!s->ids) {
        puts("; no parameter ids");
    } else {
        printf("; %s%sparameter id%s of %s", s->ids < s->tensors ? grouped(s->ids, number) : "",
               s->ids < s->tensors ? " " : "", plural(s->ids), s->id_shortest < s->id_longest ? "" : "");
        printf("%s", grouped(s->id_shortest, number));
        if (s->id_shortest < s->id_longest) {
            printf(" to %s", grouped(s->id_longest, number));
        }
        puts(" characters");
    }
}

static void print_people(const rec_record *record, const summary *s, const char *path, bool all)
{
    enum { LABEL = 14, NAME_MOST = 28, LABELS = 5 };
    const rec_origin *origin = rec_record_origin(record);
    const char *version = rec_metadata(record, "version");
    const char *slash = strrchr(path, '/');
    text name = {0}, burn = {0};
    size_t width;
    char *labels[LABELS];
    static const char *const names[LABELS] = {"precision", "contents", "largest", "file", "tensors"};

    text_safe(&name, slash && slash[1] ? slash + 1 : path, strlen(slash && slash[1] ? slash + 1 : path));
    text_safe(&burn, version ? version : "", version ? strlen(version) : 0);
    width = text_width(name.at) + 2 > LABEL ? text_width(name.at) + 2 : LABEL;
    if (width > NAME_MOST) {
        width = LABEL;
        printf("%s%s%s\n%-*s", style(STYLE_BOLD), name.at, style(STYLE_PLAIN), (int)width, "recorder");
    } else {
        printf("%s%s%s%*s", style(STYLE_BOLD), name.at, style(STYLE_PLAIN), (int)(width - text_width(name.at)), "");
    }
    printf("%s %s", origin->recorder,
           is_of_others(record) ? "file of another framework, not a record of Burn" : "record");
    if (*burn.at && !is_of_others(record)) {
        printf(", written by Burn %s%s", burn.at, origin->layout == 1 ? " (V1)" : "");
    }
    putchar('\n');
    for (size_t i = 0; i < LABELS; i++) {
        labels[i] = print("%-*s", (int)width, names[i]);
    }
    print_precision(record, s, labels[is_of_others(record) ? 4 : 0]);
    print_contents(s, labels[1]);
    if (s->largest) {
        print_largest(s, labels[2]);
    }
    print_file(origin, s, labels[3]);
    print_metadata(record, "metadata", width, all);
    if (is_of_others(record) && strcmp(path, input_name("-")) != 0) {
        text line = {0};
        text_safe(&line, path, strlen(path));
        printf("%-*srecord plan %s shows what becomes of it\n", (int)width, "as a record", line.at);
        text_free(&line);
    }
    for (size_t i = 0; i < LABELS; i++) {
        free(labels[i]);
    }
    text_free(&name);
    text_free(&burn);
}

/* ------------------------------------------------------------------------------------------------------ programs -- */

static void json_size(json *j, const char *key, uint64_t size)
{
    if (size == REC_UNKNOWN) {
        json_token(j, key, "null");
    } else {
        json_uint(j, key, size);
    }
}

static void print_json(const rec_record *record, const summary *s, const char *path, const notes *n)
{
    const rec_origin *origin = rec_record_origin(record);
    const char *key, *value;
    json j;

    json_begin(&j, stdout, 1);
    json_object(&j, NULL);
    json_string(&j, "file", path);
    json_string(&j, "recorder", origin->recorder);
    json_bool(&j, "foreign", is_of_others(record));
    json_string(&j, "burn", is_of_others(record) ? NULL : rec_metadata(record, "version"));
    json_token(&j, "layout", origin->layout == 1 ? "1" : origin->layout == 2 ? "2" : "null");
    json_string(&j, "precision", precision_word(record));
    json_object(&j, "metadata");
    for (uint64_t i = 0; i < rec_metadata_count(record); i++) {
        if (rec_metadata_get(record, i, &key, &value) == REC_OK) {
            json_string(&j, key, value);
        }
    }
    json_close(&j, '}');
    json_uint(&j, "tensors", s->tensors);
    json_uint(&j, "parameters", s->elements);
    json_uint(&j, "nbytes", s->nbytes);
    json_uint(&j, "assumed", s->assumed);
    json_uint(&j, "values", s->values);
    json_uint(&j, "nil", s->nils);
    json_object(&j, "dtypes");
    for (size_t i = 0; i < sizeof s->dtypes / sizeof *s->dtypes; i++) {
        if (s->dtypes[i]) {
            json_uint(&j, rec_dtype_name((rec_dtype)i), s->dtypes[i]);
        }
    }
    json_close(&j, '}');
    if (s->largest) {
        json_object(&j, "largest");
        json_text(&j, "key", s->largest_path.at, s->largest_path.length);
        json_string(&j, "dtype", rec_tensor_dtype_name(s->largest));
        json_shape(&j, "shape", rec_tensor_shape(s->largest), rec_tensor_rank(s->largest));
        json_uint(&j, "nbytes", rec_tensor_nbytes(s->largest));
        json_close(&j, '}');
    } else {
        json_token(&j, "largest", "null");
    }
    json_object(&j, "ids");
    json_uint(&j, "count", s->ids);
    json_uint(&j, "shortest", s->id_shortest);
    json_uint(&j, "longest", s->id_longest);
    json_close(&j, '}');
    json_size(&j, "stored", origin->stored);
    json_size(&j, "inflated", origin->inflated);
    json_bool(&j, "mapped", origin->mapped);
    json_notes(&j, "notes", n);
    json_close(&j, '}');
    json_end(&j);
}

int run_info(session *s, const char *const *operands, size_t count)
{
    rec_recorder *recorder = session_look(s);
    bool by_position = false;
    rec_record *record = recorder ? session_load_any(s, recorder, operands[0], &by_position) : NULL;
    summary sums = {0};
    notes n = {0};
    int status = EXIT_ERROR;

    (void)count;
    if (record) {
        notes_take(&n);
        status = summarise(record, &sums);
        if (status == EXIT_OK && s->o->json) {
            print_json(record, &sums, operands[0], &n);
        } else if (status == EXIT_OK) {
            print_people(record, &sums, input_name(operands[0]), s->o->all);
            notes_print(&n, s->o->quiet);
        }
    }
    summary_free(&sums);
    notes_free(&n);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
