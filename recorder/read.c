/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loading: a source through a plugin's reader into the builder. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "burn/visit/visit.h"
#include "core/io/io.h"
#include "recorder/recorder.h"

/* Whether a plugin recognises the beginning of its files; a byte or two may agree by chance. A codec's magic does not.
 */
static bool is_sure(const lr_plugin *plugin, const rec_head *head)
{
    return plugin->codec || lr_registry_bid(&plugin->d, head) >= LR_SURE_BITS;
}

/* Fails for a directory that is no model, or has no known format. */
static void fail_folder(rec_job *job, const lr_plugin *asked)
{
    char names[512];
    bool any = !lr_job_failed(job) && lr_registry_folder_names(job, names, sizeof names);
    if (lr_job_failed(job)) {
        return;
    }
    if (any && !asked) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "unknown format: no recorder reads a directory with these names");
    } else {
        (void)rec_fail(job, REC_E_IO, REC_UNKNOWN, "this is a directory, not a file");
    }
    rec_fail_hint(job, "Give the name of a file.");
    if (any) {
        rec_fail_hint(job, "Directories are read by: %s.", names);
    }
}

/* Explains a file of unknown format. */
static void hint_unknown(rec_job *job, const lr_recognised *found)
{
    if (found->codec) {
        rec_fail_hint(job, "It is %s, but the format of its decompressed data is unknown.", found->codec->d.name);
        if (found->inside) {
            rec_fail_hint(job, "About its contents: %s", found->inside);
        }
    } else {
        lr_foreign_hint(job, &found->head);
    }
}

/* Nobody knows the file. What a codec's bytes cannot be decoded to is the failure itself. */
static void fail_unknown(rec_job *job, const lr_recognised *found)
{
    const rec_head *head = &found->head;
    char bytes[40] = "";
    if (found->why.status != REC_OK) {
        (void)rec_fail(job, found->why.status, found->why.offset, "%s", found->why.what);
        if (found->why.hint[0]) {
            rec_fail_hint(job, "%s", found->why.hint);
        }
        return;
    }
    for (uint64_t i = 0; i < head->length && i < 8; i++) {
        (void)snprintf(bytes + strlen(bytes), sizeof bytes - strlen(bytes), "%s%02x", i ? " " : "", head->data[i]);
    }
    (void)rec_fail(job, REC_E_UNSUPPORTED, head->length ? 0 : REC_UNKNOWN,
                   head->length ? "unknown format: it begins with %s" : "the file is empty%s", bytes);
    hint_unknown(job, found);
}

