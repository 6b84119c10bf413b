/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writing: a record through the walk and a plugin's writer into a sink. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/io/io.h"
#include "recorder/recorder.h"
#include "burn/visit/visit.h"

/* Burn's own store is as old as this: what is written in the layout of such a version is for it, where a format can be.
 */
enum { STORE_SINCE = 19 };

/* Sets the plugin's option `burn-store` before the others, unless it is set: the file is for Burn's own store. The
 * caller releases the set. NULL: nothing to set, or the job has failed. */
static lr_option_set *for_store(rec_job *job, const rec_recorder *r, const lr_plugin *plugin)
{
    static const char name[] = "burn-store";
    lr_option_set *set;
    if (r->target < STORE_SINCE || !lr_option_find(&plugin->d, name)) {
        return NULL;
    }
    for (const lr_option_set *other = r->options; other; other = other->next) {
        if (strcmp(other->name, name) == 0) {
            return NULL;
        }
    }
    set = lr_job_alloc(job, sizeof *set + sizeof name);
    if (!set) {
        return NULL;
    }
    set->next = r->options;
    set->value = "yes";
    memcpy(set->name, name, sizeof name);
    return set;
}

/* Whether the save writes only a range of the file. */
static bool is_window(const rec_job *job)
{
    return job->parallel && job->parallel->window;
}

/* Whether what is saved is read back before it gets its name. By itself where that costs next to nothing: bytes that
 * are compared as they lie, while the system writes them to the disk, which has to be waited for anyway. Of what is
 * compressed or a text, reading takes a part of the time that is felt, and so it does of V1's numbers. */
static bool is_checked(const rec_job *job, const rec_recorder *r, const rec_plugin *plugin, const rec_sink *sink)
{
    bool file = *rec_sink_name(sink) != '\0';
    if (!plugin->load || r->check == LR_CHECK_NO || is_window(job)) {
        return false;
    }
    return r->check == LR_CHECK_YES ||
           (file && r->sync && (plugin->traits & REC_TRAIT_EXACT_SIZE) && job->burn.minor >= LR_BURN_V2);
}

/* Parts of a file can be written by several where no byte of it follows from a tensor's but that one. */
static void check_parts(rec_job *job, const rec_plugin *plugin)
{
    if (is_window(job) && (!(plugin->traits & REC_TRAIT_PLAIN) || job->burn.minor < LR_BURN_V2)) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "%s does not store tensors as plain bytes: several processes cannot write one file",
                       plugin->name);
    }
}

/* Notes that a requested check is impossible. */
static void note_unchecked(rec_job *job, const char *why)
{
    lr_note(job, REC_NOTE_CHECK, 1, "", "not checked: %s", why);
}

static int32_t as_loaded(rec_job *job, rec_record *record)
{
    return record->flat && record->adapter == LR_FILE_BURN ? lr_unflatten(job, record) : REC_OK;
}

/* Reads what was written. Its names are still those that it had before: a failure leaves them. */
static void check_written(rec_job *job, const rec_recorder *r, lr_check *check, rec_sink *sink)
{
    const char *operation = job->operation;
    rec_source *source;
    if (lr_sink_end(sink) != REC_OK) {
        return;
    }
    source = lr_sink_reopen(sink);
    if (source) {
        job->operation = "check";
        lr_job_phase(job, job->progress.phase + 1, "check");
        job->progress.total = rec_source_size(source);
        if (lr_check_read(check, source, as_loaded) == REC_OK) {
            (void)rec_job_progress(job, job->progress.total, job->progress.total);
        }
        lr_source_release(source);
        lr_siblings_drop(job);
        job->operation = operation;
    } else if (!lr_job_failed(job) && r->check == LR_CHECK_YES) {
        note_unchecked(job, "output to a pipe, a device, a descriptor or the program cannot be read back");
    }
}

/* Writes a record unchanged. NULL: the job has failed, and the sink is only ended. */
static void write_record(rec_job *job, rec_recorder *r, const lr_plugin *plugin, const rec_record *record,
                         rec_sink *sink, void **data, uint64_t *size)
{
    lr_option_set *store = for_store(job, r, plugin);
    lr_check *check = NULL;
    bool checked = false;
    uint64_t expected = REC_UNKNOWN;
    job->plugin = &plugin->d;
    job->options = store ? store : r->options;
    job->type = r->type;
    job->passing = true;
    job->budget.limit = UINT64_MAX; /* the data are already in memory; a writer needs little more */
    lr_job_phase(job, job->progress.phase + 1, "write");
    if (record && lr_burn_check(job, &plugin->d, r->target) == REC_OK &&
        lr_walk_begin(job, record, r->precision, r->clamp, r->target) == REC_OK) {
        check_parts(job, &plugin->d);
        if (is_checked(job, r, &plugin->d, sink)) {
            checked = true;
            job->progress.phases = job->progress.phases ? job->progress.phases : 2;
        } else if (r->check == LR_CHECK_YES && !is_window(job)) {
            note_unchecked(job, "its recorder can only save");
        }
    }
    if (!lr_job_failed(job) && (plugin->d.traits & REC_TRAIT_EXACT_SIZE) && job->burn.minor >= LR_BURN_V2) {
        rec_sink *layout = lr_sink_layout_of(job, sink);
        if (layout) {
            job->quiet = true;
            (void)lr_plugin_save(job, layout);
            job->quiet = false;
            if (!lr_job_failed(job)) {
                job->progress.total = expected = lr_sink_tell_all(layout);
                (void)lr_sink_expect(sink, layout);
            }
            (void)rec_sink_close(layout);
        }
    }
    if (!lr_job_failed(job) && checked) {
        check = lr_check_new(job);
    }
    if (!lr_job_failed(job)) {
        (void)lr_plugin_save(job, sink);
    }
    if (!lr_job_failed(job)) {
        uint64_t written = lr_sink_tell_all(sink); /* may be less than the bytes that a filter received */
        if (expected != REC_UNKNOWN && expected != written) {
            (void)lr_breach(job, REC_UNKNOWN,
                            "wrote %" PRIu64 " bytes after %" PRIu64
                            " in its walk over a layout (REC_TRAIT_EXACT_SIZE)",
                            written, expected);
        }
        uint64_t all = written > job->progress.done ? written : job->progress.done;
        if (!check) {
            job->progress.overall = lr_job_whole(job); /* no phase follows */
        }
        (void)rec_job_progress(job, all, all);
    }
    if (check) {
        check_written(job, r, check, sink);
    }
    if (data && lr_watch_judge(job, true) == REC_OK) {
        (void)lr_sink_take(sink, data, size);
    }
    (void)lr_sink_commit(sink);
    lr_check_free(check);
    lr_layouts_free(job);
    lr_walk_free(job);
    job->plugin = NULL;
    job->options = r->options;
    lr_release(job->allocator, store);
}

