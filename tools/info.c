/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record info: the writer and contents of a record, in five lines. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

/* ------------------------------------------------------------------------------------------------------ people -- */

static void print_precision(const rec_record *record, const summary *s, int width)
{
    const char *word = tool_precision_word(record);
    const char *real = tool_element_word(record, "float"), *integer = tool_element_word(record, "int");
    char number[NUMBER_ROOM];
    text line = {0};
    size_t kinds = 0;

    if (word) {
        tool_text_put(&line, word);
    }
    if (real || integer) {
        tool_text_put(&line, word ? " (" : "");
        tool_text_safe(&line, real ? real : "", real ? strlen(real) : 0);
        tool_text_put(&line, real && integer ? ", " : "");
        tool_text_safe(&line, integer ? integer : "", integer ? strlen(integer) : 0);
        tool_text_put(&line, word ? ")" : "");
    } else if (!tool_is_of_others(record)) {
        tool_text_put(&line, "not said");
    }
    for (size_t i = 0; i < sizeof s->dtypes / sizeof *s->dtypes; i++) {
        kinds += s->dtypes[i] > 0;
    }
    /* One element type, that of the metadata, goes without saying. */
    if (kinds > 1 || (kinds == 1 && !(real && s->dtypes[rec_dtype_from_name(real)]))) {
        const char *before = tool_is_of_others(record) ? "" : "; tensors: ";
        for (size_t i = 0; i < sizeof s->dtypes / sizeof *s->dtypes; i++) {
            if (s->dtypes[i]) {
                tool_text_format(&line, "%s%s %s", before, tool_grouped(s->dtypes[i], number),
                                 i == REC_DTYPE_OPAQUE ? s->encoded : rec_dtype_name((rec_dtype)i));
                before = ", ";
            }
        }
    }
    if (s->assumed) {
        tool_text_format(&line, "; %s assumed", tool_grouped(s->assumed, number));
    }
    if (line.length) {
        printf("%-*s%s\n", width, tool_is_of_others(record) ? "tensors" : "precision", line.at);
    }
    tool_text_free(&line);
}

static void print_metadata(const rec_record *record, const char *label, int width, bool all)
{
    enum { SHOWN = 8, VALUE_WIDTH = 60 };
    uint64_t count = rec_metadata_count(record), shown = 0, left = 0;
    const char *key, *value;
    char number[NUMBER_ROOM];

    for (uint64_t i = 0; i < count; i++) {
        text line = {0}, whole = {0};
        if (rec_metadata_get(record, i, &key, &value) != REC_OK ||
            (!tool_is_of_others(record) && tool_is_burns_key(key))) {
            continue; /* which other lines show */
        }
        if (shown == SHOWN && !all) {
            left++;
            continue;
        }
        tool_text_name(&line, key);
        tool_text_put(&line, " = ");
        tool_text_value(&whole, value, strlen(value));
        tool_text_shortened(&line, whole.at, all ? SIZE_MAX : VALUE_WIDTH, false);
        printf("%-*s%s\n", width, shown++ ? "" : label, line.at);
        tool_text_free(&whole);
        tool_text_free(&line);
    }
    if (left) {
        printf("%-*s… and %s more (--all shows them)\n", width, "", tool_grouped(left, number));
    }
}

static void print_contents(const summary *s, int width)
{
    char number[NUMBER_ROOM];

    printf("%-*s%s tensor%s", width, "contents", tool_grouped(s->tensors, number), tool_plural(s->tensors));
    if (s->tensors) {
        printf(", %s parameter%s", tool_grouped(s->elements, number), tool_plural(s->elements));
        printf(", %s", tool_sized(s->nbytes, number));
    }
    if (s->values) {
        printf("; %s value%s", tool_grouped(s->values, number), tool_plural(s->values));
    }
    if (s->nils) {
        printf("; %s nil", tool_grouped(s->nils, number));
    }
    putchar('\n');
}

static void print_schemes(const summary *s, int width)
{
    char number[NUMBER_ROOM];

    for (size_t i = 0; i < s->scheme_count; i++) {
        text label = {0};
        tool_text_safe(&label, s->schemes[i].label, strlen(s->schemes[i].label));
        printf("%-*s%s, %s tensor%s\n", (int)width,
               i                     ? ""
               : s->scheme_count > 1 ? "schemes"
                                     : "scheme",
               label.at, tool_grouped(s->schemes[i].tensors, number), tool_plural(s->schemes[i].tensors));
        tool_text_free(&label);
    }
}

