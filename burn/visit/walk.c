/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The walk: what is written around the item, and at which version and precision. */
#include "burn/visit/walk_private.h"

#include <inttypes.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* "burn_core::…::Recorder<burn_core::…::Settings>", as Burn names itself. */
static void format_name(const lr_walk *w, const char *settings, char *text, size_t room)
{
    const rec_plugin *plugin = w->job->plugin;
    if (plugin && plugin->burn_name) {
        (void)snprintf(text, room, "%s<burn_core::record::settings::%s>", plugin->burn_name, settings);
    } else {
        /* The format inside a codec. */
        bool stack = plugin && plugin->kind == REC_PLUGIN_STACK && plugin->format;
        (void)snprintf(text, room, "%s", stack ? plugin->format : plugin ? plugin->name : "");
    }
}

/* The precision a record of unknown origin has: that of its largest float type. */
static rec_precision guess_precision(const rec_value *value, rec_precision sofar)
{
    if (value->kind == REC_KIND_TENSOR) {
        rec_dtype dtype = value->v.tensor->dtype;
        rec_precision mine = dtype == REC_DTYPE_F64   ? REC_PRECISION_DOUBLE
                             : dtype == REC_DTYPE_F32 ? REC_PRECISION_FULL
                             : dtype == REC_DTYPE_F16 ? REC_PRECISION_HALF
                                                      : REC_PRECISION_DEFAULT;
        return mine != REC_PRECISION_DEFAULT && (sofar == REC_PRECISION_DEFAULT || mine < sofar) ? mine : sofar;
    }
    if (value->kind == REC_KIND_LIST || value->kind == REC_KIND_MAP || value->kind == REC_KIND_VARIANT) {
        uint64_t count = rec_value_count(value);
        for (uint64_t i = 0; i < count && sofar != REC_PRECISION_DOUBLE; i++) {
            sofar = guess_precision(rec_value_item(value, i), sofar);
        }
    }
    return sofar;
}

/* What the metadata of a record of Burn say. */
static rec_precision said_precision(const rec_record *record)
{
    return lr_record_is_foreign(record) ? REC_PRECISION_DEFAULT : lr_burn_of(&record->metadata).precision;
}

/* The precision that a record has when it is kept: that which it was loaded at, else what its metadata say. */
static rec_precision own_precision(const rec_record *record)
{
    rec_precision said = said_precision(record);
    if (record->precision != REC_PRECISION_KEEP && record->precision != REC_PRECISION_DEFAULT) {
        return record->precision;
    }
    return said != REC_PRECISION_DEFAULT ? said : guess_precision(&record->root, REC_PRECISION_DEFAULT);
}

enum { OURS = 5 };

struct metadata {
    const char *keys[OURS];
    const char *values[OURS];
    char format[512];
    char version[32];
};

/* Burn's five entries as this save gives them. Those of the record that say something else than its precision and
 * recorder (unknown keys) follow. */
static void make_metadata(const lr_walk *w, struct metadata *m)
{
    static const char *const keys[OURS] = {"float", "int", "format", "version", "settings"};
    const rec_record *record = w->record;
    rec_precision precision = w->precision;
    const char *version = rec_metadata(record, "version");
    const char *settings;
    const lr_burn_precision *names;
    rec_precision said = said_precision(record);
    bool chosen = record->precision != REC_PRECISION_KEEP && record->precision != REC_PRECISION_DEFAULT;
    /* An unknown precision is kept if nothing was converted and no tensor's type depends on it. */
    bool right =
        said != REC_PRECISION_DEFAULT ? said == own_precision(record) : !chosen && w->job->burn.minor >= LR_BURN_V2;
    bool own = precision == REC_PRECISION_KEEP && right && !lr_record_is_foreign(record) &&
               rec_metadata(record, "float") && rec_metadata(record, "int") && rec_metadata(record, "settings");
    if (own && !w->keep && said != REC_PRECISION_DEFAULT) {
        own = false; /* the same precision in the words of the version that is written */
    }
    if (precision == REC_PRECISION_KEEP && !own) {
        precision = own_precision(record);
    }
    names = lr_burn_precision_of(precision);
    settings = own ? rec_metadata(record, "settings") : names->settings;
    memcpy(m->keys, keys, sizeof keys);
    m->values[0] = own ? rec_metadata(record, "float") : names->float_name;
    m->values[1] = own ? rec_metadata(record, "int") : names->int_name;
    format_name(w, settings, m->format, sizeof m->format);
    m->values[2] = m->format;
    (void)snprintf(m->version, sizeof m->version, "0.%d.0", (int)w->job->burn.minor);
    m->values[3] = m->version;
    if (version && (w->keep || (record->burn_minor == w->job->burn.minor &&
                                strncmp(version, m->version, strlen(m->version) - 1) == 0))) {
        m->values[3] = version; /* of the same layout, so its last number stays */
    }
    m->values[4] = settings;
}