/* Names that came as paths say nothing of constants, and Burn's recorders want them: a plan without adapter recognises
 * the modules and gives them what they have in the version that is written. A type does that where there is one. @param
 * plan (out) what the result lives in, or NULL. @return the record that is to be written; NULL: the job has failed. */
static const rec_record *with_constants(rec_job *job, const rec_recorder *r, const lr_plugin *plugin,
                                        const rec_record *record, rec_plan **plan)
{
    lr_plan_input input = {.record = record, .name = job->file ? job->file : ""};
    *plan = NULL;
    if (!record->dotted || r->type.layout || (plugin->d.traits & REC_TRAIT_TENSORS)) {
        return record;
    }
    *plan = lr_plan_new(job, (lr_type_ref){0}, r->target, r->precision, false);
    if (!*plan || lr_plan_add(job, *plan, &input) != REC_OK || lr_plan_carry_out(job, *plan, job->file) != REC_OK) {
        return NULL;
    }
    (*plan)->result->dotted = true; /* its names are still those of Rust's source: r#type */
    return (*plan)->result;
}

int32_t lr_save_sink(rec_job *job, rec_recorder *r, const lr_plugin *plugin, const rec_record *record, rec_sink *sink,
                     void **data, uint64_t *size)
{
    rec_plan *plan = NULL;
    rec_record *decoded = NULL;
    if (!sink) {
        return job->error.status;
    }
    if (lr_watch_cuts()) {
        (void)lr_record_check_whole(job, record, false);
    }
    record = lr_decode_saved(job, r->precision, record, &decoded);
    record = record ? with_constants(job, r, plugin, record, &plan) : NULL;
    write_record(job, r, plugin, record, sink, data, size);
    rec_plan_free(plan);
    rec_record_free(decoded);
    return job->error.status;
}

const lr_plugin *lr_recorder_writer(rec_job *job, const rec_recorder *r, const char *path)
{
    const lr_plugin *plugin = r->plugin, *writes;
    if (!plugin && path) {
        plugin = lr_registry_by_extension(job, path, LR_CAN_SAVE);
    }
    if (!plugin) {
        if (!lr_job_failed(job) && path) {
            (void)lr_registry_fail_extension(job);
        } else if (!lr_job_failed(job)) {
            (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "Auto cannot tell which format to save in");
            rec_fail_hint(job, "Name the recorder; `record plugins` lists them with their extensions.");
        }
        return NULL;
    }
    writes = lr_registry_for(job, plugin, LR_CAN_SAVE);
    if (!writes) {
        if (!lr_job_failed(job)) {
            (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s can only load", plugin->d.name);
        }
        return NULL;
    }
    return lr_recorder_check(job, r, &writes->d) == REC_OK ? writes : NULL;
}

/* A FIFO or a device is what it is called: no extension is appended to it. */
static bool is_special(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

int32_t lr_check_replaced(rec_job *job, const rec_record *record, const char *name)
{
    struct stat about;
    if (!record->hollow || stat(name, &about) != 0 || !S_ISREG(about.st_mode) ||
        lr_value_tensors(&record->root, NULL)) {
        return REC_OK;
    }
    (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "no tensor was mapped: the existing file is not replaced");
    rec_fail_hint(job, "Correct the type or the rules, or save to another name.");
    return job->error.status;
}

int32_t lr_save_file(rec_job *job, rec_recorder *r, const rec_record *record, const char *path)
{
    const lr_plugin *plugin;
    char *name = NULL;
    job->file = path;
    if (lr_path_scheme(path)) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "paths with a scheme can be loaded, not saved");
        rec_fail_hint(job, "Save it to a file; for a local file of this name, put ./ before its path.");
        return job->error.status;
    }
    plugin = lr_recorder_writer(job, r, path);
    if (plugin && lr_recorder_path(job, plugin, path, &name) == REC_OK) {
        if (is_special(path)) {
            (void)snprintf(name, strlen(path) + 1, "%s", path);
        }
        job->file = name;
        if (lr_check_replaced(job, record, name) == REC_OK) {
            (void)lr_save_sink(job, r, plugin, record, lr_sink_file(job, name, r->sync), NULL, NULL);
        }
    }
    job->file = NULL;
    lr_release(job->allocator, name);
    return job->error.status;
}