static void print_largest(const summary *s, int width)
{
    char number[NUMBER_ROOM];
    text line = {0};

    tool_text_safe(&line, s->largest_path.at, s->largest_path.length);
    tool_text_put(&line, s->largest_path.length ? "  " : "(root)  ");
    tool_text_format(&line, "%s ", rec_tensor_dtype_name(s->largest));
    tool_text_shape(&line, rec_tensor_shape(s->largest), rec_tensor_rank(s->largest));
    printf("%-*s%s  %s\n", width, "largest", line.at, tool_sized(rec_tensor_nbytes(s->largest), number));
    tool_text_free(&line);
}

static void print_file(const rec_origin *origin, const summary *s, int width)
{
    char number[NUMBER_ROOM];

    printf("%-*s", width, "file");
    if (origin->stored != REC_UNKNOWN) {
        printf("%s, ", tool_sized(origin->stored, number));
        if (origin->inflated != origin->stored && origin->inflated != REC_UNKNOWN) {
            printf("inflated %s, ", tool_sized(origin->inflated, number));
        }
    }
    printf("%s", origin->mapped ? "mapped" : "in memory");
    if (!s->tensors) {
        putchar('\n');
    } else if (!s->ids) {
        puts("; no parameter ids");
    } else {
        printf("; %s%sparameter id%s of %s", s->ids < s->tensors ? tool_grouped(s->ids, number) : "",
               s->ids < s->tensors ? " " : "", tool_plural(s->ids), s->id_shortest < s->id_longest ? "" : "");
        printf("%s", tool_grouped(s->id_shortest, number));
        if (s->id_shortest < s->id_longest) {
            printf(" to %s", tool_grouped(s->id_longest, number));
        }
        puts(" characters");
    }
}

static void print_people(const rec_record *record, const summary *s, const families *f, const char *path,
                         bool by_position, bool several, bool all)
{
    enum { LABEL = 14, NAME_MOST = 28 };
    const rec_origin *origin = rec_record_origin(record);
    const char *version = tool_burn_version(record);
    const char *title = several ? path : tool_base_name(path);
    text name = {0}, burn = {0};
    size_t named;
    int width;

    tool_text_safe(&name, title, strlen(title));
    tool_text_safe(&burn, version ? version : "", version ? strlen(version) : 0);
    named = tool_text_width(name.at);
    width = named + 2 > LABEL && named + 2 <= NAME_MOST ? (int)named + 2 : LABEL;
    printf("%s%s%s", tool_style(STYLE_BOLD), name.at, tool_style(STYLE_PLAIN));
    if (named + 2 > NAME_MOST) {
        printf("\n%-*s", width, "recorder");
    } else {
        printf("%*s", width - (int)named, "");
    }
    printf("%s %s", origin->recorder,
           tool_is_of_others(record) ? "file of another framework, not a record of Burn" : "record");
    if (*burn.at && !tool_is_of_others(record)) {
        printf(", written by Burn %s%s", burn.at, origin->layout == 1 ? " (V1)" : "");
    }
    putchar('\n');
    print_precision(record, s, width);
    if (s->tensors || !by_position) {
        print_contents(s, width);
    } else {
        printf("%-*sunknown without its type: no parameters can be found in it\n", width, "contents");
    }
    print_schemes(s, width);
    if (s->largest) {
        print_largest(s, width);
    }
    print_file(origin, s, width);
    print_metadata(record, "metadata", width, all);
    if (f->count) {
        text line = {0};
        tool_families_text(f, &line);
        printf("%-*s%s\n", width, "looks like", line.at);
        tool_text_free(&line);
    }
    if (tool_is_of_others(record) && strcmp(path, tool_input_name("-")) != 0) {
        text line = {0};
        tool_text_safe(&line, f->whole ? f->whole : path, strlen(f->whole ? f->whole : path));
        printf("%-*srecord plan %s shows how it would be converted\n", width, "as a record", line.at);
        tool_text_free(&line);
    }
    tool_text_free(&name);
    tool_text_free(&burn);
}

/* ---------------------------------------------------------------------------------------------------- programs -- */

