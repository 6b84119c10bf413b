/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers by name: from the user, from the model's configuration (config.json next to it), which a recorder reads as
 * events, and from the file's metadata. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/io/io.h"
#include "core/record/record.h"
#include "remap/rules/rules.h"
#include "core/registry/registry.h"

enum { SET_MOST = 10000, CONFIG_MOST = 100000, NAME_MOST = 256 };
#define FILE_MOST ((uint64_t)16 << 20)

/* ----------------------------------------------------------------------------------------------------- numbers -- */

void lr_variables_init(lr_variables *numbers, const lr_allocator *allocator)
{
    *numbers = (lr_variables){.allocator = allocator};
}

static void release(const lr_variables *numbers, lr_number *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        lr_release(numbers->allocator, list[i].name);
    }
    lr_release(numbers->allocator, list);
}

void lr_variables_free(lr_variables *numbers)
{
    release(numbers, numbers->set, numbers->set_count);
    release(numbers, numbers->config, numbers->config_count);
    release(numbers, numbers->own, numbers->own_count);
    lr_release(numbers->allocator, numbers->config_file);
    lr_release(numbers->allocator, numbers->config_tried);
    lr_release(numbers->allocator, numbers->model_type);
    lr_variables_init(numbers, numbers->allocator);
}

bool lr_number_find(const lr_number *numbers, uint64_t count, const char *name, double *value)
{
    for (uint64_t i = count; i > 0; i--) {
        if (strcmp(numbers[i - 1].name, name) == 0) {
            *value = numbers[i - 1].value;
            return true;
        }
    }
    return false;
}

bool lr_variables_find(const lr_variables *numbers, const char *name, double *value)
{
    return lr_number_find(numbers->set, numbers->set_count, name, value) ||
           lr_number_find(numbers->config, numbers->config_count, name, value) ||
           lr_number_find(numbers->own, numbers->own_count, name, value);
}

bool lr_variables_ask(lr_variables *numbers, const char *name, double *value)
{
    for (uint64_t i = 0; i < numbers->set_count; i++) {
        numbers->set[i].used = numbers->set[i].used || strcmp(numbers->set[i].name, name) == 0;
    }
    return lr_variables_find(numbers, name, value);
}

static int32_t append(rec_job *job, const lr_variables *numbers, lr_number **list, uint64_t *count, uint64_t *room,
                      const char *name, size_t length, double value)
{
    char *copy;
    if (!lr_job_grow(job, list, *count + 1, room, sizeof **list)) {
        return job->error.status;
    }
    copy = lr_alloc(numbers->allocator, length + 1);
    if (!copy) {
        return lr_fail_memory(job, length + 1);
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    (*list)[(*count)++] = (lr_number){.name = copy, .value = value};
    return REC_OK;
}

int32_t lr_variables_copy(rec_job *job, lr_variables *to, const lr_variables *from)
{
    int32_t status = REC_OK;
    lr_variables_init(to, from->allocator);
    for (uint64_t i = 0; i < from->set_count && status == REC_OK; i++) {
        status = append(job, to, &to->set, &to->set_count, &to->set_room, from->set[i].name, strlen(from->set[i].name),
                        from->set[i].value);
    }
    return status;
}

static bool read_value(const char *text, double *value)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *value = strcmp(text, "true") == 0;
        return true;
    }
    return lr_number_read(text, strlen(text), value);
}

int32_t lr_variables_set(rec_job *job, lr_variables *numbers, const char *assignment)
{
    const char *equals = strchr(assignment, '='), *end = equals, *start = assignment + strspn(assignment, " \t");
    size_t length = equals ? lr_number_name(start, (size_t)(equals - start)) : 0;
    double value = 0;
    lr_excerpt brief;
    while (end && end > start && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    if (!equals || !length || start + length != end || length > LR_NAME_MOST ||
        !read_value(equals + 1 + strspn(equals + 1, " \t"), &value)) {
        (void)rec_fail_found(job, REC_E_ARGUMENT, REC_UNKNOWN, "NAME=NUMBER for set", "\"%s\"",
                             lr_excerpt_text(&brief, assignment));
        return LR_HINT(job, "It gives a number that rules ask for: heads=32, partial_rotary_factor=0.4.");
    }
    for (uint64_t i = 0; i < numbers->set_count; i++) {
        if (strncmp(numbers->set[i].name, start, length) == 0 && !numbers->set[i].name[length]) {
            numbers->set[i].value = value;
            return REC_OK;
        }
    }
    if (numbers->set_count == SET_MOST) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "more than %d numbers are set", SET_MOST);
    }
    return append(job, numbers, &numbers->set, &numbers->set_count, &numbers->set_room, start, length, value);
}

