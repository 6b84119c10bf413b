/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The examples of the manual's section 3 for plugin.h and plugin_types.h:
 * parts of a format "Demo", a codec "Flip" and a scheme. A file of the
 * format has 8 bytes, "DEMO" and a count, and as many floats.
 * examples/tutorial/flat.c is a complete format. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>
#include <librecord/parallel.h>
#include <librecord/plugin.h>
#include <librecord/plugin_types.h>

/* -----------------------------------------------------------------------------------------------------
 * failing -- */

/* rec_fail, rec_fail_found, rec_fail_hint, rec_fail_source, rec_job_note:
 * report failures and notes */
static rec_status check_head(rec_job *job, rec_source *source,
                             const char *head)
{
    rec_status status;
    if (memcmp(head, "DEMO", 4) != 0) {
        status = rec_fail_found(job, REC_E_FORMAT, 0, "DEMO", "%.4s", head);
        rec_fail_source(job, source);
        rec_fail_hint(job, "Choose another format with --from.");
        return status;
    }
    if (head[7] != 0)
        return rec_fail(job, REC_E_UNSUPPORTED, 7, "a version after 1");
    if (head[6] != 0)
        rec_job_note(job, REC_NOTE_DROPPED, "", "flags: left out");
    return REC_OK;
}

/* ----------------------------------------------------------------------------------------------------------
 * job -- */

/* rec_job_alloc, rec_job_resize, rec_job_free: allocate memory in a plugin
 */
static rec_status alloc_example(rec_job *job)
{
    char *text = rec_job_alloc(job, 16);
    char *more = text ? rec_job_resize(job, text, 32) : NULL;
    if (!more)
        return REC_E_MEMORY; /* the core has reported it and frees `text` */
    rec_job_free(job, more);
    return REC_OK;
}

/* rec_job_option_int, rec_job_option_float, rec_job_option_text,
 * rec_job_user: read options of a plugin */
static const rec_option scale = {
    .size = sizeof scale,
    .type = REC_OPTION_FLOAT,
    .name = "scale",
    .initial = "1",
    .help = "multiplies all numbers",
};
static const rec_option level = {
    .size = sizeof level,
    .type = REC_OPTION_INT,
    .name = "level",
    .initial = "3",
    .help = "effort, 1 to 9",
    .minimum = 1,
    .maximum = 9,
};

static void options_example(const rec_job *job)
{
    double factor = rec_job_option_float(job, "scale");
    int64_t effort = rec_job_option_int(job, "level");
    const char *check = rec_job_option_text(job, "missing"); /* "" */
    const char *name = rec_job_user(job);
    assert(factor == 1 && effort == 3 && check[0] == '\0');
    assert(strcmp(name, "rec_plugin.user") == 0);
}

/* rec_job_progress, rec_job_threads, rec_job_depth_limit,
 * rec_job_skips_data: respect limits of a job */
static rec_status work_example(rec_job *job)
{
    uint32_t helpers = rec_job_threads(job) - 1;
    uint32_t depth = rec_job_depth_limit(job);
    (void)helpers, (void)depth;
    if (rec_job_skips_data(job))
        return REC_OK; /* only the header is needed */
    for (uint64_t done = 0; done < 3; done++) {
        rec_status status = rec_job_progress(job, done, 3);
        if (status != REC_OK)
            return status; /* cancelled */
    }
    return REC_OK;
}

/* rec_job_check_count, rec_job_check_inflated: reject counts and sizes that
 * a file cannot have */
static rec_status check_example(rec_job *job, uint64_t count, uint64_t left)
{
    rec_status status = rec_job_check_count(job, 4, count, 4, left);
    if (status != REC_OK)
        return status;
    /* Where elements are decompressed into memory: */
    return rec_job_check_inflated(job, left, count * sizeof(float));
}

/* rec_job_path, rec_path_escape, rec_path_unescape, rec_is_utf8: convert
 * paths and names */
