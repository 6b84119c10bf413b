/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types from INI files: the sections of docs/reference/types.md. The files that are read at once count as a whole or,
 * with a mistake in one, not at all. */
#include "types/types.h"

#include <stdio.h>

#include "core/config/config.h"

/* Bounds that keep the search for double names quick. */
enum { DEFS_MOST = 4096, FIELDS_MOST = 4096, GENERICS_MOST = 16, MINOR_MOST = 9999, RULES_MOST = 16 };

/* A section that defines no type: which dimensions of one's tensors must be equal. */
enum { KIND_SHAPES = 0 };

/** The kinds of sections and their names. */
static const struct {
    const char *name, *what; /**< `what`: one line of its section, for messages */
    int32_t kind, derive;
    bool implicit;        /**< if it does not write its generics */
    bool filled;          /**< it must have a line */
    const char *generics; /**< of one that does not write them */
} kinds[] = {
    {"type", "FIELD = TYPE", LR_DEF_STRUCT, LR_DERIVE_MODULE, true, false, "B"},
    {"module", "FIELD = TYPE", LR_DEF_STRUCT, LR_DERIVE_MODULE, false, false, "B"},
    {"enum", "VARIANT = TYPE", LR_DEF_ENUM, LR_DERIVE_MODULE, true, true, "B"},
    {"record", "FIELD = TYPE", LR_DEF_STRUCT, LR_DERIVE_RECORD, false, false, "B"},
    {"record enum", "VARIANT = TYPE", LR_DEF_ENUM, LR_DERIVE_RECORD, false, true, "B"},
    {"alias", "type = TYPE", LR_DEF_ALIAS, LR_DERIVE_NONE, false, true, ""},
    {"optimizer", "FIELD = TYPE", LR_DEF_OPTIMIZER, LR_DERIVE_RECORD, false, true, "B, const D"},
    {"stateless", "names = NAME, NAME", LR_DEF_STATELESS, LR_DERIVE_MODULE, false, true, ""},
    {"shapes", "PATH = WORD, WORD", KIND_SHAPES, LR_DERIVE_NONE, false, true, ""},
};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define ALL_KINDS                                                                                       \
    "Known: [type NAME], [module NAME], [enum NAME], [record NAME], [record enum NAME], [alias NAME], " \
    "[optimizer NAME], [stateless], [shapes NAME]."

/** Files on their way into a set of types. */
typedef struct parser {
    rec_job *job;
    rec_types *types;
    const char *file;      /**< in the set's arena */
    lr_def *first, **last; /**< what was read so far, in order; `next` chains it */
    uint64_t count;
    lr_shapes *shapes; /**< likewise, the newest first */
    size_t kind;       /**< of the section that is read */
    char title[LR_NAME_MOST + 32];
    uint32_t line;         /**< its first line; 0: not yet seen */
    lr_def *def;           /**< NULL: [stateless], [shapes] */
    lr_type_field *fields; /**< of def */
    uint64_t room;
    int32_t since;
    bool filled; /**< a line of it was read */
} parser;

/* ------------------------------------------------------------------------------------------------ small pieces -- */

#define MISTAKE(p, line, ...) lr_fail_line((p)->job, REC_E_CONFIG, (p)->file, (line), __VA_ARGS__)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

static bool is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || lr_is_digit(c);
}

/* @return the length of the name at the start of text, possibly 0. */
static size_t name_length(const char *text)
{
    size_t length = 0;
    while (!lr_is_digit(*text) && is_word(text[length])) {
        length++;
    }
    return length;
}

static void *take(parser *p, uint64_t size)
{
    return lr_job_arena_alloc(p->job, &p->types->arena, size, 8);
}

static const char *copy(parser *p, const char *text, size_t length)
{
    return lr_job_arena_text(p->job, &p->types->arena, text, length);
}

/* A number without sign or leading zeros of at most `most`, all of the text. */
static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    int64_t value = 0;
    bool good = lr_is_digit(*text) && (*text != '0' || !text[1]) && lr_int_read(text, &value);
    *number = (uint64_t)value;
    return good && *number <= most;
}

/* ------------------------------------------------------------------------------------------------- definitions -- */