/* A value for a writer that knows of texts only: the entry with the types makes it the same again. */
static int32_t walk_as_text(lr_walk *w, const rec_scalar *name, const rec_value *value)
{
    rec_scalar text = {.kind = REC_KIND_STRING, .v.length = lr_value_json(value, NULL, 0)};
    char *json = rec_job_alloc(w->job, text.v.length + 1);
    int32_t status = w->job->error.status;
    if (json) {
        (void)lr_value_json(value, json, text.v.length + 1);
        text.text = json;
        status = w->visitor.metadata(w->self, REC_UNKNOWN, name, &text);
        rec_job_free(w->job, json);
    }
    return status;
}

/* An entry for a format of tensors. */
static int32_t walk_tensor_entry(lr_walk *w, const rec_scalar *name, const rec_value *value)
{
    rec_scalar scalar = lr_to_scalar(value);
    char words[64];
    int32_t status;
    if (value->kind == REC_KIND_STRING) {
        return w->visitor.metadata(w->self, REC_UNKNOWN, name, &scalar);
    }
    if (w->visitor.metadata_value) {
        status = w->visitor.metadata_value(w->self, REC_UNKNOWN, name);
        return status == REC_OK ? lr_walk_value(w, value) : status;
    }
    if (lr_value_is_json(value)) {
        return walk_as_text(w, name, value);
    }
    lr_walk_tell(w, REC_NOTE_DROPPED, 1, lr_walk_value_words(value, words, sizeof words),
                 "metadata that this format cannot store: left out");
    return REC_OK;
}

static int32_t walk_entry(lr_walk *w, const char *key, const rec_value *value)
{
    rec_scalar name = {.kind = REC_KIND_STRING, .v = {.length = strlen(key)}, .text = key};
    const rec_value own = {.kind = REC_KIND_STRING, .length = (uint32_t)name.v.length, .v = {.text = key}};
    const rec_value title = {.kind = REC_KIND_STRING, .length = 8, .v = {.text = "metadata"}};
    size_t used = lr_walk_enter_key(w, &title);
    int32_t status;
    (void)lr_walk_enter_key(w, &own);
    w->aside = true;
    if (w->tensors) {
        status = walk_tensor_entry(w, &name, value);
    } else {
        status = w->visitor.key(w->self, REC_UNKNOWN, &name);
        status = status == REC_OK ? lr_walk_value(w, value) : status;
    }
    w->aside = false;
    lr_walk_leave(w, used);
    return status;
}

static bool is_import(const char *key)
{
    return strcmp(key, LR_METADATA_IMPORT) == 0;
}

/* Whether an entry of the record's own metadata is written: what an import left in formats of Burn alone, Burn's words
 * if the file has no such entry. */
static bool is_extra(const lr_walk *w, const char *key)
{
    const rec_plugin *plugin = w->job->plugin;
    bool burns = plugin && (plugin->burn_name || plugin->burn_first);
    if (is_import(key) || (w->types && strcmp(key, LR_METADATA_TYPES) == 0)) {
        return is_import(key) && burns;
    }
    if (strcmp(key, LR_METADATA_STORE) == 0) {
        return !w->flat;
    }
    return !lr_metadata_is_burns(key) || (w->tensors && (w->paths || (w->flat && w->record->dotted)));
}