const lr_plugin *lr_recorder_reader(rec_job *job, const lr_plugin *asked, rec_source *source, const char *path)
{
    lr_recognised found;
    const lr_plugin *plugin = asked;
    bool folder = lr_source_is_folder(source);
    if (!plugin && lr_registry_recognise_source(job, source, path, &found) == REC_OK) {
        plugin = found.plugin;
        if (plugin && !folder && !is_sure(plugin, &found.head) && lr_foreign_words(&found.head)) {
            plugin = NULL;
        }
        if (!plugin && !folder && lr_registry_fail_empty(job) == REC_OK) {
            fail_unknown(job, &found);
            lr_registry_refused_hint(job);
        }
    }
    if (folder && !(plugin && (plugin->d.traits & REC_TRAIT_FOLDER))) {
        fail_folder(job, asked);
        return NULL;
    }
    if (plugin) {
        const lr_plugin *reads = lr_registry_for(job, plugin, LR_CAN_LOAD);
        if (!reads && !lr_job_failed(job)) {
            (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s can only save", plugin->d.name);
        }
        plugin = reads;
    }
    return plugin;
}

/* Whether the plugin can read at all: without names a type is needed. */
static int32_t check_type(rec_job *job, const rec_plugin *plugin, lr_type_ref type)
{
    if ((plugin->traits & REC_TRAIT_NEEDS_TYPE) && !type.layout) {
        (void)rec_fail(job, REC_E_TYPE, REC_UNKNOWN, "a %s record carries no names: the type of the record is needed",
                       plugin->name);
        rec_fail_hint(job, "Give it with rec_recorder_set_type.");
    }
    return job->error.status;
}

/* Whether both read the same: the names may differ. */
static bool reads_alike(const lr_plugin *a, const lr_plugin *b)
{
    const lr_plugin *inner = a->format ? a->format : a, *other = b->format ? b->format : b;
    return inner->d.load == other->d.load &&
           (a->codec ? a->codec->d.decode : NULL) == (b->codec ? b->codec->d.decode : NULL);
}

/* A recorder failed on the format of its input: say what that looks like, where the reader has not said what to do. */
static void suggest(rec_job *job, const rec_recorder *r, rec_source *source, const char *path)
{
    lr_recognised found;
    rec_job quiet;
    const lr_plugin *other;
    const rec_head *head = &found.head;
    if (job->error.status != REC_E_FORMAT || strcmp(job->error.file, rec_source_name(source)) != 0) {
        return; /* a companion file: the beginning of the main file explains nothing */
    }
    /* Of its own, since this job has failed already. */
    lr_job_begin(&quiet, job->context, "recognise", NULL);
    if (lr_registry_recognise_source(&quiet, source, path, &found) != REC_OK || !head->length) {
        lr_job_drop(&quiet);
        return;
    }
    other = found.plugin;
    if (r->plugin && other && !reads_alike(other, r->plugin) && is_sure(other, head)) {
        rec_fail_hint(job, "It looks like a %s record: open it with that recorder, or with Auto.", other->d.name);
    } else if (other && is_sure(other, head)) {
        if (!job->error.hint[0]) {
            rec_fail_hint(job, "It was read as %s: the file is damaged, or %s.", other->d.name,
                          lr_plugin_is_burns(other) ? "another program than Burn wrote it"
                                                    : "its writer made a mistake");
        }
    } else if (!job->error.hint[0] || (job->error.offset == 0 && (found.codec || lr_foreign_words(head)))) {
        lr_job_clear_hint(job); /* the first byte is another format's: "truncated" would mislead */
        if (found.codec || lr_foreign_words(head)) {
            hint_unknown(job, &found);
        } else if (r->plugin && !lr_plugin_is_burns(r->plugin)) {
            rec_fail_hint(job, "It does not begin like a file of %s: is it the right one?", r->plugin->d.name);
        } else {
            rec_fail_hint(job, "It does not begin like a record: is it the right file?");
        }
    }
    lr_job_drop(&quiet);
}

static rec_record *build(rec_job *job, const rec_recorder *r, const rec_plugin *plugin, rec_source *source)
{
    bool tensors = (plugin->traits & REC_TRAIT_TENSORS) != 0;
    lr_burn burn;
    const lr_burn *known = NULL;
    rec_record *record = NULL;
    for (int pass = 0; pass < 2; pass++) {
        lr_builder *builder = lr_builder_new(job, lr_load_precision(r), tensors, known);
        bool again = false;
        if (!builder) {
            return NULL;
        }
        lr_source_step_begin(job, source);
        again = lr_plugin_load(job, source, &lr_builder_visitor, builder) == REC_OK && lr_builder_again(builder);
        lr_source_step_end(job);
        if (again) {
            job->missed = false; /* the second pass reads it all */
            burn = *lr_builder_burn(builder);
            known = &burn;
        } else {
            record = lr_builder_finish(builder);
        }
        lr_builder_free(builder);
        /* Where paths are only how a record of Burn writes its names, it becomes one at once. */
        if (record && record->flat && record->adapter == LR_FILE_BURN && lr_unflatten(job, record) != REC_OK) {
            rec_record_free(record);
            record = NULL;
        }
        if (record) {
            lr_states_mark(record);
        }
        /* The type describes the result of the plan, not the foreign file; and where flat names are ambiguous (lists,
         * options), the plan decides. */
        if (record && lr_job_typed(job) && record->root.form != REC_FORM_PATHS && !record->states && !record->dotted) {
            const rec_layout *layout;
            job->burn.minor = rec_job_burn(job); /* where the file says nothing of it, the last that it can be */
            layout = lr_layout_item(job);
            if (!layout || lr_apply_type(job, record, lr_load_precision(r), layout) != REC_OK) {
                rec_record_free(record);
                record = NULL;
            }
        }
        if (!again) {
            break;
        }
        job->budget.used = 0;
        job->quiet = false;
        lr_siblings_drop(job);
        if (rec_source_rewind(job, source) != REC_OK) {
            break;
        }
    }
    job->quiet = false;
    return record;
}

static bool is_assumed(rec_tensor *tensor)
{
    return tensor->assumed;
}

static int32_t note_module(void *user, const char *text)
{
    lr_note(user, REC_NOTE_SHAPE, 1, "", "%s", text);
    return REC_OK;
}

/* Said once for the whole record: types that neither the file nor the caller gave. */
static void note_assumed(rec_job *job, const rec_record *record)
{
    /* Only Burn's own layout leaves a type open. */
    uint64_t assumed = job->plugin->traits & REC_TRAIT_TENSORS ? 0 : lr_value_tensors(&record->root, is_assumed);
    if (assumed) {
        lr_note(job, REC_NOTE_ASSUMED, assumed, "",
                "the file does not record whether %" PRIu64 " of its tensors %s floats or integers: floats are assumed",
                assumed, assumed == 1 ? "holds" : "hold");
    }
}

/* A record as the caller wants it. A reader may pass over bytes that only core knows to be no tensor's: then the file
 * is read again, by a reader that passes over nothing. */
static rec_record *build_complete(rec_job *job, const rec_recorder *r, rec_source *source)
{
    rec_record *record = build(job, r, job->plugin, source);
    if (!record || !job->missed) {
        return record;
    }
    rec_record_free(record);
    lr_layouts_free(job);
    lr_siblings_drop(job);
    lr_job_again(job);
    job->partly = false;
    job->whole = true;
    return rec_source_rewind(job, source) == REC_OK ? build(job, r, job->plugin, source) : NULL;
}

/* Stores where the record came from. */
static int32_t note_origin(rec_job *job, const rec_recorder *r, const rec_plugin *plugin, rec_source *source,
                           const char *path, rec_record *record)
{
    const char *file = lr_arena_text(&record->arena, path, strlen(path));
    const char *name = lr_arena_text(&record->arena, plugin->name, strlen(plugin->name));
    uint64_t stored = rec_source_size(source);
    bool mapped, beside;
    if (!file || !name) {
        return lr_fail_memory(job, strlen(path));
    }
    record->clamp = r->clamp;
    record->precision = lr_load_precision(r);
    record->format_minor = lr_burn_default(plugin);
    mapped = lr_siblings_mapped(job, &beside);
    record->origin.mapped = beside ? mapped : lr_source_mapped(source) && job->input == rec_source_size(source);
    record->origin.layout = record->burn_minor < 0 ? 0 : record->burn_minor < LR_BURN_V2 ? 1 : 2;
    record->origin.recorder = name;
    record->origin.file = file;
    record->origin.stored = stored == REC_UNKNOWN ? stored : stored + job->beside;
    /* A folder has no bytes: those that were looked at are of files in it. */
    record->origin.inflated = (lr_source_is_folder(source) ? 0 : job->input) + job->beside;
    if (job->skip && r->map && *path && plugin->kind != REC_PLUGIN_STACK && !lr_source_is_far(source)) {
        /* No bytes were requested: whether they would be mapped. */
        record->origin.mapped = beside || lr_source_is_folder(source) || job->input == stored;
    }
    if (job->skip && (job->partly || !lr_source_ended(source))) {
        record->origin.inflated = REC_UNKNOWN;
    }
    return REC_OK;
}

/* --------------------------------------------------------------------------------------- which version it fits -- */

/* The versions, a bit each by the minor, whose layout of the type fits the file to its last byte. */
static uint32_t versions_that_fit(const rec_job *job, const rec_recorder *r, rec_source *source)
{
    uint32_t fit = 0;
    for (int32_t minor = LR_BURN_FIRST; minor <= LR_BURN_NOW; minor++) {
        rec_job trial; /* of its own, since this one has failed or made notes */
        rec_record *record = NULL;
        lr_job_begin(&trial, job->context, job->operation, job->file);
        trial.progress = job->progress;
        trial.plugin = job->plugin;
        trial.options = r->options;
        trial.type = r->type;
        trial.burn.forced = minor;
        trial.skip = job->skip;
        if (rec_source_rewind(&trial, source) == REC_OK) {
            record = build(&trial, r, trial.plugin, source);
        }
        if (record && !lr_job_failed(&trial) && trial.notes == 0) {
            fit |= UINT32_C(1) << minor;
        }
        rec_record_free(record);
        lr_layouts_free(&trial);
        lr_source_absent_end(&trial);
        lr_job_drop(&trial);
    }
    return fit;
}

/* "0.14, 0.17 to 0.20" */
static void version_words(uint32_t fit, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int first = 0; first < 32 && used < room; first++) {
        int last = first;
        if (!(fit >> first & 1)) {
            continue;
        }
        while (last < 31 && (fit >> (last + 1) & 1)) {
            last++;
        }
        used += (size_t)snprintf(text + used, room - used, first < last ? "%s0.%d to 0.%d" : "%s0.%d", used ? ", " : "",
                                 first, last);
        first = last;
    }
}