static lr_def *new_def(parser *p, const char *name, size_t length, uint32_t line)
{
    lr_def *def;
    lr_excerpt brief;
    if (length > LR_NAME_MOST) {
        return LR_AS_NULL(
            MISTAKE(p, line, "the name \"%s\" is longer than %d bytes", lr_excerpt_text(&brief, name), LR_NAME_MOST));
    }
    for (def = p->first; def; def = def->next) {
        if (def->since == p->since && strncmp(def->name, name, length) == 0 && !def->name[length]) {
            return LR_AS_NULL(MISTAKE(p, line, "%s is defined twice%s, first in %s%sline %u", def->name,
                                      p->since ? " for the same version" : "", def->file == p->file ? "" : def->file,
                                      def->file == p->file ? "" : ", ", (unsigned)def->line));
        }
    }
    if (p->count == DEFS_MOST) {
        return LR_AS_NULL(MISTAKE(p, line, "more than %d types", DEFS_MOST));
    }
    def = take(p, sizeof *def);
    if (!def) {
        return NULL;
    }
    *def = (lr_def){.name = copy(p, name, length),
                    .kind = kinds[p->kind].kind,
                    .derive = kinds[p->kind].derive,
                    .since = p->since,
                    .file = p->file,
                    .line = line};
    if (!def->name) {
        return NULL;
    }
    *p->last = def;
    p->last = &def->next;
    p->count++;
    return def;
}

/* Everything that was read becomes part of the set. */
static int32_t commit(parser *p)
{
    int32_t status = REC_OK;
    for (const lr_def *def = p->first; def && status == REC_OK; def = def->next) {
        status = lr_types_add(p->job, p->types, def);
    }
    if (status == REC_OK && p->shapes) {
        lr_shapes *oldest = p->shapes;
        while (oldest->next) {
            oldest = oldest->next;
        }
        oldest->next = p->types->shapes;
        p->types->shapes = p->shapes;
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- a section -- */

/* The lines of the section that ends here were all read. */
static int32_t end_section(parser *p)
{
    if (p->line && kinds[p->kind].filled && !p->filled) {
        (void)MISTAKE(p, p->line, "[%s] is empty", p->title);
        rec_fail_hint(p->job, "It needs a line \"%s\".", kinds[p->kind].what);
    }
    return p->job->error.status;
}

/* Parses the names between < and >, each optionally with `const` or a bound. */
static int32_t read_generics(parser *p, const char *text, size_t length, uint32_t line)
{
    const char *const end = text + length;
    lr_type_generic *list = NULL;
    uint64_t count = 0, room = 0;
    while (skip_blanks(text) < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end, *at = skip_blanks(text);
        size_t name;
        bool constant = strncmp(at, "const", 5) == 0 && is_blank(at[5]);
        if (constant) {
            at = skip_blanks(at + 5);
        }
        name = name_length(at);
        text = skip_blanks(at + name);
        if (!name || (text < stop && *text != ':')) {
            (void)MISTAKE(p, line, "[%s]: expected names in <>", p->title);
            return LR_HINT(p->job, "Such as <B> or <B, const D: usize>.");
        }
        if (count == GENERICS_MOST) {
            return MISTAKE(p, line, "[%s] has more than %d type parameters", p->title, GENERICS_MOST);
        }
        if (!lr_job_arena_grow(p->job, &p->types->arena, &list, count + 1, &room, sizeof *list)) {
            return p->job->error.status;
        }
        list[count++] = (lr_type_generic){.name = copy(p, at, name), .constant = constant};
        text = comma ? comma + 1 : end;
    }
    p->def->generics = list;
    p->def->generic_count = count;
    return p->job->error.status;
}

/* A version of Burn, 0.MINOR, or nothing. */
static int32_t read_since(parser *p, const char *text, uint32_t line)
{
    uint64_t minor = 0;
    lr_excerpt brief;
    if (*text && (strncmp(text, "0.", 2) != 0 || !read_number(text + 2, MINOR_MOST, &minor) || !minor)) {
        (void)MISTAKE(p, line, "[%s]: \"%s\" is not a version of Burn", p->title, lr_excerpt_text(&brief, text));
        rec_fail_hint(p->job,
                      "Write the first one that the section is about as 0.MINOR, or leave it out: [%s NAME 0.14].",
                      kinds[p->kind].name);
    }
    p->since = (int32_t)minor;
    return p->job->error.status;
}

static int32_t find_kind(parser *p, const char *text, size_t length, uint32_t line)
{
    char word[LR_NAME_MOST + 1];
    lr_excerpt brief;
    lr_suggestion near;
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), text);
    lr_suggestion_begin(&near, word);
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, word) == 0) {
            p->kind = i;
            return REC_OK;
        }
        lr_suggestion_try(&near, kinds[i].name);
    }
    (void)MISTAKE(p, line, "unknown section [%s] for types", lr_excerpt_text(&brief, text));
    if (strcmp(word, "librecord") == 0 || strcmp(word, "recorder") == 0) {
        rec_fail_hint(p->job, "Put types into a separate file, not into the configuration.");
    } else if (near.best) {
        rec_fail_hint(p->job, "Did you mean [%s%s]?", near.best, strcmp(near.best, "stateless") == 0 ? "" : " NAME");
    } else {
        rec_fail_hint(p->job, ALL_KINDS);
    }
    return p->job->error.status;
}