static const char *text_of(const lr_walk *w, const char *key)
{
    const lr_entry *entry = lr_map_find_text(&w->record->metadata, key, strlen(key));
    return entry && entry->value.kind == REC_KIND_STRING ? entry->value.v.text : NULL;
}

/* What an import left names the options of the way back, for a file that cannot keep it. */
static void note_options(lr_walk *w)
{
    const char *text = text_of(w, LR_METADATA_IMPORT), *options = text ? strstr(text, "\noptions ") : NULL;
    size_t length = options ? strcspn(options + strlen("\noptions "), "\n") : 0;
    if (length && !w->again) {
        lr_note(w->job, REC_NOTE_DROPPED, 1, "",
                "data without names do not store how the model was imported: the reverse conversion needs %.*s%s",
                (int)(length > 700 ? 700 : length), options + strlen("\noptions "), length > 700 ? "…" : "");
    }
}

/* Without names entries are identified by position: a sixth would be read as the record. */
static void note_left_out(lr_walk *w)
{
    const lr_map *own = &w->record->metadata;
    const char *first = NULL;
    uint64_t count = 0;
    lr_excerpt brief;
    for (uint64_t i = 0; i < own->count; i++) {
        const char *key = own->entries[i].key.v.text;
        bool left = !lr_metadata_is_burns(key) && !is_import(key);
        first = left && !first ? key : first;
        count += left;
    }
    note_options(w);
    if (first && !w->again) {
        lr_note(w->job, REC_NOTE_DROPPED, count, "",
                "%" PRIu64 " %s of metadata%s `%s`: left out, because data without names hold only Burn's own", count,
                count == 1 ? "entry" : "entries", count == 1 ? "," : ", the first", lr_excerpt_text(&brief, first));
    }
}

/* ------------------------------------------------------------------------------------------------ Burn's store -- */

/* Whether the record's `format` and `version` are those of Burn's store, and the file has others. */
static bool keeps_store(const lr_walk *w, uint64_t ours)
{
    const char *producer = text_of(w, "producer");
    return ours && w->record->dotted && producer && strcmp(producer, "burn") == 0 && text_of(w, "format") &&
           text_of(w, "version") && !lr_walk_nameless(w);
}

static int32_t walk_word(lr_walk *w, const char *key, const char *word, size_t length)
{
    rec_value text = {.kind = REC_KIND_STRING, .length = (uint32_t)length, .v = {.text = word}};
    return walk_entry(w, key, &text);
}

/* Keeps them in one entry, "burnpack 0.22.1". */
static int32_t walk_store(lr_walk *w)
{
    char text[128];
    int length = snprintf(text, sizeof text, "%.60s %.60s", text_of(w, "format"), text_of(w, "version"));
    return walk_word(w, LR_METADATA_STORE, text, (size_t)length);
}

/* Makes entries of that one again. The text of each ends in a NUL. */
static int32_t walk_store_again(lr_walk *w)
{
    const char *text = text_of(w, LR_METADATA_STORE), *blank = text ? strchr(text, ' ') : NULL;
    char format[64];
    int32_t status = REC_OK;
    if (blank && blank - text < (ptrdiff_t)sizeof format && !(w->record->dotted && text_of(w, "format"))) {
        (void)snprintf(format, sizeof format, "%.*s", (int)(blank - text), text);
        status = walk_word(w, "format", format, strlen(format));
        status = status == REC_OK ? walk_word(w, "version", blank + 1, strlen(blank + 1)) : status;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- types of values -- */

/* Whether an entry needs its type to be restored from the file. */
static bool needs_type(const lr_walk *w, const lr_entry *entry)
{
    bool texts = w->tensors && !w->visitor.metadata_value;
    return !w->visitor.list_of && is_extra(w, entry->key.v.text) && lr_value_needs_type(&entry->value, texts) &&
           (!texts || lr_value_is_json(&entry->value));
}

static bool any_type(const lr_walk *w)
{
    const lr_map *own = &w->record->metadata;
    for (uint64_t i = 0; i < own->count; i++) {
        if (needs_type(w, &own->entries[i])) {
            return true;
        }
    }
    return false;
}

static void put_types(const lr_walk *w, lr_json_line *line)
{
    const lr_map *own = &w->record->metadata;
    const char *before = "{";
    for (uint64_t i = 0; i < own->count; i++) {
        const lr_entry *entry = &own->entries[i];
        if (needs_type(w, entry)) {
            lr_line_word(line, before);
            lr_line_string(line, entry->key.v.text, entry->key.length);
            lr_line_word(line, ":");
            lr_value_put_type(line, &entry->value);
            before = ",";
        }
    }
    lr_line_word(line, "}");
}

/* The entry that says of which types the others are. */
static int32_t walk_types(lr_walk *w)
{
    lr_json_line line = {0};
    char *json;
    int32_t status;
    put_types(w, &line);
    if (line.used >= UINT32_MAX) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "the types of the metadata take 4 GiB or more");
    }
    json = rec_job_alloc(w->job, line.used + 1);
    if (!json) {
        return w->job->error.status;
    }
    line = (lr_json_line){.text = json, .room = line.used + 1};
    put_types(w, &line);
    json[line.used] = '\0';
    status = walk_word(w, LR_METADATA_TYPES, json, (size_t)line.used);
    rec_job_free(w->job, json);
    return status;
}