/* Whether a failure may come from the type or the version. */
static bool is_misfit(const rec_job *job)
{
    switch (job->error.status) {
    case REC_E_FORMAT:
    case REC_E_MISMATCH:
    case REC_E_RANGE:
    case REC_E_LIMIT:
    case REC_E_UNSUPPORTED:
        return true;
    default:
        return false;
    }
}

/* The line of the type's source that the failure is about. */
static void tell_place(rec_job *job)
{
    const char *file = NULL, *name;
    uint32_t line = 0;
    if (job->layouts && job->layouts->item && job->error.path[0]) {
        name = lr_layout_place(job->layouts->item, job->error.path, &file, &line);
        if (name) {
            rec_fail_hint(job, "`%.64s` is in %.300s:%u.", name, file, (unsigned)line);
        }
    }
}

/* A record without names did not fit its type: whether it does at another version of Burn, and which. */
static void suggest_version(rec_job *job, const rec_recorder *r, rec_source *source)
{
    int32_t minor = job->burn.minor;
    uint32_t fit = versions_that_fit(job, r, source);
    char words[128];
    if (!fit && job->error.status == REC_E_FORMAT && (job->error.truncated || job->error.hint[0])) {
        tell_place(job);
        return; /* the same in all versions, or the reader decides */
    }
    version_words(fit, words, sizeof words);
    lr_job_clear_hint(job); /* "damaged" is the least likely */
    if (fit) {
        rec_fail_hint(job,
                      "The file says Burn 0.%d; does the version differ?\n"
                      "By the layout of Burn %s the type fits it.",
                      (int)minor, words);
    } else {
        rec_fail_hint(job,
                      "The file says Burn 0.%d; does the version differ?\nNo other version's layout of the type fits "
                      "it either: is something there an Option, or of another type?",
                      (int)minor);
    }
    tell_place(job);
}

