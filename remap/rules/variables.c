/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers by name: from the user, from the model's configuration (config.json next to it), which a recorder reads as
 * events, and from the file's metadata. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/io/io.h"
#include "core/record/record.h"
#include "remap/rules/rules.h"
#include "core/registry/registry.h"

enum { SET_MOST = 10000, CONFIG_MOST = 100000, NAME_MOST = 256, DEPTH_MOST = 256 };
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
        rec_fail_hint(job, "It gives a number that rules ask for: heads=32, partial_rotary_factor=0.4.");
        return job->error.status;
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

/** Receives the events of a configuration. Only maps in maps count: elements of lists have no name, and for one list
 * the zeros are counted. */
typedef struct reader {
    rec_job *job;
    lr_variables *numbers;
    char name[NAME_MOST]; /**< of the value that comes next, with dots */
    size_t length;
    bool fits;                  /**< the name fitted */
    size_t lengths[DEPTH_MOST]; /**< of the names of the maps around, and whether they fitted */
    bool fitted[DEPTH_MOST];
    uint32_t depth;   /**< open maps that count */
    uint64_t skipped; /**< open lists and all that is open in them */
    bool counts;      /**< the outermost of them is no_rope_layers */
    uint64_t zeros;   /**< in it */
} reader;

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
static int32_t keep_type(reader *r, const rec_scalar *text)
{
    lr_variables *n = r->numbers;
    char *copy;
    if (text->v.length > LR_NAME_MOST || n->model_type) {
        return REC_OK; /* no name of a family is that long */
    }
    copy = lr_zalloc(n->allocator, text->v.length + 1);
    if (!copy) {
        return lr_fail_memory(r->job, text->v.length + 1);
    }
    memcpy(copy, text->text, (size_t)text->v.length);
    n->model_type = copy;
    return REC_OK;
}

static int32_t keep_number(reader *r, double value)
{
    lr_variables *n = r->numbers;
    if (n->config_count == CONFIG_MOST) {
        return rec_fail(r->job, REC_E_LIMIT, REC_UNKNOWN, "more than 100,000 numbers: this is not a configuration");
    }
    return append(r->job, n, &n->config, &n->config_count, &n->config_room, r->name, r->length, value);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    reader *r = self;
    double value;
    (void)at;
    if (r->skipped || !r->depth || !r->fits) {
        r->zeros += r->counts && r->skipped == 1 && number_of(scalar, &value) && value == 0;
        return REC_OK;
    }
    if (scalar->kind == REC_KIND_STRING) {
        return r->depth == 1 && r->length == 10 && memcmp(r->name, "model_type", 10) == 0 ? keep_type(r, scalar)
                                                                                          : REC_OK;
    }
    return number_of(scalar, &value) ? keep_number(r, value) : REC_OK;
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    reader *r = self;
    static const uint8_t zero[16] = {0};
    uint64_t size = rec_dtype_bits(dtype) / 8;
    (void)at;
    for (uint64_t i = 0; size && size <= sizeof zero && r->counts && r->skipped == 1 && i < count; i++) {
        r->zeros += memcmp((const uint8_t *)data + i * size, zero, (size_t)size) == 0;
    }
    return REC_OK;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    (void)self;
    (void)at;
    (void)blob;
    return REC_OK;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    reader *r = self;
    (void)at;
    (void)form;
    (void)count;
    if (!r->skipped) {
        r->counts = r->depth == 1 && r->fits && r->length == strlen(LR_NUMBER_NO_ROPE) &&
                    memcmp(r->name, LR_NUMBER_NO_ROPE, r->length) == 0;
        r->zeros = 0;
    }
    r->skipped++;
    return REC_OK;
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    reader *r = self;
    (void)at;
    (void)form;
    (void)count;
    if (r->skipped || r->depth == DEPTH_MOST) {
        r->skipped++;
        return REC_OK;
    }
    r->lengths[r->depth] = r->depth ? r->length : 0;
    r->fitted[r->depth] = !r->depth || r->fits;
    r->depth++;
    return REC_OK;
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    reader *r = self;
    size_t length;
    bool text = key->kind == REC_KIND_STRING && !memchr(key->text, '\0', (size_t)key->v.length);
    (void)at;
    if (r->skipped) {
        return REC_OK;
    }
    length = r->lengths[r->depth - 1];
    r->fits = r->fitted[r->depth - 1] && text && key->v.length < NAME_MOST && length + key->v.length + 2 < NAME_MOST;
    if (r->fits) {
        if (length) {
            r->name[length++] = '.';
        }
        memcpy(r->name + length, key->text, (size_t)key->v.length);
        r->length = length + (size_t)key->v.length;
    }
    return REC_OK;
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    (void)index;
    (void)name;
    (void)payload;
    return on_list(self, at, 0, 0);
}