int32_t lr_variables_remember(rec_job *job, lr_variables *numbers, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    size_t length = equals ? lr_number_name(assignment, (size_t)(equals - assignment)) : 0;
    double value = 0;
    if (!length || assignment + length != equals || length > NAME_MOST || !read_value(equals + 1, &value) ||
        numbers->own_count == SET_MOST) {
        return rec_fail(job, REC_E_FORMAT, REC_UNKNOWN, "expected NAME=NUMBER, found `%.60s`", assignment);
    }
    return append(job, numbers, &numbers->own, &numbers->own_count, &numbers->own_room, assignment, length, value);
}

/* ----------------------------------------------------------------------------------------------- configuration -- */

/** Values of a configuration: only those in maps count, and of one list the zeros. */
typedef struct taker {
    rec_job *job;
    lr_variables *numbers;
    bool counted;   /**< the list no_rope_layers is there */
    uint64_t zeros; /**< in it */
} taker;

/* @return false: it is neither number nor bool. */
static bool number_of(const rec_scalar *scalar, double *number)
{
    switch (scalar->kind) {
    case REC_KIND_BOOL:
    case REC_KIND_INT:
        *number = (double)scalar->v.i;
        return true;
    case REC_KIND_UINT:
        *number = (double)scalar->v.u;
        return true;
    case REC_KIND_FLOAT:
        *number = scalar->v.f;
        return true;
    default:
        return false;
    }
}

/* What the configuration calls the model. */
static int32_t keep_type(taker *t, const rec_scalar *text)
{
    lr_variables *n = t->numbers;
    if (text->v.length > LR_NAME_MOST || n->model_type) {
        return REC_OK; /* no name of a family is that long */
    }
    n->model_type = lr_zalloc(n->allocator, text->v.length + 1);
    if (!n->model_type) {
        return lr_fail_memory(t->job, text->v.length + 1);
    }
    memcpy(n->model_type, text->text, (size_t)text->v.length);
    return REC_OK;
}

static int32_t keep_number(taker *t, const char *name, double value)
{
    lr_variables *n = t->numbers;
    if (n->config_count == CONFIG_MOST) {
        return rec_fail(t->job, REC_E_LIMIT, REC_UNKNOWN, "more than 100,000 numbers: this is not a configuration");
    }
    return append(t->job, n, &n->config, &n->config_count, &n->config_room, name, strlen(name), value);
}

static int32_t take(void *user, const char *path, bool listed, const rec_scalar *scalar)
{
    static const char list[] = LR_NUMBER_NO_ROPE ".";
    taker *t = user;
    double value;
    if (scalar->kind == REC_KIND_STRING && strcmp(path, "model_type") == 0) {
        return keep_type(t, scalar);
    }
    if (!number_of(scalar, &value)) {
        return REC_OK;
    }
    if (listed && strncmp(path, list, sizeof list - 1) == 0 && !strchr(path + sizeof list - 1, '.')) {
        t->counted = true;
        t->zeros += value == 0;
    }
    return listed ? REC_OK : keep_number(t, path, value);
}

/* Hands the file to a plugin, which then works for this job as if it were loading. @param source NULL: it is opened. */
static int32_t read_with(rec_job *job, const lr_plugin *plugin, lr_variables *numbers, const char *path,
                         rec_source *source)
{
    const char *file = job->file;
    const rec_plugin *before = job->plugin;
    const lr_option_set *options = job->options;
    taker t = {.job = job, .numbers = numbers};
    lr_setting_reader *r = lr_zalloc(job->allocator, sizeof *r);
    rec_source *opened = NULL;
    int32_t status;
    job->file = path;
    job->plugin = &plugin->d;
    job->options = NULL;
    if (!r) {
        status = lr_fail_memory(job, sizeof *r);
    } else {
        r->job = job;
        r->take = take;
        r->user = &t;
        source = source ? source : (opened = lr_registry_open(job, path, false));
        if (source && rec_source_size(source) > FILE_MOST) {
            status =
                lr_fail_line(job, REC_E_LIMIT, path, 0, "larger than 16 MiB: this is not a configuration of a model");
        } else {
            status = source ? plugin->d.load(job, source, &lr_setting_visitor, r) : job->error.status;
        }
        if (status == REC_OK && t.counted) {
            status = keep_number(&t, LR_NUMBER_NO_ROPE, (double)t.zeros);
        }
    }
    if (status != REC_OK && !lr_job_failed(job)) {
        status = rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the plugin %s stopped without a reason (%d)", plugin->d.name,
                          (int)status);
    }
    lr_source_release(opened);
    lr_release(job->allocator, r);
    job->file = file;
    job->plugin = before;
    job->options = options;
    return status;
}

/* JSON is read by librecord's own reader, whatever other plugin calls itself so or comes first. */
static const lr_plugin *reader_of(rec_job *job, const char *path)
{
    const lr_plugin *json = lr_registry_own(job, "json", "PrettyJson");
    return json && lr_plugin_extension(&json->d, path) ? json : lr_registry_by_extension(job, path, LR_CAN_LOAD);
}