static rec_status path_example(rec_job *job)
{
    char here[64], path[64], name[64];
    uint64_t length;
    if (!rec_is_utf8("a\\b.c", 5))
        return REC_E_FORMAT;
    (void)rec_job_path(job, here, sizeof here); /* of the current event */
    length = rec_path_escape("a\\b.c", 5, path, sizeof path);
    printf("%s\n", path); /* a\\b.c */
    return rec_path_unescape(path, length, name, sizeof name) == 5
               ? REC_OK
               : REC_E_FORMAT;
}

/* rec_path_push, rec_path_pop, rec_path: build paths of nested data */
static rec_status push_example(rec_job *job)
{
    rec_path path = {0};
    uint64_t length, levels;
    rec_status status = rec_path_push(job, &path, "layers", 6);
    length = path.length;
    levels = path.levels;
    if (status == REC_OK)
        status = rec_path_push(job, &path, "0", 1);
    if (status == REC_OK) {
        printf("%s\n", path.text); /* layers.0 */
        rec_path_pop(&path, length, levels);
    }
    rec_job_free(job, path.text);
    return status;
}

/* rec_job_set_adapter, rec_job_adapter: set and get the module layout of a
 * file */
static rec_status adapter_example(rec_job *job, int is_pytorch)
{
    rec_status status = REC_OK;
    if (is_pytorch)
        status = rec_job_set_adapter(job, "pytorch");
    printf("layout %s\n", rec_job_adapter(job));
    return status;
}

/* -----------------------------------------------------------------------------------------------------
 * sources -- */

/* rec_source_name, rec_source_size, rec_source_measure, rec_source_view:
 * get a source's name, size and bytes */
static rec_status view_example(rec_job *job, rec_source *source)
{
    const void *data;
    uint64_t size = rec_source_size(source);
    rec_status status = REC_OK;
    if (size == REC_UNKNOWN) /* a stream */
        status = rec_source_measure(job, source, &size);
    if (status == REC_OK)
        status = rec_source_view(job, source, &data, &size);
    printf("%s: %d bytes\n", rec_source_name(source), (int)size);
    return status;
}

/* rec_source_read, rec_source_rewind, rec_source_read_at,
 * rec_source_at_hand: read a source */
static rec_status read_example(rec_job *job, rec_source *source)
{
    char buffer[8];
    const void *mapped = NULL;
    uint64_t got;
    rec_status status = rec_source_read(job, source, buffer, 8, &got);
    if (status == REC_OK)
        status = rec_source_rewind(job, source);
    if (status == REC_OK)
        status = rec_source_at_hand(job, source, 0, 4, &mapped);
    if (status == REC_OK && !mapped)
        status = rec_source_read_at(job, source, 0, buffer, 4);
    return status;
}

/* rec_source_beside, rec_source_beside_maybe, rec_source_names: open other
 * files of a model */
static rec_status beside_example(rec_job *job, rec_source *source)
{
    rec_source *notes = NULL, *shard = NULL;
    const char *const *names;
    uint64_t count;
    rec_status status = rec_source_names(job, source, &names, &count);
    if (status == REC_OK) /* optional */
        status = rec_source_beside_maybe(job, source, "notes.txt", &notes);
    if (status == REC_OK) /* required */
        status = rec_source_beside(job, source, "shard.demo", &shard);
    rec_source_release(notes);
    rec_source_release(shard);
    return status;
}

/* rec_source_part, rec_source_pieces, rec_source_piece: make sources of
 * ranges of others */
static rec_status pieces_example(rec_job *job, rec_source *source)
{
    rec_source *member = NULL, *whole = NULL;
    rec_source_piece pieces[2];
    rec_status status = rec_source_part(job, source, 4, 4, &member);
    if (status != REC_OK)
        return status;
    for (int i = 0; i < 2; i++) {
        pieces[i].size = sizeof pieces[i];
        pieces[i].reserved = 0;
        pieces[i].source = member;
        pieces[i].offset = 0;
        pieces[i].length = 4;
    }
    status = rec_source_pieces(job, "chunks", pieces, 2, &whole);
    rec_source_release(member);
    rec_source_release(whole);
    return status;
}