static int32_t on_end(void *self, uint64_t at)
{
    reader *r = self;
    (void)at;
    if (!r->skipped) {
        r->depth--;
    } else if (--r->skipped == 0 && r->counts) {
        r->counts = false;
        return keep_number(r, (double)r->zeros);
    }
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    (void)self;
    (void)at;
    (void)present;
    return REC_OK;
}

static const rec_visitor visitor = {.size = sizeof visitor,
                                    .scalar = on_scalar,
                                    .numbers = on_numbers,
                                    .bytes = on_bytes,
                                    .list_begin = on_list,
                                    .map_begin = on_map,
                                    .key = on_key,
                                    .variant_begin = on_variant,
                                    .end = on_end,
                                    .option = on_option};

static int32_t check_size(rec_job *job, const rec_source *source, const char *path)
{
    return rec_source_size(source) <= FILE_MOST
               ? REC_OK
               : lr_fail_line(job, REC_E_LIMIT, path, 0, "larger than 16 MiB: this is not a configuration of a model");
}

/* Hands the file to a plugin, which then works for this job as if it were loading. @param source NULL: it is opened. */
static int32_t read_with(rec_job *job, const lr_plugin *plugin, lr_variables *numbers, const char *path,
                         rec_source *source)
{
    const char *file = job->file;
    const rec_plugin *before = job->plugin;
    const lr_option_set *options = job->options;
    reader *r = lr_zalloc(job->allocator, sizeof *r);
    rec_source *opened = NULL;
    int32_t status;
    job->file = path;
    job->plugin = &plugin->d;
    job->options = NULL;
    if (!r) {
        status = lr_fail_memory(job, sizeof *r);
    } else {
        r->job = job;
        r->numbers = numbers;
        source = source ? source : (opened = lr_registry_open(job, path, false));
        status = source && check_size(job, source, path) == REC_OK ? plugin->d.load(job, source, &visitor, r)
                                                                   : job->error.status;
    }
    if (status != REC_OK && !lr_job_failed(job)) {
        status = rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the plugin %s stopped without saying why (%d)",
                          plugin->d.name, (int)status);
    }
    lr_source_release(opened);
    lr_release(job->allocator, r);
    job->file = file;
    job->plugin = before;
    job->options = options;
    return status;
}

/* @param source what is at that path, or NULL. */
/* JSON is read by librecord's own reader, whatever other plugin calls itself so or comes first. */
static const lr_plugin *reader_of(rec_job *job, const char *path)
{
    const lr_plugin *json = lr_registry_own(job, "json", "PrettyJson");
    return json && lr_plugin_extension(&json->d, path) ? json : lr_registry_by_extension(job, path, LR_CAN_LOAD);
}

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
        (void)lr_fail_line(job, REC_E_IO, path, 0, "cannot open: %s", lr_errno_words(error, text, sizeof text));
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

/* `folder` (`length` bytes, with the slash if it has one) + `stem` + `name`. NULL: the job has failed. */
static char *join(rec_job *job, const char *folder, size_t length, const char *stem, size_t stem_length,
                  const char *name)
{
    size_t tail = strlen(name) + 1;
    bool slash = length && folder[length - 1] != '/';
    char *path = lr_alloc(job->allocator, length + slash + stem_length + tail);
    if (!path) {
        (void)lr_fail_memory(job, length + stem_length + tail);
        return NULL;
    }
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + slash, stem, stem_length);
    memcpy(path + length + slash + stem_length, name, tail);
    return path;
}