static int32_t begin_def(parser *p, const char *text, uint32_t line)
{
    size_t name = name_length(text);
    const char *rest = skip_blanks(text + name), *open = NULL, *close = NULL;
    if (*rest == '<') {
        open = rest + 1;
        close = strchr(open, '>');
        rest = close ? skip_blanks(close + 1) : rest;
    }
    if (!name || (open && !close) || (!open && *rest && rest == text + name)) {
        (void)MISTAKE(p, line, name ? "[%s]: the name ends in the middle" : "[%s] has no name", p->title);
        return LR_HINT(p->job, "Write [%s NAME], with a version of Burn if it is about one: [%s NAME 0.14].",
                       kinds[p->kind].name, kinds[p->kind].name);
    }
    if (read_since(p, rest, line) != REC_OK) {
        return p->job->error.status;
    }
    p->def = new_def(p, text, name, line);
    if (!p->def) {
        return p->job->error.status;
    }
    p->def->implicit = kinds[p->kind].implicit && !open;
    return open ? read_generics(p, open, (size_t)(close - open), line)
                : read_generics(p, kinds[p->kind].generics, strlen(kinds[p->kind].generics), line);
}

static int32_t begin_shapes(parser *p, const char *text, uint32_t line)
{
    size_t length = name_length(text);
    lr_shapes *shapes;
    if (!length || *skip_blanks(text + length) || length > LR_NAME_MOST) {
        (void)MISTAKE(p, line, "[%s]: the name of one module is needed", p->title);
        return LR_HINT(p->job, "Shapes hold in all versions: [shapes NAME].");
    }
    shapes = take(p, sizeof *shapes);
    if (shapes) {
        *shapes = (lr_shapes){.name = copy(p, text, length),
                              .rules = take(p, RULES_MOST * sizeof(lr_shape_rule)),
                              .file = p->file,
                              .line = line,
                              .next = p->shapes};
        for (const lr_shapes *other = p->shapes; shapes->name && other; other = other->next) {
            if (strcmp(other->name, shapes->name) == 0) {
                return MISTAKE(p, line, "the shapes of %s occurs twice, first in %s%sline %u", shapes->name,
                               other->file == p->file ? "" : other->file, other->file == p->file ? "" : ", ",
                               (unsigned)other->line);
            }
        }
        p->shapes = shapes;
    }
    return p->job->error.status;
}

static int32_t on_section(void *user, const char *text, uint32_t line)
{
    parser *p = user;
    size_t length = strcspn(text, " \t");
    const char *rest = skip_blanks(text + length);
    lr_excerpt brief;
    if (end_section(p) != REC_OK || find_kind(p, text, length, line) != REC_OK) {
        return p->job->error.status;
    }
    if (strcmp(kinds[p->kind].name, "record") == 0 && strncmp(rest, "enum", 4) == 0 && is_blank(rest[4])) {
        p->kind++; /* [record enum], the next in the table */
        rest = skip_blanks(rest + 4);
    }
    (void)snprintf(p->title, sizeof p->title, "%s", lr_excerpt_text(&brief, text));
    p->line = line;
    p->def = NULL;
    p->fields = NULL;
    p->room = 0;
    p->filled = false;
    return kinds[p->kind].kind == LR_DEF_STATELESS ? read_since(p, rest, line)
           : kinds[p->kind].kind == KIND_SHAPES    ? begin_shapes(p, rest, line)
                                                   : begin_def(p, rest, line);
}

/* ----------------------------------------------------------------------------------------------------- a field -- */