/* rec_source_filter, rec_source_make, rec_source_retain,
 * rec_source_release, rec_source_ops: make sources of other data */
typedef struct flip {
    rec_source *stored; /* rec_source_filter() retains it */
} flip;

static rec_status flip_read(void *self, rec_job *job, void *target,
                            uint64_t room, uint64_t *got)
{
    flip *f = self;
    uint8_t *bytes = target;
    rec_status status = rec_source_read(job, f->stored, target, room, got);
    for (uint64_t i = 0; status == REC_OK && i < *got; i++)
        bytes[i] ^= 0xff;
    return status;
}

static rec_status flip_rewind(void *self, rec_job *job)
{
    flip *f = self;
    return rec_source_rewind(job, f->stored);
}

static rec_status flip_decode(rec_job *job, rec_source *stored,
                              rec_source **out)
{
    static const rec_source_ops ops = {
        .size = sizeof ops,
        .read = flip_read,
        .rewind = flip_rewind,
        .release = free,
    };
    flip *f = calloc(1, sizeof *f);
    if (!f)
        return rec_fail(job, REC_E_MEMORY, 0, "out of memory");
    f->stored = stored;
    return rec_source_filter(job, stored, &ops, f, out);
}

/* -------------------------------------------------------------------------------------------------------
 * blobs -- */

/* rec_blob_read, rec_blob_slice, rec_blob: read the data of tensors */
static rec_status blob_example(rec_job *job, const rec_blob *blob)
{
    uint8_t first[4];
    rec_blob half;
    rec_status status =
        rec_blob_slice(job, blob, 0, blob->length / 2, &half);
    if (status == REC_OK)
        status = rec_blob_read(job, &half, 0, first, sizeof first);
    return status;
}

/* -------------------------------------------------------------------------------------------------------
 * sinks -- */

/* rec_sink_write, rec_sink_put, rec_sink_tell, rec_sink_wants: write bytes
 * and blobs */
static rec_status write_example(rec_sink *sink, const rec_blob *blob)
{
    rec_status status = rec_sink_write(sink, "DEMO", 4);
    if (status != REC_OK)
        return status;
    if (!rec_sink_wants(sink, blob->length))
        printf("%d bytes, only counted\n", (int)blob->length);
    status = rec_sink_put(sink, blob);
    printf("%d bytes so far\n", (int)rec_sink_tell(sink));
    return status;
}

/* rec_sink_can_patch, rec_sink_patch, rec_sink_layout: compute sizes that a
 * file begins with */
static rec_status patch_example(rec_job *job, rec_sink *sink)
{
    static const uint8_t count[4] = {1, 0, 0, 0};
    rec_sink *counting;
    if (rec_sink_can_patch(sink))
        return rec_sink_patch(sink, 4, count, sizeof count);
    /* Else walk twice: over a sink that only counts, then over `sink`. */
    counting = rec_sink_layout(job);
    if (!counting)
        return REC_E_MEMORY;
    return rec_sink_close(counting);
}

/* rec_sink_name, rec_sink_beside, rec_sink_part, rec_sink_rename: write
 * several files */
static rec_status shard_example(rec_job *job, rec_sink *sink)
{
    rec_sink *shard = NULL, *notes = NULL;
    rec_status status = rec_sink_rename(job, sink, "model.demo");
    if (status == REC_OK)
        status = rec_sink_part(job, sink, "model", "1-of-1.bin", &shard);
    if (status == REC_OK)
        printf("the index lists %s\n", rec_sink_name(shard));
    if (status == REC_OK)
        status = rec_sink_beside(job, sink, "notes.txt", &notes);
    if (status == REC_OK)
        status = rec_sink_write(notes, "by Demo\n", 8);
    return status;
}

/* rec_sink_filter, rec_sink_close, rec_sink_ops: encode output */
static rec_status flip_write(void *self, rec_sink *target, const void *data,
                             uint64_t size)
{
    const uint8_t *bytes = data;
    rec_status status = REC_OK;
    (void)self;
    for (uint64_t i = 0; status == REC_OK && i < size; i++) {
        uint8_t byte = bytes[i] ^ 0xff;
        status = rec_sink_write(target, &byte, 1);
    }
    return status;
}