static int32_t walk_metadata(lr_walk *w)
{
    const lr_map *own = &w->record->metadata;
    struct metadata m;
    uint64_t extra = 0, ours = OURS;
    int32_t status = REC_OK;
    bool nameless, store;
    make_metadata(w, &m);
    if (w->tensors && (w->paths || w->flat)) {
        ours = 0; /* a foreign model in a foreign file: its own words about itself, and none of Burn's recorders' */
    }
    nameless = lr_walk_nameless(w);
    w->types = false;
    w->types = !nameless && any_type(w);
    for (uint64_t i = 0; i < own->count; i++) {
        extra += is_extra(w, own->entries[i].key.v.text);
    }
    if (nameless) {
        note_left_out(w);
        extra = 0;
    }
    store = keeps_store(w, ours);
    if (!w->tensors) {
        status = lr_walk_map(w, REC_FORM_STRUCT, OURS + extra + w->types + store);
    }
    for (size_t i = 0; i < ours && status == REC_OK; i++) {
        status = walk_word(w, m.keys[i], m.values[i], strlen(m.values[i]));
    }
    for (uint64_t i = 0; i < own->count && !nameless && status == REC_OK; i++) {
        if (is_extra(w, own->entries[i].key.v.text)) {
            status = walk_entry(w, own->entries[i].key.v.text, &own->entries[i].value);
        }
    }
    status = status == REC_OK && store ? walk_store(w) : status;
    status = status == REC_OK && w->tensors && w->flat ? walk_store_again(w) : status;
    status = status == REC_OK && w->types ? walk_types(w) : status;
    return status == REC_OK && !w->tensors ? lr_walk_end(w) : status;
}

/* ---------------------------------------------------------------------------------------------- the whole walk -- */

/* Counts the tensors below a value. @return false if there is anything else. */
static bool all_tensors(const rec_value *value, uint64_t *tensors)
{
    uint64_t count = rec_value_count(value);
    bool list = value->kind == REC_KIND_LIST;
    if (value->kind == REC_KIND_TENSOR) {
        ++*tensors;
        return true;
    }
    if ((!list && value->kind != REC_KIND_MAP) || count == 0) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        const lr_entry *entry = list ? NULL : &value->v.map->entries[i];
        if ((entry && entry->key.kind != REC_KIND_STRING) ||
            !all_tensors(list ? &value->v.list->items[i] : &entry->value, tensors)) {
            return false;
        }
    }
    return true;
}

/* Whether a record is a foreign model in its own layout, from a reader of paths or split at dots. */
static bool is_paths(const rec_record *record, uint64_t *tensors)
{
    *tensors = 0;
    return record->root.kind == REC_KIND_MAP && record->root.form == REC_FORM_PATHS &&
           (record->root.v.map->count == 0 || all_tensors(&record->root, tensors));
}

/* What a function of the plugin returned, where its report counts for more. */
int32_t lr_plugin_returned(rec_job *job, int32_t status)
{
    if (status != REC_OK && !lr_job_failed(job)) {
        (void)lr_breach(job, REC_UNKNOWN, "stopped without a reason (%d)", (int)status);
    }
    return job->error.status;
}