/* @param source what is at that path, or NULL. */
static int32_t read_config(rec_job *job, lr_variables *numbers, const char *path, rec_source *source)
{
    const lr_plugin *plugin = reader_of(job, path);
    struct stat state;
    int32_t status = job->error.status;
    if (status != REC_OK) {
        return status;
    }
    if (!source && !lr_path_scheme(path) && stat(path, &state) != 0) {
        char text[256];
        int error = errno;
        (void)lr_fail_line(job, REC_E_IO, path, 0, "cannot open: %s", lr_system_words(error, text, sizeof text));
        status = lr_job_errno(job, error);
    } else if (!source && !lr_path_scheme(path) && !S_ISREG(state.st_mode)) {
        status = lr_fail_line(job, REC_E_IO, path, 0, "not a regular file, where a model's configuration is needed");
    } else if (!plugin || !plugin->d.load || (plugin->d.traits & (REC_TRAIT_TENSORS | REC_TRAIT_NEEDS_TYPE))) {
        status = lr_fail_line(job, REC_E_UNSUPPORTED, path, 0, "no recorder reads configurations of this name");
        rec_fail_hint(job, "Numbers can also be given one by one: --set heads=32.");
    } else {
        status = read_with(job, plugin, numbers, path, source);
    }
    if (status == REC_OK) {
        numbers->config_file = lr_strdup(numbers->allocator, path);
        status = numbers->config_file ? REC_OK : lr_fail_memory(job, strlen(path) + 1);
    }
    return status;
}

static bool exists(const char *path)
{
    struct stat state;
    return stat(path, &state) == 0;
}

/* Finds the configuration of a model: in its directory, else NAME.config.json for each NAME that its file's begins with
 * (model.safetensors.index, model.safetensors, model), else config.json next to it.
 * @param source of a model at an address, whose plugin finds companion files; NULL: a local one. @param path (out) the
 * last place looked at. @param config (out) what is there, of an address. @return whether it is there. */
static bool find_config(rec_job *job, lr_arena *arena, rec_source *source, const char *model, char **path,
                        rec_source **config)
{
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    size_t length = (size_t)(name - model), stem = strlen(name);
    struct stat state;
    bool found = false, more = !source || stem;
    if (!source && stat(model, &state) == 0 && S_ISDIR(state.st_mode)) {
        *path = lr_job_arena_format(job, arena, "%s%sconfig.json", model, stem ? "/" : "");
        return *path && exists(*path);
    }
    while (more && !found) {
        while (stem && name[--stem] != '.') {
        }
        *path = lr_job_arena_format(job, arena, "%.*s%sconfig.json", (int)(length + stem), model, stem ? "." : "");
        if (*path && source) {
            (void)rec_source_beside_maybe(job, source, *path + length, config);
        }
        found = source ? *config != NULL : *path && exists(*path);
        more = *path && stem && !lr_job_failed(job);
    }
    return found;
}

int32_t lr_variables_read(rec_job *job, lr_variables *numbers, const char *model_path, const char *explicit_path)
{
    rec_source *source = NULL, *config = NULL;
    char *model = NULL, *path = NULL;
    lr_arena arena; /* of the paths */
    bool found = false;
    if (explicit_path) {
        return read_config(job, numbers, explicit_path, NULL);
    }
    if (!model_path) {
        return REC_OK;
    }
    lr_arena_init(&arena, job->allocator);
    model = lr_job_arena_text(job, &arena, model_path, strlen(model_path));
    if (model && lr_path_scheme(model_path)) {
        source = lr_registry_open(job, model_path, false);
        model[strcspn(model, "?#")] = '\0';
    }
    if (!lr_job_failed(job)) {
        found = find_config(job, &arena, source, model, &path, &config);
    }
    if (found) {
        (void)read_config(job, numbers, path, config);
    } else if (path && !lr_job_failed(job)) {
        lr_release(numbers->allocator, numbers->config_tried);
        numbers->config_tried = lr_strdup(numbers->allocator, path);
        (void)(numbers->config_tried ? REC_OK : lr_fail_memory(job, strlen(path) + 1));
    }
    lr_arena_free(&arena);
    rec_source_release(config);
    lr_source_release(source);
    return job->error.status;
}

int32_t lr_variables_take(rec_job *job, lr_variables *numbers, const rec_record *record)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < record->metadata.count && status == REC_OK; i++) {
        const lr_entry *entry = &record->metadata.entries[i];
        rec_scalar scalar = rec_value_scalar(&entry->value);
        double number;
        if (entry->key.length > LR_NAME_MOST || !number_of(&scalar, &number)) {
            continue; /* longer than a name in a rule can be, or none */
        }
        status = append(job, numbers, &numbers->own, &numbers->own_count, &numbers->own_room, entry->key.v.text,
                        entry->key.length, number);
    }
    return status;
}