static lr_type_field *add_field(parser *p)
{
    lr_def *def = p->def;
    if (!lr_job_arena_grow(p->job, &p->types->arena, &p->fields, def->field_count + 1, &p->room, sizeof *p->fields)) {
        return NULL;
    }
    def->fields = p->fields;
    p->fields[def->field_count] = (lr_type_field){0};
    return &p->fields[def->field_count++];
}

static lr_type_field *find_field(parser *p, const char *name, size_t length)
{
    for (uint64_t i = 0; i < p->def->field_count; i++) {
        if (strncmp(p->fields[i].name, name, length) == 0 && !p->fields[i].name[length]) {
            return &p->fields[i];
        }
    }
    return NULL;
}

/* Fields have names, or numbers from 0 on as those of a tuple struct. */
static int32_t check_field_name(parser *p, const char *name, uint32_t line)
{
    const lr_def *def = p->def;
    bool numbered = lr_is_digit(*name);
    uint64_t number = 0;
    if (def->kind == LR_DEF_ALIAS && strcmp(name, "type") != 0) {
        (void)MISTAKE(p, line, "[%s] has no key \"%s\"", p->title, name);
        rec_fail_hint(p->job, "Set it with: type = TYPE.");
    } else if (def->field_count && numbered != lr_is_digit(*def->fields[0].name)) {
        (void)MISTAKE(p, line, "[%s]: fields have all names or all numbers", p->title);
    } else if (numbered && def->kind == LR_DEF_ENUM) {
        (void)MISTAKE(p, line, "[%s]: the variant \"%s\" begins with a digit", p->title, name);
    } else if (numbered && (!read_number(name, FIELDS_MOST, &number) || number != def->field_count)) {
        (void)MISTAKE(p, line, "[%s]: expected the field %llu, found \"%s\"", p->title,
                      (unsigned long long)def->field_count, name);
        rec_fail_hint(p->job, "The fields of a tuple struct are numbered in order from 0.");
    } else if (!numbered && name_length(name) != strlen(name)) {
        (void)MISTAKE(p, line, "[%s]: \"%s\" is not a name: it may have letters, digits and \"_\"", p->title, name);
    } else if (find_field(p, name, strlen(name))) {
        (void)MISTAKE(p, line, "\"%s\" occurs twice in [%s], first in line %u", name, p->title,
                      (unsigned)find_field(p, name, strlen(name))->line);
    } else if (def->field_count == FIELDS_MOST) {
        (void)MISTAKE(p, line, "more than %d fields in [%s]", FIELDS_MOST, p->title);
    }
    return p->job->error.status;
}

static int32_t field_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    lr_type_field *field;
    if (check_field_name(p, key, line) != REC_OK) {
        return p->job->error.status;
    }
    field = add_field(p);
    if (!field) {
        return p->job->error.status;
    }
    field->line = line;
    field->name = copy(p, key, strlen(key));
    if (strcmp(value, "-") == 0 && p->def->kind == LR_DEF_ENUM) {
        return p->job->error.status; /* a unit variant */
    }
    if (field->name) {
        field->type = lr_expr_parse(p->job, &p->types->arena, value, strlen(value), p->file, line);
    }
    return p->job->error.status;
}

/* ------------------------------------------------------------------------------------------ more about a field -- */

/* `a.b.0`, or `.` for all of it. */
static bool is_path(const char *text)
{
    size_t length = 0;
    if (strcmp(text, ".") == 0) {
        return true;
    }
    while (is_word(text[length])) {
        while (is_word(text[length])) {
            length++;
        }
        if (!text[length]) {
            return true;
        }
        length += text[length] == '.';
    }
    return false;
}

static int32_t default_setting(parser *p, lr_type_field *field, const char *value, uint32_t line)
{
    static const char zeros[] = "zeros(";
    const char *name = strncmp(value, zeros, strlen(zeros)) == 0 ? value + strlen(zeros) : value;
    size_t length = name_length(name);
    lr_excerpt brief;
    if (!length || strcmp(name + length, name == value ? "" : ")") != 0) {
        (void)MISTAKE(p, line, "the default of \"%s\" is \"%s\"", field->name, lr_excerpt_text(&brief, value));
        return LR_HINT(p->job,
                       "It may be the name of a variant, or zeros(FIELD): as many zeros as FIELD has elements.");
    }
    if (name != value && !find_field(p, name, length)) {
        return MISTAKE(p, line, "the default of \"%s\" is \"%s\", but there is no such field before it", field->name,
                       lr_excerpt_text(&brief, value));
    }
    field->initial = copy(p, value, strlen(value));
    return p->job->error.status;
}