/* A file without names that does not say which Burn wrote it: read by the last version that fits. */
static rec_record *load_untold(rec_job *job, const rec_recorder *r, rec_source *source, rec_record *record)
{
    uint32_t fit = versions_that_fit(job, r, source);
    char words[128];
    int32_t minor = LR_BURN_NOW;
    while (fit && !(fit >> minor & 1)) {
        minor--;
    }
    if (fit && (!record || job->notes)) {
        rec_record_free(record);
        record = NULL;
        lr_layouts_free(job);
        lr_job_again(job);
        job->burn.forced = minor;
        if (rec_source_rewind(job, source) == REC_OK) {
            record = build(job, r, job->plugin, source);
        }
    }
    if (record) {
        version_words(fit, words, sizeof words);
        lr_note(job, REC_NOTE_LAYOUT, 1, "",
                "the file does not record the version of Burn that wrote it: read as 0.%d%s%s", (int)minor,
                fit ? "; to the last byte it fits " : "", words);
    }
    return record;
}

rec_record *lr_load_source(rec_job *job, rec_recorder *r, rec_source *source, const char *path)
{
    const lr_plugin *plugin;
    rec_record *record = NULL;
    job->skip = r->skip;
    plugin = lr_recorder_reader(job, r->plugin, source, path);
    if (plugin && check_type(job, &plugin->d, r->type) == REC_OK) {
        job->plugin = &plugin->d;
        job->options = r->options;
        /* With load arguments the type is the destination's; only a format without names needs it to be read. Backwards
         * it is the record's own. */
        job->type = (lr_type_ref){0};
        if (!lr_arguments_any(&r->arguments) || r->arguments.reverse ||
            (plugin->d.traits & (REC_TRAIT_NEEDS_TYPE | REC_TRAIT_NO_NAMES))) {
            job->type = r->type;
        }
        job->burn.known = false;
        if (lr_recorder_check(job, r, job->plugin) == REC_OK) {
            record = build_complete(job, r, source);
            if (r->type.layout && job->burn.known && job->layouts && job->layouts->whole) {
                /* The reader went by the type. */
                bool misfit = is_misfit(job);
                if (!job->burn.told && (record || misfit)) {
                    record = load_untold(job, r, source, record);
                } else if (misfit) {
                    suggest_version(job, r, source);
                }
            }
        }
        if (record && ((!job->passing && !job->skip &&
                        (lr_source_settle(job, source) != REC_OK || lr_siblings_settle(job) != REC_OK)) ||
                       note_origin(job, r, job->plugin, source, path, record) != REC_OK)) {
            rec_record_free(record);
            record = NULL;
        }
        if (record && lr_decode_loaded(job, r, source, record) != REC_OK) {
            rec_record_free(record);
            record = NULL;
        }
        if (record) {
            record->typed = lr_job_typed(job) && (job->plugin->traits & (REC_TRAIT_NEEDS_TYPE | REC_TRAIT_NO_NAMES));
            note_assumed(job, record);
            if (r->modules && record->root.form != REC_FORM_PATHS &&
                lr_modules_look(job, &record->root, true, note_module, job) != REC_OK) {
                rec_record_free(record);
                record = NULL;
            }
        } else {
            suggest(job, r, source, path);
        }
    }
    if (lr_watch_judge(job, true) != REC_OK) {
        rec_record_free(record);
        record = NULL;
    }
    lr_layouts_free(job);
    lr_siblings_drop(job);
    lr_source_absent_end(job);
    job->plugin = NULL;
    job->skip = job->whole = job->missed = false;
    return record;
}