/* Whether a tensor has the id of its file. */
static bool has_id(rec_tensor *tensor)
{
    return tensor->id && !tensor->id_made;
}

/* Whether names that came as paths, without ids, go to a format that keeps levels: it gets them as they came. */
static bool keeps_names(const rec_plugin *plugin, const rec_record *record)
{
    uint32_t levels = REC_TRAIT_TENSORS | REC_TRAIT_VALUES;
    return plugin && (plugin->traits & (levels | REC_TRAIT_BARE)) == levels && record->dotted && !record->states &&
           record->root.kind == REC_KIND_MAP && !lr_value_tensors(&record->root, has_id);
}

/* Prepares to say what lists and maps lose, where the format keeps no more than tensors. States have none. */
static int32_t watch_lists(lr_walk *w)
{
    const rec_plugin *plugin = w->job->plugin;
    uint64_t size = ((uint64_t)w->job->limits.depth + 1) * sizeof *w->held;
    if (!plugin || (plugin->traits & (REC_TRAIT_TENSORS | REC_TRAIT_VALUES)) != REC_TRAIT_TENSORS || w->paths ||
        w->optimizer || w->record->states) {
        return REC_OK;
    }
    w->held = lr_zalloc(w->job->allocator, size);
    return w->held ? REC_OK : lr_fail_memory(w->job, size);
}

int32_t lr_walk_begin(rec_job *job, const rec_record *record, rec_precision precision, bool clamp, int32_t target)
{
    lr_walk *w = lr_zalloc(job->allocator, sizeof *w);
    if (!w) {
        return lr_fail_memory(job, sizeof *w);
    }
    *w = (lr_walk){.job = job, .record = record, .precision = precision, .clamp = clamp, .typed = lr_walk_typed};
    lr_record_settle(record);
    w->path = w->near;
    w->path_room = sizeof w->near;
    w->flat = job->plugin && ((job->plugin->traits & REC_TRAIT_PATHS) || keeps_names(job->plugin, record));
    w->keep =
        target == LR_TARGET_KEEP && record->burn_minor >= LR_BURN_FIRST && lr_burn_can(job->plugin, record->burn_minor);
    job->walk = w;
    w->ids = target > 0;
    w->optimizer = lr_optimizer_is(&record->root);
    w->paths = is_paths(record, &w->tensor_count) && !lr_job_typed(job);
    job->adapter = !lr_record_is_foreign(record) || lr_job_typed(job) ? LR_FILE_BURN
                   : record->adapter == LR_FILE_BURN                  ? LR_FILE_PYTORCH
                                                                      : record->adapter;
    job->adapter_name = record->adapter_name;
    job->burn.minor = w->keep ? record->burn_minor : target > 0 ? target : lr_burn_default(job->plugin);
    job->burn.precision = precision;
    if (precision == REC_PRECISION_KEEP) {
        job->burn.precision = own_precision(record);
    }
    if (job->burn.precision == REC_PRECISION_DEFAULT) {
        job->burn.precision = REC_PRECISION_FULL;
    }
    job->burn.known = true;
    return watch_lists(w);
}

void lr_walk_free(rec_job *job)
{
    if (job->walk) {
        lr_release(job->allocator, job->walk->held);
    }
    if (job->walk && job->walk->path != job->walk->near) {
        lr_release(job->allocator, job->walk->path);
    }
    lr_release(job->allocator, job->walk);
    job->walk = NULL;
}

/* Whether a flat file held nothing at all: a scheduler without a state, a module of constants. */
static bool is_nothing(const lr_walk *w)
{
    const rec_value *root = &w->record->root;
    return !w->flat && w->record->dotted && root->kind == REC_KIND_MAP && root->v.map->count == 0;
}