static int32_t from_setting(parser *p, lr_type_field *field, const char *value, uint32_t line)
{
    lr_excerpt brief;
    uint64_t element = 0;
    if (p->def->kind == LR_DEF_ALIAS) {
        if (!read_number(value, FIELDS_MOST, &element)) {
            (void)MISTAKE(p, line, "type.from is \"%s\", which is not an element of a tuple",
                          lr_excerpt_text(&brief, value));
            rec_fail_hint(p->job, "Elements count from 0.");
        }
        field->from_element = element + 1;
    } else if (!is_path(value)) {
        (void)MISTAKE(p, line, "\"%s.from\" is \"%s\", which is not a path", field->name,
                      lr_excerpt_text(&brief, value));
        rec_fail_hint(p->job, "It says where an older version has the field, such as group_norm.gamma.");
    } else {
        field->from = copy(p, value, strlen(value));
    }
    return p->job->error.status;
}

static int32_t skip_setting(parser *p, lr_type_field *field, const char *value, uint32_t line)
{
    lr_excerpt brief;
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
        (void)MISTAKE(p, line, "\"%s.skip\" is \"%s\"", field->name, lr_excerpt_text(&brief, value));
        rec_fail_hint(p->job, "Known: yes, no.");
    }
    field->skip = strcmp(value, "yes") == 0;
    return p->job->error.status;
}

/* `FIELD.WHAT = value`, below the field's own line. */
static int32_t detail_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    static const struct {
        const char *name;
        int32_t (*set)(parser *p, lr_type_field *field, const char *value, uint32_t line);
    } details[] = {{"default", default_setting}, {"from", from_setting}, {"skip", skip_setting}};
    const char *dot = strchr(key, '.');
    lr_type_field *field = find_field(p, key, (size_t)(dot - key));
    lr_suggestion near;
    if (!field || field != &p->fields[p->def->field_count - 1]) {
        (void)MISTAKE(p, line, "\"%s\" does not follow its field", key);
        return LR_HINT(p->job, "Write \"%.*s = TYPE\" first, then its other keys.", (int)(dot - key), key);
    }
    if (p->def->kind == LR_DEF_ENUM || (p->def->kind == LR_DEF_ALIAS && strcmp(dot + 1, "from") != 0)) {
        return MISTAKE(p, line, "[%s]: \"%s\" is for fields of structs", p->title, key);
    }
    lr_suggestion_begin(&near, dot + 1);
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++) {
        if (strcmp(details[i].name, dot + 1) == 0) {
            return details[i].set(p, field, value, line);
        }
        lr_suggestion_try(&near, details[i].name);
    }
    (void)MISTAKE(p, line, "a field has no \"%s\": \"%s\"", dot + 1, key);
    if (near.best) {
        rec_fail_hint(p->job, "Did you mean \"%s\"?", near.best);
    } else {
        rec_fail_hint(p->job, "Known: default, from, skip.");
    }
    return p->job->error.status;
}

/* `names = A, B, C` of [stateless]. */
static int32_t names_setting(parser *p, const char *key, const char *value, uint32_t line)
{
    if (strcmp(key, "names") != 0) {
        (void)MISTAKE(p, line, "[%s] has no key \"%s\"", p->title, key);
        return LR_HINT(p->job, "It has: names = NAME, NAME.");
    }
    for (const char *at = value;; at = skip_blanks(at + 1)) {
        size_t length = name_length(at);
        const char *stop = skip_blanks(at + length);
        if (!length || (*stop && *stop != ',')) {
            lr_excerpt brief;
            (void)MISTAKE(p, line, "expected a name, found \"%s\"", lr_excerpt_text(&brief, at));
            return LR_HINT(p->job, "Names are separated by commas.");
        }
        if (!new_def(p, at, length, line) || !*stop) {
            return p->job->error.status;
        }
        at = stop;
    }
}