static rec_status flip_encode(rec_job *job, rec_sink *target,
                              rec_sink **out)
{
    static const rec_sink_ops ops = {
        .size = sizeof ops,
        .write = flip_write,
    };
    *out = rec_sink_filter(job, target, &ops, NULL);
    return *out ? REC_OK : REC_E_MEMORY;
}

/* rec_job_walk, rec_job_walk_levels, rec_visitor, rec_tensor_event: visit
 * the record that is saved */
static int32_t on_tensor(void *self, uint64_t at,
                         const rec_tensor_event *event)
{
    uint64_t *elements = self;
    (void)at;
    *elements += event->data.length / 4;
    return REC_OK;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)self, (void)at, (void)scalar;
    return REC_OK;
}

static int32_t on_begin(void *self, uint64_t at, int32_t form,
                        uint64_t count)
{
    (void)self, (void)at, (void)form, (void)count;
    return REC_OK;
}

static int32_t on_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key,
                           const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK;
}

static rec_status count_elements(rec_job *job, uint64_t *elements)
{
    static const rec_visitor visitor = {
        .size = sizeof visitor,
        .metadata = on_metadata,
        .scalar = on_scalar,
        .list_begin = on_begin,
        .map_begin = on_begin,
        .key = on_scalar,
        .end = on_end,
        .tensor = on_tensor,
    };
    *elements = 0;
    return rec_job_walk(job, &visitor, elements);
}

/* -----------------------------------------------------------------------------------------------------
 * schemes -- */

/* rec_sibling, rec_sibling_of, rec_sibling_setting, rec_part, rec_logical:
 * find the tensors that a scheme decodes */
static rec_status claim(rec_job *job, const rec_siblings *siblings,
                        const rec_part *part, rec_logical *logical)
{
    const char *method;
    const rec_part *scales;
    const rec_part *config = rec_sibling(job, siblings, "config");
    method =
        rec_sibling_setting(job, siblings, "quantization_config.method");
    /* "weight" becomes "scales" */
    scales = rec_sibling_of(job, siblings, part, 6, "scales");
    if (!method || !scales || config)
        return REC_OK; /* not this scheme's: part_count stays 0 */
    logical->part_count = 2;
    logical->parts[0] = part;
    logical->parts[1] = scales;
    return REC_OK;
}

/* --------------------------------------------------------------------------------------------------------
 * types -- */

/* rec_job_layout, rec_job_layout_of, rec_job_layout_text,
 * rec_job_use_layout_text: get the layout of typed records */
static rec_status layout_example(rec_job *job, const rec_layout **layout)
{
    const rec_layout *param;
    const char *text;
    rec_status status = rec_job_layout_text(job, &text);
    if (status == REC_OK && text) /* read from a file of this format */
        status = rec_job_use_layout_text(job, text, strlen(text));
    if (status == REC_OK)
        status = rec_job_layout_of(job, "Param<Tensor<B, 2>>", &param);
    if (status == REC_OK)
        status = rec_job_layout(job, layout);
    return status;
}

/* rec_layout_kind, rec_layout_bits, rec_layout_count, rec_layout_name,
 * rec_layout_child, rec_layout: walk a layout */
static void print_layout(const rec_layout *layout)
{
    uint64_t count = rec_layout_count(layout);
    printf("kind %d\n", rec_layout_kind(layout));
    if (rec_layout_kind(layout) == REC_LAYOUT_UINT)
        printf("%d bits\n", (int)rec_layout_bits(layout));
    if (rec_layout_kind(layout) != REC_LAYOUT_STRUCT)
        return;
    for (uint64_t i = 0; i < count; i++) {
        printf("field %s: ", rec_layout_name(layout, i));
        print_layout(rec_layout_child(layout, i));
    }
}