/* The configuration of a model's file or folder. @param path (out) the last place looked at. @return whether it is
 * there. */
static bool find_config(rec_job *job, const char *model, char **path)
{
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    size_t length = (size_t)(name - model), stem = strlen(name);
    struct stat state;
    *path = NULL;
    if (stat(model, &state) == 0 && S_ISDIR(state.st_mode)) {
        *path = join(job, model, strlen(model), "", 0, "config.json");
        return *path && exists(*path);
    }
    /* model.safetensors.index.json: model.safetensors.index, model.safetensors, model */
    while (stem > 1) {
        do {
            stem--;
        } while (stem && name[stem] != '.');
        if (stem) {
            *path = join(job, model, length, name, stem, ".config.json");
            if (!*path || exists(*path)) {
                return *path != NULL;
            }
            lr_release(job->allocator, *path);
            *path = NULL;
        }
    }
    *path = join(job, model, length, "", 0, "config.json");
    return *path && exists(*path);
}

/* The configurations of a model at an address, in turn: what its name begins with, then "config.json".
 * @param path (out) the place of the last one looked at, to be released. @param config (out) NULL if not found. */
static int32_t find_far_config(rec_job *job, rec_source *source, const char *model, char **path, rec_source **config)
{
    const char *slash = strrchr(model, '/'), *name = slash + 1; /* a scheme ends in one */
    size_t length = (size_t)(name - model), stem = strlen(name);
    int32_t status = REC_OK;
    while (status == REC_OK && !*config && stem) {
        do {
            stem--;
        } while (stem && name[stem] != '.');
        lr_release(job->allocator, *path);
        *path = stem ? join(job, model, length, name, stem, ".config.json")
                     : join(job, model, length, "", 0, "config.json");
        status = *path ? rec_source_beside_maybe(job, source, *path + length, config) : job->error.status;
    }
    return status;
}

/* The same for a model that a plugin opens: the plugin finds its companion files. */
static int32_t read_far_config(rec_job *job, lr_variables *numbers, const char *address)
{
    rec_source *source = lr_registry_open(job, address, false), *config = NULL;
    char *model = source ? lr_strdup(job->allocator, address) : NULL, *path = NULL;
    int32_t status = job->error.status;
    if (model) {
        model[strcspn(model, "?#")] = '\0';
        status = find_far_config(job, source, model, &path, &config);
    } else if (source) {
        status = lr_fail_memory(job, strlen(address) + 1);
    }
    if (config) {
        status = read_config(job, numbers, path, config);
    } else if (status == REC_OK && path) {
        lr_release(numbers->allocator, numbers->config_tried);
        numbers->config_tried = lr_strdup(numbers->allocator, path);
        status = numbers->config_tried ? REC_OK : lr_fail_memory(job, strlen(path) + 1);
    }
    lr_release(job->allocator, path);
    lr_release(job->allocator, model);
    rec_source_release(config);
    lr_source_release(source);
    return status;
}

int32_t lr_variables_read(rec_job *job, lr_variables *numbers, const char *model_path, const char *explicit_path)
{
    char *path = NULL;
    int32_t status = REC_OK;
    if (explicit_path) {
        return read_config(job, numbers, explicit_path, NULL);
    }
    if (!model_path) {
        return REC_OK;
    }
    if (lr_path_scheme(model_path)) {
        return read_far_config(job, numbers, model_path);
    }
    if (find_config(job, model_path, &path)) {
        status = read_config(job, numbers, path, NULL);
    } else if (path) {
        lr_release(numbers->allocator, numbers->config_tried);
        numbers->config_tried = lr_strdup(numbers->allocator, path);
        status = numbers->config_tried ? REC_OK : lr_fail_memory(job, strlen(path) + 1);
    } else {
        status = job->error.status;
    }
    lr_release(job->allocator, path);
    return status;
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