static int32_t walk_item(lr_walk *w)
{
    const rec_layout *layout = NULL;
    rec_value state;
    if (w->record->states && !lr_optimizer_is(&w->record->root)) {
        /* As it is; or, for a Burn with recorders, what it was called there. */
        if (w->flat) {
            return lr_walk_value(w, &w->record->root);
        }
        return lr_scheduler_lower(w->job, &w->record->root, &state) == REC_OK ? lr_walk_value(w, &state)
                                                                              : w->job->error.status;
    }
    if (lr_job_typed(w->job)) {
        layout = lr_layout_item(w->job);
        if (!layout) {
            return w->job->error.status;
        }
    }
    if (is_nothing(w) && (!layout || (layout->kind != REC_LAYOUT_STRUCT && layout->kind != REC_LAYOUT_MAP))) {
        state = lr_nil(REC_FORM_UNKNOWN);
        return layout ? lr_walk_typed(w, &state, layout) : lr_walk_value(w, &state);
    }
    return layout ? lr_walk_typed(w, &w->record->root, layout) : lr_walk_value(w, &w->record->root);
}

int32_t lr_walk_all(rec_job *job, const rec_visitor *visitor, void *self)
{
    lr_walk *w = job->walk;
    bool unit = job->burn.minor >= LR_BURN_UNIT_B;
    int32_t status;
    memset(&w->visitor, 0, sizeof w->visitor);
    memcpy(&w->visitor, visitor, visitor->size < sizeof *visitor ? visitor->size : sizeof *visitor);
    w->self = self;
    if (w->overhear) {
        w->overhear(w->listener, &w->visitor, &w->self);
    }
    w->tensors = job->plugin && (job->plugin->traits & REC_TRAIT_TENSORS);
    w->aside = false;
    w->depth = 0;
    w->told_count = 0;
    w->used = 0;
    w->named = false;
    w->path[0] = '\0';
    if (!w->visitor.scalar || !w->visitor.list_begin || !w->visitor.map_begin || !w->visitor.key || !w->visitor.end ||
        (w->tensors && (!w->visitor.tensor || !w->visitor.metadata))) {
        return lr_breach(job, REC_UNKNOWN, "lacks an event that every writer needs");
    }
    w->walking = true;
    job->where = lr_walk_where;
    job->where_user = w;
    if (w->tensors) {
        lr_paths *paths = NULL;
        status = walk_metadata(w);
        if (status == REC_OK && w->flat && !w->paths) {
            status = lr_walk_paths_begin(w, &paths);
        }
        status = status == REC_OK ? walk_item(w) : status;
        status = lr_walk_paths_end(w, paths, status);
    } else {
        status = lr_walk_map(w, REC_FORM_STRUCT, unit ? 3 : 2);
        status = status == REC_OK ? lr_walk_key(w, "metadata") : status;
        status = status == REC_OK ? walk_metadata(w) : status;
        status = status == REC_OK ? lr_walk_key(w, "item") : status;
        status = status == REC_OK ? walk_item(w) : status;
        if (unit) {
            status = status == REC_OK ? lr_walk_key(w, "_b") : status;
            status = status == REC_OK
                         ? lr_walk_scalar(w, &(rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_UNIT_STRUCT})
                         : status;
        }
        status = status == REC_OK ? lr_walk_end(w) : status;
    }
    job->where = NULL;
    job->where_user = NULL;
    w->walking = false;
    status = status == REC_OK ? job->error.status : status; /* a path that there was no memory for */
    if (status == REC_OK) {
        lr_walk_tell_all(w);
    }
    return lr_plugin_returned(job, status);
}

/* The visitor of the first version had all events: none was ever smaller. */
#define VISITOR_LEAST (offsetof(rec_visitor, tensor) + sizeof(void (*)(void)))

int32_t rec_job_walk(rec_job *job, const rec_visitor *visitor, void *self)
{
    const lr_call *call = lr_call_now();
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, visitor) ||
        !lr_size_check(job, "a visitor", visitor->size, VISITOR_LEAST)) {
        return lr_breach_status(job);
    }
    if (!job->walk || (call && call->kind == LR_CALL_LOAD)) {
        return lr_breach(job, REC_UNKNOWN, "called rec_job_walk() outside of a save");
    }
    if (job->walk->walking) {
        return lr_breach(job, REC_UNKNOWN, "called rec_job_walk() within a walk");
    }
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    job->walk->again = job->walk->walks++ > 0;
    status = lr_walk_all(job, visitor, self);
    job->walk->again = false;
    return status;
}