static bool exists(rec_job *job, const char *path)
{
    struct stat about;
    return lr_parallel_has(job, path) || stat(path, &about) == 0;
}

rec_record *lr_load_file(rec_job *job, rec_recorder *r, const char *path)
{
    char *name = NULL;
    rec_record *record = NULL;
    rec_source *source = NULL;
    bool far = lr_path_scheme(path) != 0;
    job->skip = r->skip || (job->parallel && job->parallel->headers);
    if (far) {
        name = lr_display_name(job, path); /* the record and all messages have the address without its secrets */
    } else if (lr_recorder_path(job, r->plugin, path, &name) == REC_OK &&
               (path[strlen(path) - 1] == '/' ||
                (strcmp(name, path) != 0 && !exists(job, name) && exists(job, path)))) {
        /* What ends in a slash is a folder, and needs no extension. */
        (void)snprintf(name, strlen(name) + 1, "%s", path);
    }
    job->file = name;
    if (name) {
        source = far ? lr_registry_open(job, path, r->map) : lr_source_open(job, name, r->map);
    }
    if (source) {
        record = lr_load_source(job, r, source, job->file);
        lr_source_release(source);
    }
    if (job->error.status == REC_E_NOT_FOUND && !far && name && strcmp(name, path) != 0 && !exists(job, name)) {
        rec_fail_hint(job, "There is no %s either.", path);
    }
    job->file = NULL;
    lr_release(job->allocator, name);
    return record;
}