/* rec_job_burn, rec_is_rust_word: write Rust for a version of Burn */
static void rust_example(const rec_job *job, const char *field)
{
    const char *prefix = rec_is_rust_word(field, strlen(field)) ? "r#" : "";
    printf("for Burn 0.%d: %s%s\n", (int)rec_job_burn(job), prefix, field);
}

/* --------------------------------------------------------------------------------------------------
 * descriptor -- */

/* rec_context_add_plugin, rec_plugin, rec_magic, rec_head: describe and add
 * plugins */
static rec_status demo_load(rec_job *job, rec_source *source,
                            const rec_visitor *visitor, void *self);
static rec_status demo_save(rec_job *job, rec_sink *sink);

static int32_t demo_probe(const rec_head *head)
{
    return head->length >= 8 ? 32 : 0; /* after a match of `magic` */
}

static const rec_magic demo_magic = {
    .size = sizeof demo_magic,
    .length = 4,
    .bytes = (const uint8_t *)"DEMO",
};
static const rec_magic *const demo_magics[] = {&demo_magic, NULL};
static const rec_option *const demo_options[] = {&scale, &level, NULL};
static char demo_user[] = "rec_plugin.user";
static const rec_plugin demo = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof demo,
    .name = "Demo",
    .extension = "demo",
    .description = "the manual's format",
    .traits = REC_TRAIT_TENSORS,
    .options = demo_options,
    .probe = demo_probe,
    .load = demo_load,
    .save = demo_save,
    .magic = demo_magics,
    .user = demo_user,
};

static rec_context *add_example(void)
{
    rec_context *context = rec_context_new(NULL);
    if (rec_context_add_plugin(context, &demo) == REC_OK)
        return context;
    rec_context_free(context);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------
 * main -- */

static rec_status services(rec_job *job, rec_source *source)
{
    rec_status status = alloc_example(job);
    options_example(job);
    status = status == REC_OK ? work_example(job) : status;
    status = status == REC_OK ? check_example(job, 2, 8) : status;
    status = status == REC_OK ? path_example(job) : status;
    status = status == REC_OK ? push_example(job) : status;
    status = status == REC_OK ? view_example(job, source) : status;
    status = status == REC_OK ? read_example(job, source) : status;
    status = status == REC_OK ? beside_example(job, source) : status;
    return status == REC_OK ? pieces_example(job, source) : status;
}

/* One tensor, `numbers`: all floats of the file. */
static rec_status demo_load(rec_job *job, rec_source *source,
                            const rec_visitor *visitor, void *self)
{
    char head[8];
    uint64_t shape[1] = {2};
    rec_tensor_event event = {.size = sizeof event,
                              .dtype = REC_DTYPE_F32,
                              .rank = 1,
                              .shape = shape};
    rec_scalar key = {
        .kind = REC_KIND_STRING, .v.length = 7, .text = "numbers"};
    const rec_layout *layout = NULL;
    rec_status status =
        rec_source_read_at(job, source, 0, head, sizeof head);
    status = status == REC_OK ? check_head(job, source, head) : status;
    status = status == REC_OK ? services(job, source) : status;
    status = status == REC_OK ? adapter_example(job, 0) : status;
    status = status == REC_OK ? layout_example(job, &layout) : status;
    print_layout(layout);
    rust_example(job, "type");
    event.data = (rec_blob){.size = sizeof(rec_blob),
                            .kind = REC_BLOB_RANGE,
                            .length = 8,
                            .source = source,
                            .offset = 8};
    status = status == REC_OK
                 ? visitor->map_begin(self, 0, REC_FORM_PATHS, 1)
                 : status;
    status = status == REC_OK ? visitor->key(self, 8, &key) : status;
    status = status == REC_OK ? blob_example(job, &event.data) : status;
    status = status == REC_OK ? visitor->tensor(self, 8, &event) : status;
    return status == REC_OK ? visitor->end(self, 16) : status;
}

static rec_status demo_save(rec_job *job, rec_sink *sink)
{
    static const uint8_t floats[12] = {2};
    rec_blob blob = {.size = sizeof blob,
                     .kind = REC_BLOB_TEMPORARY,
                     .length = sizeof floats,
                     .data = floats};
    uint64_t elements;
    rec_status status = shard_example(job, sink);
    status = status == REC_OK ? count_elements(job, &elements) : status;
    assert(status != REC_OK || elements == 2);
    status = status == REC_OK ? write_example(sink, &blob) : status;
    return status == REC_OK ? patch_example(job, sink) : status;
}

static const rec_magic flip_magic = {
    .size = sizeof flip_magic,
    .length = 4,
    .bytes = (const uint8_t *)"\xbb\xba\xb2\xb0"};
static const rec_plugin flip_codec = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof flip_codec,
    .name = "flip",
    .extension = "flip",
    .description = "inverted bytes",
    .kind = REC_PLUGIN_CODEC,
    .magic = (const rec_magic *const[]){&flip_magic, NULL},
    .decode = flip_decode,
    .encode = flip_encode};