static void print_json(json *j, const rec_record *record, const summary *s, const families *f, const char *path,
                       const notes *n)
{
    const rec_origin *origin = rec_record_origin(record);
    const char *key;

    tool_json_object(j, NULL);
    tool_json_string(j, "file", path);
    tool_json_string(j, "recorder", origin->recorder);
    tool_json_bool(j, "foreign", tool_is_of_others(record));
    tool_json_string(j, "burn", tool_burn_version(record));
    tool_json_token(j, "layout", origin->layout == 1 ? "1" : origin->layout == 2 ? "2" : "null");
    tool_json_string(j, "precision", tool_precision_word(record));
    tool_json_object(j, "metadata");
    for (uint64_t i = 0; i < rec_metadata_count(record); i++) {
        if (rec_metadata_get(record, i, &key, NULL) == REC_OK) {
            tool_json_leaf(j, key, rec_metadata_value(record, key));
        }
    }
    tool_json_close(j, '}');
    tool_json_uint(j, "tensors", s->tensors);
    tool_json_uint(j, "parameters", s->elements);
    tool_json_uint(j, "nbytes", s->nbytes);
    tool_json_uint(j, "assumed", s->assumed);
    tool_json_uint(j, "values", s->values);
    tool_json_uint(j, "nil", s->nils);
    tool_json_object(j, "dtypes");
    for (size_t i = 0; i < sizeof s->dtypes / sizeof *s->dtypes; i++) {
        if (s->dtypes[i]) {
            tool_json_uint(j, rec_dtype_name((rec_dtype)i), s->dtypes[i]);
        }
    }
    tool_json_close(j, '}');
    tool_json_array(j, "schemes");
    for (size_t i = 0; i < s->scheme_count; i++) {
        tool_json_object(j, NULL);
        tool_json_string(j, "scheme", s->schemes[i].label);
        tool_json_uint(j, "tensors", s->schemes[i].tensors);
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
    if (s->largest) {
        tool_json_object(j, "largest");
        tool_json_text(j, "key", s->largest_path.at, s->largest_path.length);
        tool_json_string(j, "dtype", rec_tensor_dtype_name(s->largest));
        tool_json_shape(j, "shape", rec_tensor_shape(s->largest), rec_tensor_rank(s->largest));
        tool_json_uint(j, "nbytes", rec_tensor_nbytes(s->largest));
        tool_json_close(j, '}');
    } else {
        tool_json_token(j, "largest", "null");
    }
    tool_json_object(j, "ids");
    tool_json_uint(j, "count", s->ids);
    tool_json_uint(j, "shortest", s->id_shortest);
    tool_json_uint(j, "longest", s->id_longest);
    tool_json_close(j, '}');
    tool_json_families(j, "families", f);
    tool_json_string(j, "part_of", f->whole);
    tool_json_size(j, "stored", origin->stored);
    tool_json_size(j, "inflated", origin->inflated);
    tool_json_bool(j, "mapped", origin->mapped);
    tool_json_notes(j, "notes", n);
    tool_json_close(j, '}');
}

/* State across the files. */
typedef struct run {
    session *s;
    input_files in;
    json j;
    bool begun; /* something was printed */
} run;

static int info(void *user, const char *path)
{
    run *r = user;
    session *s = r->s;
    bool by_position = false;
    rec_record *record = tool_session_read(s, tool_session_look(s, 1), path, &by_position);
    summary sums = {0};
    families like = {0};
    notes n = {0};
    int status = EXIT_ERROR;

    if (record) {
        tool_notes_take(&n);
        status = tool_summarise(record, &sums);
        tool_families_find(s, record, path, &like);
        if (like.failed) {
            tool_notes_add(&n, REC_NOTE_RULE, "", xasprintf("the family is unknown: %s", like.failed));
        }
        if (status == EXIT_OK && s->o->json) {
            print_json(&r->j, record, &sums, &like, path, &n);
        } else if (status == EXIT_OK) {
            fputs(r->begun ? "\n" : "", stdout);
            print_people(record, &sums, &like, tool_input_name(path), by_position, r->in.several, s->o->all);
            if (r->in.several) {
                (void)fflush(stdout); /* before what is noted of this one */
            }
            tool_notes_print(&n, s->o->quiet);
            r->begun = true;
        }
    }
    tool_families_free(&like);
    tool_summary_free(&sums);
    tool_notes_free(&n);
    rec_record_free(record);
    return status;
}

int tool_run_info(session *s, const char *const *operands, size_t count)
{
    run r = {.s = s};
    int status = tool_inputs_find(s, operands, count, false, &r.in);

    status = status == EXIT_OK ? tool_inputs_each(s, &r.in, 1, &r.j, info, &r) : status;
    tool_inputs_free(&r.in);
    return status;
}