/* How many different words a section of shapes has. */
static uint64_t count_words(const lr_shapes *shapes)
{
    const char *seen[LR_SHAPES_WORDS];
    uint64_t count = 0;
    for (uint64_t i = 0; i < shapes->rule_count; i++) {
        for (uint64_t w = 0; w < shapes->rules[i].count; w++) {
            const char *word = shapes->rules[i].words[w] + (shapes->rules[i].words[w][0] == '*');
            uint64_t known = 0;
            while (known < count && strcmp(seen[known], word) != 0) {
                known++;
            }
            if (known == LR_SHAPES_WORDS) {
                return count + 1;
            }
            seen[known] = word;
            count += known == count;
        }
    }
    return count;
}

/* `PATH = WORD, WORD` of [shapes]. */
static int32_t shapes_setting(parser *p, const char *path, const char *value, uint32_t line)
{
    lr_shapes *shapes = p->shapes;
    lr_shape_rule *rule = &shapes->rules[shapes->rule_count];
    const char *words[LR_RANK_MOST], **list;
    uint64_t count = 0;
    if (shapes->rule_count == RULES_MOST) {
        return MISTAKE(p, line, "more than %d lines in [%s]", RULES_MOST, p->title);
    }
    for (const char *at = path; *at; at += *at == '.' && at[1]) {
        size_t length = strcspn(at, ".");
        for (size_t i = 0; i < length; i++) {
            length = is_word(at[i]) ? length : 0;
        }
        at += length;
        if (!length || (*at && (*at != '.' || !at[1]))) {
            (void)MISTAKE(p, line, "\"%s\" is not a path below a module", path);
            return LR_HINT(p->job, "Such as weight, query.weight, or _.input_transform.weight for each child.");
        }
    }
    if (strlen(path) >= LR_MODULE_PATH) {
        return MISTAKE(p, line, "the path is longer than %d bytes", LR_MODULE_PATH - 1);
    }
    for (const char *at = value;; at = skip_blanks(at + 1)) {
        bool multiple = *at == '*';
        size_t length = name_length(at + multiple) + multiple;
        const char *stop = skip_blanks(at + length);
        if (length == multiple || (*stop && *stop != ',') || count == LR_RANK_MOST) {
            lr_excerpt brief;
            (void)MISTAKE(p, line, "expected a word for each dimension, found \"%s\"", lr_excerpt_text(&brief, at));
            return LR_HINT(p->job, "One word is one number in all of the module, _ is any, *WORD a multiple: in, out.");
        }
        words[count] = copy(p, at, length);
        if (!words[count++]) {
            return p->job->error.status;
        }
        if (!*stop) {
            break;
        }
        at = stop;
    }
    list = take(p, count * sizeof *list);
    if (list) {
        memcpy(list, words, (size_t)count * sizeof *list);
        *rule = (lr_shape_rule){.path = copy(p, path, strlen(path)), .count = count, .words = list};
        shapes->rule_count++;
        if (count_words(shapes) > LR_SHAPES_WORDS) {
            return MISTAKE(p, line, "more than %d different words in [%s]", LR_SHAPES_WORDS, p->title);
        }
    }
    return p->job->error.status;
}

static int32_t on_setting(void *user, const char *key, const char *value, uint32_t line)
{
    parser *p = user;
    p->filled = true;
    if (kinds[p->kind].kind == KIND_SHAPES) {
        return shapes_setting(p, key, value, line);
    }
    if (!p->def) {
        return names_setting(p, key, value, line);
    }
    return strchr(key, '.') ? detail_setting(p, key, value, line) : field_setting(p, key, value, line);
}

/* ------------------------------------------------------------------------------------------------------ a file -- */

static int32_t read_file(parser *p, const char *path)
{
    static const lr_ini_reader reader = {.section = on_section,
                                         .setting = on_setting,
                                         .begin = "Begin with a section such as [type NAME].",
                                         .no_value = "Set its type: FIELD = TYPE."};
    int32_t status;
    p->file = copy(p, path, strlen(path));
    p->line = 0;
    status = p->file ? lr_ini_read(p->job, p->file, &reader, p) : p->job->error.status;
    return status == REC_OK ? end_section(p) : status;
}

int32_t lr_types_add_inis(rec_job *job, rec_types *types, const char *const *paths, uint64_t count)
{
    parser p = {.job = job, .types = types};
    int32_t status = REC_OK;
    p.last = &p.first;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = read_file(&p, paths[i]);
    }
    return status == REC_OK ? commit(&p) : status;
}