static rec_status tile(const uint64_t *state, uint64_t first,
                       uint64_t count, const rec_span *spans,
                       const void *const *parts, void *numbers)
{
    (void)state, (void)first, (void)count, (void)spans, (void)parts,
        (void)numbers;
    return REC_E_FORMAT;
}

static int claims;

static rec_status counted_claim(rec_job *job, const rec_siblings *siblings,
                                const rec_part *part, rec_logical *logical)
{
    claims++;
    return claim(job, siblings, part, logical);
}

static const rec_plugin scheme = {.abi = REC_PLUGIN_ABI,
                                  .size = sizeof scheme,
                                  .name = "demo-scheme",
                                  .description = "claims nothing",
                                  .kind = REC_PLUGIN_SCHEME,
                                  .claim = counted_claim,
                                  .tile = tile};

static int failures;

static void expect(const char *name, int good)
{
    printf("%s - %s\n", good ? "ok" : "not ok", name);
    if (!good) {
        failures++;
        printf("# %s\n", rec_error_message());
    }
}

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert(file && fwrite(data, 1, size, file) == size);
    fclose(file);
}

/* Schemes are asked about a tensor of small integers. */
static void schemes(rec_context *context)
{
    static const uint8_t packed[2] = {1, 2};
    static const uint64_t shape[1] = {2};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_U8,
                            .rank = 1,
                            .shape = shape};
    rec_recorder *recorder =
        rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    rec_record *record = rec_record_new(context);
    spec.data = packed;
    spec.data_size = sizeof packed;
    expect("set", rec_set_tensor(record, "layer.weight", &spec) == REC_OK);
    expect("save packed",
           rec_save(recorder, record, "packed.safetensors") == REC_OK);
    rec_record_free(record);
    record = rec_load(recorder, "packed.safetensors");
    expect("load packed", record != NULL);
    expect("claim", claims > 0);
    rec_record_free(record);
    rec_close_recorder(recorder);
}

int main(void)
{
    static const uint8_t bytes[16] = {'D', 'E', 'M', 'O', 2};
    rec_context *context = add_example();
    rec_recorder *recorder = rec_open_recorder_in(context, "Demo", FULL),
                 *flipped;
    rec_record *record, *again;
    expect("add", rec_context_add_plugin(context, &flip_codec) == REC_OK);
    expect("add the scheme",
           rec_context_add_plugin(context, &scheme) == REC_OK);
    write_file("one.demo", bytes, sizeof bytes);
    write_file("shard.demo", bytes, sizeof bytes);
    record = rec_load(recorder, "one.demo");
    expect("load",
           rec_tensor_f32(rec_tensor_at(record, "numbers")) != NULL);
    expect("save", rec_save(recorder, record, "model.demo") == REC_OK);
    flipped = rec_open_recorder_in(context, "mpk.flip", FULL);
    expect("encode", rec_save(flipped, record, "two.mpk.flip") == REC_OK);
    again = rec_load(flipped, "two.mpk.flip");
    expect("decode", again != NULL);
    schemes(context);
    rec_record_free(again);
    rec_record_free(record);
    rec_close_recorder(flipped);
    rec_close_recorder(recorder);
    rec_context_free(context);
    return failures > 0;
}
