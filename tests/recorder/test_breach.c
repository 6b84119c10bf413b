/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plugin that breaks its contract (tests/plugins/breach*.c), each breach in a process of its own: none ends by a
 * signal or with a leak, each is refused with the plugin's name and what it did, and what was there before is there
 * after. `test_breach --together` does all of it in one process, for valgrind. */
#include <librecord/plugin_types.h>
#include <dirent.h>
#include <librecord.h>
#include <stdarg.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/scratch.h"

typedef struct breach {
    char how; /* l: load, k: twice, m: as maps, d: through a codec, c: the codec's own; s, D, C: the same for saves;
                           e: save with a walk over a layout first; p: probe; o: open by a
                           scheme */
    rec_status status;
    const char *name;
    const char *words; /* of the message; NULL for success */
} breach;

/* What a blob has, with pointers of 64 bits and of 32. */
#if UINTPTR_MAX > UINT32_MAX
#define BLOB_SIZE "56"
#else
#define BLOB_SIZE "40"
#endif

#define BROKEN(how, name, words) {how, REC_E_PLUGIN, name, words}
#define ORDER(how, name, words) {how, REC_E_PLUGIN, name, "broke the order of events: " words}
#define FINE(how, name) {how, REC_OK, name, NULL}

static const breach breaches[] = {
    /* What is right. */
    FINE('l', "none"),
    FINE('m', "none"),
    FINE('s', "none"),
    FINE('e', "none"),
    /* The order of events. */
    ORDER('l', "nothing", "the value was not completed"),
    ORDER('l', "end first", "an end without a beginning"),
    ORDER('l', "end twice", "an end without a beginning"),
    ORDER('l', "end missing", "the value was not completed"),
    ORDER('l', "second value", "a second value"),
    ORDER('l', "scalar after the end", "a second value"),
    ORDER('l', "numbers after the end", "numbers outside of a list"),
    ORDER('l', "tensor after the end", "a second value"),
    ORDER('l', "key after the end", "a key outside of a map"),
    ORDER('l', "option after the end", "the value was not completed"),
    ORDER('l', "metadata after the item", "metadata that is not a text, or not before the value"),
    ORDER('l', "metadata in a map", "metadata that is not a text, or not before the value"),
    ORDER('l', "metadata for a key", "metadata that is not a text, or not before the value"),
    ORDER('l', "metadata in a list", "metadata that is not a text, or not before the value"),
    ORDER('m', "metadata twice", "metadata that is not a text, or not before the value"),
    {'l', REC_E_FORMAT, "metadata twice", "occurs twice"},
    ORDER('l', "metadata value after the item", "metadata whose key is not a text, or that is not before the value"),
    ORDER('l', "metadata value without a value", "the value was not completed"),
    ORDER('l', "metadata value in one", "metadata whose key is not a text, or that is not before the value"),
    ORDER('l', "metadata value that is a tensor", "a tensor in the metadata"),
    ORDER('l', "option before metadata", "metadata that is not a text, or not before the value"),
    ORDER('l', "key first", "a key outside of a map"),
    ORDER('l', "key in a list", "a key outside of a map"),
    ORDER('l', "key in a variant", "a key outside of a map"),
    ORDER('l', "key after a key", "a key outside of a map, or two keys in a row"),
    ORDER('l', "key without its value", "a key without its value"),
    ORDER('l', "key that is a float", "a key that is not a string, bool or integer"),
    ORDER('l', "key that is nil", "a key that is not a string, bool or integer"),
    {'l', REC_E_FORMAT, "key twice", "the key `k` occurs twice in one map"},
    ORDER('l', "value without a key", "a value of a map without its key"),
    ORDER('l', "map without a key", "a value of a map without its key"),
    ORDER('l', "list without a key", "a value of a map without its key"),
    ORDER('l', "numbers without a key", "numbers outside of a list"),
    ORDER('l', "variant without a key", "a value of a map without its key"),
    ORDER('l', "tensor without a key", "a value of a map without its key"),
    ORDER('l', "numbers in a map", "numbers outside of a list"),
    ORDER('l', "numbers first", "numbers outside of a list"),
    ORDER('l', "too few entries", "fewer entries than were announced"),
    ORDER('l', "too many entries", "more entries than were announced"),
    ORDER('l', "too few elements", "fewer elements than were announced"),
    ORDER('l', "too many elements", "more elements than were announced"),
    ORDER('l', "too many numbers", "more elements than were announced"),
    ORDER('l', "more numbers than elements are left", "more elements than were announced"),
    {'l', REC_E_MEMORY, "elements beyond counting", "18,446,744,073,709,551,615 bytes more were needed"},
    {'l', REC_E_MEMORY, "entries beyond counting", "18,446,744,073,709,551,615 bytes more were needed"},
    ORDER('l', "payload that was not announced", "a payload that was not announced"),
    ORDER('l', "payload that is missing", "a variant without its payload"),
    ORDER('l', "two payloads", "a payload that was not announced"),
    ORDER('l', "option without its value", "an option without its value"),
    ORDER('l', "option before a key", "an option without its value"),
    ORDER('l', "option in the end", "the value was not completed"),
    BROKEN('m', "second pass differs", "sent other metadata when it read the file again"),
    /* The arguments of events. */
    BROKEN('k', "self kept from the last call", "sent `scalar` with a `self` that is not that of this call of `load`"),
    BROKEN('l', "scalar for nobody", "sent `scalar` with a `self` that is not that of this call of `load`"),
    BROKEN('l', "scalar for somebody else", "sent `scalar` with a `self` that is not that of this call of `load`"),
    BROKEN('l', "end for nobody", "sent `end` with a `self` that is not that of this call of `load`"),
    BROKEN('l', "tensor for nobody", "sent `tensor` with a `self` that is not that of this call of `load`"),
    BROKEN('l', "map for somebody else", "sent `map_begin` with a `self` that is not that of this call of `load`"),
    BROKEN('l', "scalar that is NULL", "sent `scalar` with NULL as `scalar`"),
    BROKEN('l', "scalar of kind 77", "gave a scalar of the kind 77"),
    BROKEN('l', "scalar of kind -1", "gave a scalar of the kind -1"),
    BROKEN('l', "scalar that is a list", "gave a scalar of the kind 7"),
    BROKEN('l', "scalar of form 77", "gave a scalar of the form 77"),
    BROKEN('l', "number with a form", "gave a scalar of the form 6"),
    BROKEN('l', "bool of two", "a bool of 2; it is 0 or 1"),
    BROKEN('l', "bool of minus one", "a bool of -1; it is 0 or 1"),
    BROKEN('l', "int wider than its bits", "a number of 8 bits"),
    BROKEN('l', "uint wider than its bits", "a number of 8 bits"),
    BROKEN('l', "uint of seven bits", "a number of 7 bits"),
    BROKEN('l', "float of eight bits", "a number of 8 bits"),
    BROKEN('l', "string without text", "gave a scalar of 4 bytes without its text"),
    BROKEN('l', "string that is not UTF-8", "gave a scalar that is not UTF-8 at its byte 3, 0xff"),
    {'l', REC_E_UNSUPPORTED, "string without end", "a string of 4 GiB or more"},
    BROKEN('l', "key that is NULL", "sent `key` with NULL as `key`"),
    BROKEN('l', "key without text", "gave a key of 4 bytes without its text"),
    BROKEN('l', "key that is not UTF-8", "gave a key that is not UTF-8 at its byte 3"),
    {'l', REC_E_UNSUPPORTED, "key without end", "a string of 4 GiB or more"},
    BROKEN('l', "key of kind 77", "gave a key of the kind 77"),
    BROKEN('l', "metadata without key", "sent `metadata` with NULL as `key`"),
    BROKEN('l', "metadata without value", "sent `metadata` with NULL as `value`"),
    ORDER('l', "metadata whose key is nil", "metadata that is not a text"),
    ORDER('l', "metadata whose value is nil", "metadata that is not a text"),
    BROKEN('l', "metadata key that is not UTF-8", "gave a key of metadata that is not UTF-8 at its byte 3"),
    BROKEN('l', "metadata that is not UTF-8", "gave a value of metadata that is not UTF-8 at its byte 3"),
    BROKEN('l', "metadata without text", "gave a value of metadata of 4 bytes without its text"),
    {'l', REC_E_UNSUPPORTED, "metadata without end", "a string of 4 GiB or more"},
    BROKEN('l', "metadata value without key", "sent `metadata_value` with NULL as `key`"),
    ORDER('l', "metadata value whose key is nil", "metadata whose key is not a text"),
    BROKEN('l', "metadata value whose key is not UTF-8", "gave a key of metadata that is not UTF-8"),
    BROKEN('l', "numbers that are NULL", "sent `numbers` with NULL as `data`"),
    BROKEN('l', "numbers of type 77", "sent `numbers` of the type 77, which no list has"),
    BROKEN('l', "numbers of type -1", "sent `numbers` of the type -1, which no list has"),
    BROKEN('l', "numbers of halves", "which no list has"),
    BROKEN('l', "numbers beyond memory", "sent 18446744073709551615 `numbers`, more than memory can hold"),
    BROKEN('l', "numbers beyond counting", "sent 2305843009213693953 `numbers`, more than memory can hold"),
    BROKEN('l', "list of form 77", "sent `list_begin` with the form 77"),
    BROKEN('l', "list of a map's form", "sent `list_begin` with the form 5"),
    BROKEN('l', "map of form 77", "sent `map_begin` with the form 77"),
    BROKEN('l', "map of form -1", "sent `map_begin` with the form -1"),
    BROKEN('l', "map of a list's form", "sent `map_begin` with the form 1"),
    BROKEN('l', "paths within a map", "sent a map of REC_FORM_PATHS that is not the outermost value"),
    BROKEN('m', "paths of a format of maps", "sent a map of REC_FORM_PATHS without REC_TRAIT_TENSORS"),
    BROKEN('l', "variant without name", "sent `variant_begin` with NULL as `name`"),
    BROKEN('l', "variant whose name is nil", "sent a variant whose name is not a text"),
    BROKEN('l', "variant whose name is not UTF-8", "gave a variant's name that is not UTF-8"),
    {'l', REC_E_UNSUPPORTED, "variant whose name has no end", "a string of 4 GiB or more"},
    BROKEN('l', "variant with payload 77", "sent `variant_begin` with 77 as `payload`"),
    BROKEN('l', "variant beyond all enums", "sent a variant of the index 4294967296"),
    BROKEN('l', "option of 77", "sent `option` with 77 as `present`"),
    BROKEN('l', "option of -1", "sent `option` with -1 as `present`"),
    /* Blobs. */
    BROKEN('l', "bytes that are NULL", "sent `bytes` with NULL as `blob`"),
    BROKEN('l', "blob of size 0", "gave the size of a blob as 0; " BLOB_SIZE " to 4096 bytes are possible"),
    BROKEN('l', "blob of size 8", "gave the size of a blob as 8"),
    BROKEN('l', "blob of size 4294967295", "gave the size of a blob as 4294967295"),
    BROKEN('l', "blob of kind 0", "gave a blob of kind 0"),
    BROKEN('l', "blob of kind 77", "gave a blob of kind 77"),
    BROKEN('l', "blob of kind -1", "gave a blob of kind -1"),
    BROKEN('l', "view without source", "gave a blob of REC_BLOB_VIEW without its source"),
    BROKEN('l', "view without data", "gave a blob of kind 1 without what that kind needs"),
    BROKEN('l', "view somewhere else", "gave a blob of 4 bytes that do not lie in the view of its source"),
    BROKEN('l', "view past the end", "that do not lie in the view of its source"),
    BROKEN('l', "view without end", "that do not lie in the view of its source"),
    BROKEN('l', "view before the beginning", "that do not lie in the view of its source"),
    BROKEN('l', "range without source", "gave a blob of kind 3 without what that kind needs"),
    {'l', REC_E_FORMAT, "range past the end", "bytes are expected here, but the file has"},
    {'l', REC_E_FORMAT, "range without end", "bytes are expected here, but the file has"},
    BROKEN('l', "temporary without data", "gave a blob of kind 2 without what that kind needs"),
    {'l', REC_E_LIMIT, "temporary without end", "its data would take more than"},
    BROKEN('l', "stream without read", "gave a blob of kind 4 without what that kind needs"),
    {'l', REC_E_LIMIT, "stream without end", "its data would take more than"},
    BROKEN('l', "stream that fails without a word", "failed with status 3 and gave no reason"),
    BROKEN('l', "stream that fails oddly", "failed with status 77 and gave no reason"),
    BROKEN('l', "stream that tells events", "sent `scalar` in the middle of another event"),
    /* Tensors. */
    BROKEN('l', "tensor that is NULL", "sent `tensor` with NULL as `tensor`"),
    ORDER('m', "tensor of a format of maps", "a tensor from a format whose traits do not say so"),
    BROKEN('l', "tensor of size 0", "gave the size of a tensor event as 0"),
    BROKEN('l', "tensor of size 40", "gave the size of a tensor event as 40"),
    BROKEN('l', "tensor of size 100000", "gave the size of a tensor event as 100000"),
    BROKEN('l', "tensor of no type", "sent a tensor of the invalid element type 0"),
    BROKEN('l', "tensor of type 77", "sent a tensor of the invalid element type 77"),
    BROKEN('l', "tensor of type -1", "sent a tensor of the invalid element type -1"),
    BROKEN('l', "tensor transposed three times", "an invalid `transposed` (3)"),
    BROKEN('l', "tensor without shape", "sent `tensor` with NULL as `shape`"),
    {'l', REC_E_UNSUPPORTED, "tensor of rank 33", "a tensor of rank 33; at most 32 are supported"},
    {'l', REC_E_UNSUPPORTED, "tensor of rank 4294967295", "at most 32 are supported"},
    {'l', REC_E_FORMAT, "tensor beyond counting", "has more elements than can be counted"},
    {'l', REC_E_FORMAT, "tensor with less data", "12"},
    {'l', REC_E_FORMAT, "tensor with more data", "16"},
    BROKEN('l', "tensor of a type without name", "sent `tensor` with NULL as `dtype_name`"),
    BROKEN('l', "tensor whose type's name is empty", "gave a dtype_name that is empty"),
    BROKEN('l', "tensor whose type's name is not UTF-8", "gave a dtype_name that is not UTF-8"),
    BROKEN('l', "tensor whose type's name is long", "gave a dtype_name of more than 4199 bytes"),
    BROKEN('l', "id that is empty", "gave an id that is empty"),
    BROKEN('l', "id that is long", "gave an id that has more than 256 bytes"),
    BROKEN('l', "id with a control character", "gave an id that has a control character"),
    BROKEN('l', "id that is not UTF-8", "gave an id that is not UTF-8"),
    BROKEN('l', "tensor whose blob has size 0", "gave the size of a blob as 0"),
    BROKEN('l', "tensor whose blob is of kind 77", "gave a blob of kind 77"),
    BROKEN('l', "tensor whose data are NULL", "gave a blob of kind 2 without what that kind needs"),
    /* What is asked of a job. */
    FINE('l', "memory that is not freed"),
    FINE('l', "memory of no bytes"),
    {'l', REC_E_MEMORY, "memory of all bytes", "18,446,744,073,709,551,615 bytes more were needed"},
    BROKEN('l', "memory of no job", "called rec_job_resize() with NULL as `job`"),
    BROKEN('l', "memory freed that is not its own", "freed memory that rec_job_alloc() did not give it"),
    BROKEN('l', "memory freed twice", "freed memory that rec_job_alloc() did not give it, or that it had freed"),
    BROKEN('l', "memory freed in the middle", "freed memory that rec_job_alloc() did not give it"),
    BROKEN('l', "memory resized that is not its own", "resized memory that rec_job_alloc() did not give it"),
    BROKEN('l', "memory resized that was freed", "resized memory that rec_job_alloc() did not give it"),
    BROKEN('l', "memory freed of no job", "called rec_job_free() with NULL as `job`"),
    BROKEN('l', "failure of status 77", "reported a failure with the status 77, which is not an error: \"a status"),
    BROKEN('l', "failure of status -1", "reported a failure with the status -1"),
    BROKEN('l', "failure that is none", "reported a failure with the status 0"),
    BROKEN('l', "failure found of status 77", "reported a failure with the status 77"),
    BROKEN('l', "failure without words", "with NULL as `format`"),
    BROKEN('l', "failure without expectation", "with NULL as `format`"),
    BROKEN('l', "failure without finding", "with NULL as `format`"),
    BROKEN('l', "failure of no job", "called rec_fail() with NULL as `job`"),
    {'l', REC_E_FORMAT, "failure that is not UTF-8", "found \"a?b\" and ?"},
    {'l', REC_E_FORMAT, "hint without words", "a file of its own kind"},
    {'l', REC_E_FORMAT, "failure about no source", "a file of its own kind"},
    BROKEN('l', "failure without a report", "stopped without a reason (4)"),
    BROKEN('l', "end by 77", "stopped without a reason (77)"),
    BROKEN('l', "end by -5", "stopped without a reason (-5)"),
    {'l', REC_E_FORMAT, "success after a failure", "a file of its own kind"},
    ORDER('l', "success after a refused event", "an end without a beginning"),
    {'l', REC_E_FORMAT, "another status than was reported", "a file of its own kind"},
    FINE('l', "option that was not declared"),
    BROKEN('l', "option of no name", "called rec_job_option_text() with NULL as `name`"),
    BROKEN('l', "option of no job", "called rec_job_option_text() with NULL as `job`"),
    BROKEN('l', "note of kind 77", "made a note of the invalid kind 77"),
    BROKEN('l', "note of kind -1", "made a note of the invalid kind -1"),
    BROKEN('l', "note without words", "called rec_job_note() with NULL as `format`"),
    BROKEN('l', "note of no job", "called rec_job_note() with NULL as `job`"),
    FINE('l', "note that is not UTF-8"),
    BROKEN('l', "progress of no job", "called rec_job_progress() with NULL as `job`"),
    BROKEN('l', "path into nothing", "called rec_job_path() with NULL as `path`"),
    BROKEN('l', "count of no job", "called rec_job_check_count() with NULL as `job`"),
    BROKEN('l', "depth of no job", "called rec_job_depth_limit() with NULL as `job`"),
    BROKEN('l', "threads of no job", "called rec_job_threads() with NULL as `job`"),
    BROKEN('l', "layout into nothing", "called rec_job_layout() with NULL as `layout`"),
    BROKEN('l', "layout of no job", "called rec_job_layout() with NULL as `job`"),
    BROKEN('l', "layout of nothing", "called rec_job_layout_of() with NULL as `expression`"),
    BROKEN('l', "layout of an expression into nothing", "called rec_job_layout_of() with NULL as `layout`"),
    BROKEN('l', "layout's text into nothing", "called rec_job_layout_text() with NULL as `text`"),
    BROKEN('l', "layout by no text", "called rec_job_use_layout_text() with NULL as `text`"),
    BROKEN('l', "layout by a text without end", "gave the text of a layout of 18446744073709551615 bytes"),
    FINE('l', "nodes of no layout"),
    BROKEN('l', "adapter of no name", "set an adapter whose name is not 1 to 64 letters"),
    BROKEN('l', "adapter of nothing", "called rec_job_set_adapter() with NULL as `adapter`"),
    BROKEN('l', "name into no path", "called rec_path_push() with NULL as `path`"),
    BROKEN('l', "pieces of nothing", "called rec_source_pieces() with NULL as `pieces`"),
    BROKEN('l', "pieces of no size", "gave the size of a piece of a source as 0"),
    BROKEN('l', "measure into nothing", "called rec_source_measure() with NULL as `size`"),
    BROKEN('l', "slice beyond a blob", "requested a slice of 1 bytes from byte 1 on, of a blob of 1 bytes"),
    BROKEN('l', "levels in a load", "called rec_job_walk() outside of a save"),
    BROKEN('l', "user of no job", "called rec_job_user() with NULL as `job`"),
    BROKEN('l', "adapter of no job", "called rec_job_set_adapter() with NULL as `job`"),
    BROKEN('l', "adapter after a value", "called rec_job_set_adapter() after the first value"),
    BROKEN('l', "escaping nothing", "called rec_path_escape() with NULL as `name`"),
    BROKEN('l', "unescaping into nothing", "called rec_path_unescape() with NULL as `name`"),
    BROKEN('l', "id into nothing", "called rec_id_text() with NULL as `text`"),
    BROKEN('l', "id of nothing", "called rec_id_number() with NULL as `id`"),
    BROKEN('l', "version of no job", "called rec_job_burn() with NULL as `job`"),
    FINE('l', "word of nothing"),
    BROKEN('l', "walk in a load", "called rec_job_walk() outside of a save"),
    BROKEN('l', "walk in a load for nobody", "called rec_job_walk() with NULL as `visitor`"),
    BROKEN('l', "sink in a load", "called rec_sink_layout() while it loads"),
    /* Sources. */
    BROKEN('l', "view of nothing", "called rec_source_view() with NULL as `source`"),
    BROKEN('l', "view of no job", "called rec_source_view() with NULL as `job`"),
    BROKEN('l', "view into nothing", "called rec_source_view() with NULL as `data`"),
    BROKEN('l', "view without a size", "called rec_source_view() with NULL as `size`"),
    BROKEN('l', "read of nothing", "called rec_source_read() with NULL as `source`"),
    BROKEN('l', "read into nothing", "called rec_source_read() with NULL as `target`"),
    BROKEN('l', "read without a size", "called rec_source_read() with NULL as `got`"),
    BROKEN('l', "read of no job", "called rec_source_read() with NULL as `job`"),
    BROKEN('l', "read at a place of nothing", "called rec_source_read_at() with NULL as `source`"),
    BROKEN('l', "read at a place into nothing", "called rec_source_read_at() with NULL as `target`"),
    {'l', REC_E_FORMAT, "read past the end", "bytes are needed from byte 1,000 on"},
    {'l', REC_E_FORMAT, "read without end", "bytes are needed from byte"},
    BROKEN('l', "rewind of nothing", "called rec_source_rewind() with NULL as `source`"),
    BROKEN('l', "rewind of no job", "called rec_source_rewind() with NULL as `job`"),
    BROKEN('l', "names of nothing", "called rec_source_names() with NULL as `source`"),
    BROKEN('l', "names into nothing", "called rec_source_names() with NULL as `names`"),
    BROKEN('l', "beside nothing", "with NULL as `source`"),
    BROKEN('l', "beside of no name", "with NULL as `name`"),
    BROKEN('l', "beside into nothing", "with NULL as `out`"),
    BROKEN('l', "beside of no job", "with NULL as `job`"),
    {'l', REC_E_FORMAT, "beside with a slash", "not a path below its own directory"},
    {'l', REC_E_FORMAT, "beside of dots", "not a plain file name"},
    {'l', REC_E_FORMAT, "beside of an empty name", "the name of another file is empty"},
    BROKEN('l', "perhaps beside of no name", "with NULL as `name`"),
    BROKEN('l', "at hand of nothing", "called rec_source_at_hand() with NULL as `source`"),
    BROKEN('l', "at hand into nothing", "called rec_source_at_hand() with NULL as `data`"),
    BROKEN('l', "at hand of no job", "called rec_source_at_hand() with NULL as `job`"),
    {'l', REC_E_FORMAT, "at hand past the end", "bytes are needed from byte 1 on"},
    {'l', REC_E_FORMAT, "at hand without end", "bytes are needed from byte 8 on"},
    BROKEN('l', "part of nothing", "called rec_source_part() with NULL as `source`"),
    BROKEN('l', "part into nothing", "called rec_source_part() with NULL as `out`"),
    {'l', REC_E_FORMAT, "part past the end", "bytes are needed from byte 1 on"},
    {'l', REC_E_FORMAT, "part without end", "bytes are needed from byte 8 on"},
    BROKEN('l', "name of nothing", "called rec_source_name() with NULL as `source`"),
    BROKEN('l', "size of nothing", "called rec_source_size() with NULL as `source`"),
    BROKEN('l', "retaining nothing", "called rec_source_retain() with NULL as `source`"),
    BROKEN('l', "release of what it was given", "released a source that it does not own"),
    BROKEN('l', "release of what it was given, often", "released a source that it does not own"),
    BROKEN('l', "release of what is none", "released a source that it does not own"),
    BROKEN('l', "release of one more than were retained", "released a source that it does not own"),
    BROKEN('l', "release twice", "released a source that it does not own"),
    BROKEN('l', "no release", "did not release 1 source: rec_source_release()"),
    BROKEN('l', "no release of many", "did not release 1000 sources"),
    /* Filters, and sources of its own. */
    BROKEN('l', "filter of nothing", "called rec_source_filter() with NULL as `parent`"),
    BROKEN('l', "filter without functions", "called rec_source_filter() with NULL as `ops`"),
    BROKEN('l', "filter into nothing", "called rec_source_filter() with NULL as `out`"),
    BROKEN('l', "filter of no job", "called rec_source_filter() with NULL as `job`"),
    BROKEN('l', "source without functions", "called rec_source_make() with NULL as `ops`"),
    BROKEN('l', "source without a name", "called rec_source_make() with NULL as `name`"),
    BROKEN('l', "source into nothing", "called rec_source_make() with NULL as `out`"),
    BROKEN('l', "filter of size 0", "gave the size of the functions of a source filter as 0"),
    BROKEN('l', "filter of size 16", "gave the size of the functions of a source filter as 16"),
    BROKEN('l', "filter of size 70000", "gave the size of the functions of a source filter as 70000"),
    BROKEN('l', "source of size 0", "gave the size of the functions of a source as 0"),
    BROKEN('l', "source of size 70000", "gave the size of the functions of a source as 70000"),
    BROKEN('l', "filter without read", "made a source filter without `read` and `rewind`"),
    BROKEN('l', "filter without rewind", "made a source filter without `read` and `rewind`"),
    BROKEN('l', "source without read", "made a source without `read`"),
    BROKEN('l', "filter used by parts, then released twice", "released a source that it does not own"),
    BROKEN('l', "filter that gives more than there is room for", "gave more bytes than there was room for"),
    BROKEN('l', "filter that fails without a word", "has a source filter that failed with status 3"),
    BROKEN('l', "filter that fails oddly", "has a source filter that failed with status 77"),
    BROKEN('l', "filter that reads itself", "has a source filter that reads itself"),
    BROKEN('l', "filter that views itself", "that reads itself"),
    BROKEN('l', "filter that rewinds itself", "has a source filter that reads itself"),
    BROKEN('l', "filter that releases its parent", "released a source that it does not own"),
    BROKEN('l', "filter that cannot begin again", "has a source filter that failed with status 77"),
    BROKEN('l', "filter that is not given back", "did not release 1 source"),
    {'l', REC_E_LIMIT, "filter without end", "the limit for its size"},
    BROKEN('l', "source that reads itself", "that reads itself"),
    BROKEN('l', "source that fails without a word", "failed with status 3 and gave no reason"),
    BROKEN('l', "source that lends what is not its own", "returned an invalid or released source as a companion file"),
    BROKEN('l', "source that lends nothing", "reported no error for \"other\""),
    BROKEN('l', "source that fails to lend", "failed with status 77 and gave no reason"),
    /* Saves. */
    BROKEN('s', "no walk", "saved without reading the record: rec_job_walk()"),
    BROKEN('s', "nothing at all", "saved without reading the record: rec_job_walk()"),
    BROKEN('s', "walk for nobody", "called rec_job_walk() with NULL as `visitor`"),
    BROKEN('s', "walk of no job", "called rec_job_walk() with NULL as `job`"),
    BROKEN('s', "visitor of size 0", "gave the size of a visitor as 0"),
    BROKEN('s', "visitor of size 24", "gave the size of a visitor as 24"),
    BROKEN('s', "visitor of size 70000", "gave the size of a visitor as 70000"),
    BROKEN('s', "visitor without an end", "lacks an event that every writer needs"),
    BROKEN('s', "visitor without tensors", "lacks an event that every writer needs"),
    BROKEN('s', "save that ends by 77", "stopped without a reason (77)"),
    BROKEN('s', "save that ends by -1", "stopped without a reason (-1)"),
    BROKEN('s', "save that fails without a word", "stopped without a reason (3)"),
    {'s', REC_E_UNSUPPORTED, "success after a failed save", "a record of its own kind"},
    FINE('s', "memory that a save does not free"),
    BROKEN('e', "two walks that differ", "in its walk over a layout (REC_TRAIT_EXACT_SIZE)"),
    BROKEN('s', "walk over a layout alone", "wrote nothing"),
    BROKEN('s', "walk within a walk", "called rec_job_walk() within a walk"),
    BROKEN('s', "callback that ends by 77", "stopped without a reason (77)"),
    BROKEN('s', "callback that ends by -1", "stopped without a reason (-1)"),
    BROKEN('s', "callback that fails without a word", "stopped without a reason (3)"),
    {'s', REC_E_UNSUPPORTED, "callback that goes on after a failure", "a tensor of its own kind"},
    BROKEN('s', "put of nothing", "called rec_sink_put() with NULL as `blob`"),
    BROKEN('s', "put into nothing", "called rec_sink_put() with NULL as `sink`"),
    BROKEN('s', "put of size 0", "gave the size of a blob as 0"),
    BROKEN('s', "put of size 4294967295", "gave the size of a blob as 4294967295"),
    BROKEN('s', "put of kind 77", "gave a blob of kind 77"),
    BROKEN('s', "put of nothing of a size", "gave a blob of kind 2 without what that kind needs"),
    {'s', REC_E_FORMAT, "put of a range past the end", "bytes are needed from byte"},
    BROKEN('s', "put of a stream that fails without a word", "failed with status 3 and gave no reason"),
    BROKEN('s', "blob of nothing", "called rec_blob_read() with NULL as `blob`"),
    BROKEN('s', "blob into nothing", "called rec_blob_read() with NULL as `target`"),
    BROKEN('s', "blob of no job", "called rec_blob_read() with NULL as `job`"),
    BROKEN('s', "blob past the end", "requested 1 bytes from byte"),
    BROKEN('s', "blob without end", "requested 8 bytes from byte 18,446,744,073,709,551,615 on"),
    BROKEN('s', "reading while it saves", "called rec_source_read() while it saves"),
    BROKEN('s', "rewinding while it saves", "called rec_source_rewind() while it saves"),
    BROKEN('s', "beside while it saves", "while it saves"),
    BROKEN('s', "release of a record's source", "released a source that it does not own"),
    /* Sinks. */
    BROKEN('s', "write of nothing", "called rec_sink_write() with NULL as `data`"),
    BROKEN('s', "write into nothing", "called rec_sink_write() with NULL as `sink`"),
    BROKEN('s', "write without end", "called rec_sink_write() with NULL as `data`"),
    BROKEN('s', "tell of nothing", "called rec_sink_tell() with NULL as `sink`"),
    BROKEN('s', "name of no sink", "called rec_sink_name() with NULL as `sink`"),
    BROKEN('s', "patch of nothing", "called rec_sink_patch() with NULL as `sink`"),
    BROKEN('s', "patch by nothing", "called rec_sink_patch() with NULL as `data`"),
    BROKEN('s', "patch past the end", "overwrote 3 bytes from byte 2 on, where only 4 bytes were written"),
    BROKEN('s', "patch without end", "overwrote 3 bytes from byte 18,446,744,073,709,551,614 on"),
    BROKEN('s', "asking nothing whether it can be patched", "called rec_sink_can_patch() with NULL as `sink`"),
    BROKEN('s', "renaming late", "renamed a sink other than its first, or after something was written"),
    BROKEN('s', "renaming to nothing", "called rec_sink_rename() with NULL as `name`"),
    BROKEN('s', "renaming nothing", "called rec_sink_rename() with NULL as `sink`"),
    BROKEN('s', "close of what it was given", "closed the sink passed to it"),
    BROKEN('s', "close of what it was given, often", "closed the sink passed to it"),
    BROKEN('s', "filter that is not closed", "did not close a sink that it had made: rec_sink_close()"),
    BROKEN('s', "two filters that are not closed", "did not close a sink that it had made"),
    BROKEN('s', "filters closed the wrong way round", "wrote to a sink that it had closed"),
    BROKEN('s', "layout that is not closed", "did not close a sink that it had made"),
    BROKEN('s', "layout of no job", "called rec_sink_layout() with NULL as `job`"),
    BROKEN('s', "filter that is closed twice", "closed a sink twice"),
    BROKEN('s', "filter that is closed often", "closed a sink twice"),
    BROKEN('s', "many filters, the last one closed twice", "closed a sink twice"),
    BROKEN('s', "write to a closed filter", "wrote to a sink that it had closed"),
    BROKEN('s', "filter that writes to itself", "has a sink filter that writes to itself"),
    BROKEN('s', "filter that closes itself", "has a sink filter that closes itself"),
    BROKEN('s', "filter that closes its target", "closed the sink passed to it"),
    BROKEN('s', "filter whose write fails without a word", "has a sink filter that failed with status 3"),
    BROKEN('s', "filter whose write ends by 77", "has a sink filter that failed with status 77"),
    BROKEN('s', "filter whose finish writes to itself", "wrote to a sink that it had closed"),
    BROKEN('s', "filter whose finish closes itself", "has a sink filter that closes itself"),
    BROKEN('s', "filter whose finish fails without a word", "has a sink filter that failed with status 3"),
    BROKEN('s', "filter for nothing", "called rec_sink_filter() with NULL as `target`"),
    BROKEN('s', "filter without functions", "called rec_sink_filter() with NULL as `ops`"),
    BROKEN('s', "filter without write", "made a sink filter without `write`"),
    BROKEN('s', "filter of size 0", "gave the size of the functions of a sink filter as 0"),
    BROKEN('s', "filter of size 70000", "gave the size of the functions of a sink filter as 70000"),
    BROKEN('s', "beside nothing", "called rec_sink_beside() with NULL as `sink`"),
    BROKEN('s', "beside of no name", "called rec_sink_beside() with NULL as `name`"),
    BROKEN('s', "beside into nothing", "called rec_sink_beside() with NULL as `out`"),
    BROKEN('s', "beside of no job", "called rec_sink_beside() with NULL as `job`"),
    {'s', REC_E_ARGUMENT, "beside with a slash", "not a plain file name"},
    {'s', REC_E_ARGUMENT, "beside of dots", "not a plain file name"},
    {'s', REC_E_ARGUMENT, "beside of an empty name", "the name of another file is empty"},
    {'s', REC_E_ARGUMENT, "beside by its own name", "two of its files would have the name"},
    {'s', REC_E_ARGUMENT, "beside twice", "two of its files would have the name \"part\""},
    BROKEN('s', "write to a closed part", "wrote to a sink that it had closed"),
    BROKEN('s', "renaming after a part", "renamed a sink other than its first"),
    BROKEN('s', "renaming a part", "renamed a sink other than its first"),
    /* Probes: an mpk file stays one. */
    FINE('p', "2147483647"),
    FINE('p', "-2147483648"),
    FINE('p', "1024"),
    /* Codecs, with a format that is right… */
    FINE('c', "none"),
    BROKEN('c', "decode without a report", "stopped without a reason (77)"),
    BROKEN('c', "decode of nothing", "added no filter"),
    BROKEN('c', "decode that gives what it was given", "added no filter"),
    BROKEN('c', "decode that gives what it has given back", "gave a source that is not its own"),
    BROKEN('c', "decode that gives what is none", "gave a source that is not its own"),
    {'c', REC_E_FORMAT, "decode that gives and fails", "not a file of this codec"},
    BROKEN('c', "decode that gives and fails without a word", "stopped without a reason (4)"),
    {'c', REC_E_FORMAT, "decode that reports and gives", "not a file of this codec"},
    BROKEN('c', "decode that releases what it was given", "released a source that it does not own"),
    BROKEN('c', "decode that keeps another one", "did not release 1 source"),
    BROKEN('c', "decode that makes a sink", "called rec_sink_layout() while it loads"),
    BROKEN('c', "decode that walks", "called rec_job_walk() outside of a save"),
    BROKEN('c', "decoding that gives more than there is room for", "gave more bytes than there was room for"),
    BROKEN('c', "decoding that fails without a word", "failed with status 4 and gave no reason"),
    FINE('C', "none"),
    BROKEN('C', "encode without a report", "stopped without a reason (77)"),
    BROKEN('C', "encode of nothing", "added no filter"),
    BROKEN('C', "encode that gives what it was given", "added no filter"),
    BROKEN('C', "encode that gives what is none", "gave a sink that is not its own"),
    BROKEN('C', "encode that gives what it has closed", "gave a sink that is not its own"),
    BROKEN('C', "encode that closes what it was given", "closed the sink passed to it"),
    BROKEN('C', "encode that keeps another one", "did not close a sink that it had made"),
    {'C', REC_E_UNSUPPORTED, "encode that reports and gives", "a codec that cannot do this"},
    BROKEN('C', "encoding that fails without a word", "failed with status 3 and gave no reason"),
    BROKEN('C', "encoding that closes its target", "closed the sink passed to it"),
    /* … and formats behind a codec that is right. */
    FINE('d', "none"),
    BROKEN('d', "release of what it was given", "released a source that it does not own"),
    BROKEN('d', "no release", "did not release 1 source"),
    BROKEN('d', "end by 77", "stopped without a reason (77)"),
    BROKEN('d', "view somewhere else", "that do not lie in the view of its source"),
    FINE('D', "none"),
    BROKEN('D', "no walk", "saved without reading the record"),
    BROKEN('D', "close of what it was given", "closed the sink passed to it"),
    BROKEN('D', "filter that is not closed", "did not close a sink that it had made"),
    BROKEN('D', "layout that is not closed", "did not close a sink that it had made"),
    /* Schemes. */
    FINE('o', "none"),
    BROKEN('o', "open without a report", "stopped without a reason (77)"),
    BROKEN('o', "open of nothing", "opened nothing and reported no error"),
    {'o', REC_E_IO, "open that reports and gives", "nobody is there"},
    BROKEN('o', "open that gives and fails", "stopped without a reason (3)"),
    BROKEN('o', "open of what it has given back", "returned a source that it does not own"),
    BROKEN('o', "open of what is none", "returned a source that it does not own"),
    BROKEN('o', "open that keeps another one", "did not release its sources"),
    BROKEN('o', "bytes that fail without a word", "failed with status 3 and gave no reason"),
};
enum { BREACHES = sizeof breaches / sizeof *breaches };

static scratch *folder;
static char *plugins, *others; /* folders: with the plugin alone, and with those of librecord */

/* -------------------------------------------------------------------------------------------------- one breach -- */

static char said[4096];

static bool wrong(const char *format, ...) REC_PRINTF(1, 2);
static bool wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(said, sizeof said, format, args);
    va_end(args);
    return false;
}

/* What the last operation came to. */
static bool as_expected(const breach *b, const char *what)
{
    const char *message = rec_error_message();
    rec_status status = rec_error_status();
    if (status != b->status) {
        return wrong("%s: %s instead of %s: %s", what, rec_status_name(status), rec_status_name(b->status), message);
    }
    if (status != REC_OK && !strstr(message, b->words)) {
        return wrong("%s: \"%s\" is not in \"%s\"", what, b->words, message);
    }
    if (status == REC_E_PLUGIN && !strstr(message, "the plugin Breach") && !strstr(message, "the codec BreachCodec")) {
        return wrong("%s: the plugin is not named in \"%s\"", what, message);
    }
    for (const char *c = message; *c; c++) {
        if ((unsigned char)*c < ' ' && *c != '\n') {
            return wrong("%s: a control character in \"%s\"", what, message);
        }
    }
    return true;
}

static rec_recorder *open_as(rec_context *context, char how, const char *name)
{
    const char *as = how == 'm'             ? "BreachMaps"
                     : how == 'e'           ? "BreachExact"
                     : strchr("cdCDw", how) ? "Breach.breachz"
                                            : "Breach";
    rec_recorder *recorder = rec_open_recorder_in(context, as, REC_PRECISION_KEEP);
    if (recorder && rec_recorder_set(recorder, strchr("cCw", how) ? "coding" : "breach", name) != REC_OK) {
        rec_close_recorder(recorder);
        recorder = NULL;
    }
    return recorder;
}

static bool load_so(rec_context *context, const breach *b, const char *path)
{
    rec_recorder *recorder = open_as(context, b->how, b->name);
    rec_record *record = NULL;
    bool good = recorder != NULL || wrong("%s", rec_error_message());
    for (int map = 0; good && map < 2; map++) {
        (void)rec_recorder_set(recorder, "map", map ? "yes" : "no");
        if (b->how == 'k') {
            rec_record_free(rec_load(recorder, path));
        }
        record = rec_load(recorder, path);
        good = as_expected(b, map ? "mapped" : "load");
        if (good && !record != !!b->words) {
            good = wrong("a record, or none");
        }
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
    return good;
}

/* The old file stays, and nothing is beside it. */
static bool is_as_it_was(const char *path, const char *in)
{
    char text[8] = "";
    FILE *file = fopen(path, "rb");
    DIR *open = opendir(in);
    unsigned count = 0;
    size_t read = file ? fread(text, 1, sizeof text, file) : 0;
    while (open && readdir(open)) {
        count++;
    }
    if (file) {
        (void)fclose(file);
    }
    if (open) {
        (void)closedir(open);
    }
    if (read != 3 || memcmp(text, "old", 3) != 0) {
        return wrong("the old file is gone");
    }
    return count == 3 || wrong("%u files are left", count - 2);
}

static char *example(void)
{
    const char *top = getenv("top_srcdir");
    char *path = NULL;
    return asprintf(&path, "%s/tests/data/burn/0.21.0/tiny-full.mpk", top ? top : ".") < 0 ? NULL : path;
}

static bool save_so(rec_context *context, const breach *b)
{
    rec_recorder *recorder = open_as(context, b->how, b->name);
    rec_recorder *right = open_as(context, 'l', "none");
    char *from = scratch_text(folder, "from.breach", "sixteen bytes in"), *in = scratch_folder(folder, "saves");
    char *path = scratch_text(folder,
                              b->how == 'e'                    ? "saves/x.breach-exact"
                              : b->how == 'C' || b->how == 'D' ? "saves/x.breach.breachz"
                                                               : "saves/x.breach",
                              "old");
    rec_record *record = rec_load(right, from);
    bool good = recorder && record && rec_recorder_set(recorder, "sync", "no") == REC_OK;
    void *data = NULL;
    uint64_t size = 0;
    if (!good) {
        good = wrong("%s", rec_error_message());
    } else {
        (void)rec_save(recorder, record, path);
        good = as_expected(b, "save");
    }
    if (good && b->words) {
        good = is_as_it_was(path, in);
    }
    if (good && !strstr(b->name, "beside") && !strstr(b->name, "part") && !strstr(b->name, "renam")) {
        (void)rec_save_bytes(recorder, record, &data, &size);
        good = as_expected(b, "save to memory") && (!data == !!b->words || wrong("data, or none"));
        rec_free(data);
    }
    (void)remove(path);
    free(path);
    free(in);
    free(from);
    rec_record_free(record);
    rec_close_recorder(right);
    rec_close_recorder(recorder);
    return good;
}

static bool open_so(rec_context *context, const breach *b)
{
    rec_recorder *recorder = open_as(context, 'l', "none");
    rec_record *record;
    char path[256];
    bool good;
    (void)snprintf(path, sizeof path, "breach://%s", b->name);
    record = rec_load(recorder, path);
    good = as_expected(b, "load") && (!record == !!b->words || wrong("a record, or none"));
    rec_record_free(record);
    rec_close_recorder(recorder);
    return good;
}

static bool probe_so(rec_context *context, const breach *b)
{
    const char *is;
    char *path = example(), *all = NULL;
    if (!path || asprintf(&all, "%s:%s", plugins, others) < 0) {
        return wrong("no memory");
    }
    (void)setenv("LIBRECORD_PLUGIN_PATH", all, 1);
    (void)setenv("BREACH_PROBE", b->name, 1);
    is = rec_recognise(context, path);
    (void)unsetenv("BREACH_PROBE");
    (void)setenv("LIBRECORD_PLUGIN_PATH", plugins, 1);
    free(all);
    free(path);
    return is && strcmp(is, "NamedMpk") == 0 ? true : wrong("%s: %s", is ? is : "nobody's", rec_error_message());
}

static bool run(const breach *b)
{
    rec_context *context = rec_context_new(NULL);
    char *path = scratch_text(folder, "x.breach", "sixteen bytes in");
    const breach right = {b->how, REC_OK, "none", NULL};
    bool good = context != NULL || wrong("%s", rec_error_message());
    if (good) {
        good = b->how == 'p'            ? probe_so(context, b)
               : b->how == 'o'          ? open_so(context, b)
               : strchr("seCD", b->how) ? save_so(context, b)
                                        : load_so(context, b, path);
    }
    if (good && strchr("lmcd", b->how)) {
        good = load_so(context, &right, path); /* and the next one is as if nothing had been */
    } else if (good && strchr("sCD", b->how)) {
        good = save_so(context, &right);
    }
    free(path);
    rec_context_free(context);
    return good;
}

/* ------------------------------------------------------------------------------------------------- all of them -- */

/* @return what it ended by: 0, or a status of exit, or -signal; `said` is what it said. */
static int run_apart(const breach *b)
{
    int ends[2], status = 0;
    size_t used = 0;
    ssize_t got;
    pid_t child;
    (void)fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("test_breach");
        exit(99);
    }
    if (child == 0) {
        bool good;
        (void)close(ends[0]);
        (void)alarm(600); /* a hang ends, and is a failure */
        good = run(b);
        if (!good && write(ends[1], said, strlen(said)) < 0) {
            perror("test_breach");
        }
        (void)close(ends[1]);
        exit(good ? 0 : 1);
    }
    (void)close(ends[1]);
    while (used < sizeof said - 1 && (got = read(ends[0], said + used, sizeof said - 1 - used)) > 0) {
        used += (size_t)got;
    }
    said[used] = '\0';
    (void)close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Compiles a plugin file. @param flags for the compiler. */
static bool build(const char *file, const char *flags)
{
    static const char *const files[] = {"breach", "breach_events", "breach_read", "breach_write", "breach_codec"};
    const char *compiler = getenv("CC"), *top = getenv("top_srcdir"), *sanitizers = getenv("SANITIZERS");
    char command[4096];
    int used;
    top = top ? top : ".";
    used = snprintf(command, sizeof command, "%s -std=c11 -D_GNU_SOURCE -g -fPIC -shared %s -I'%s/include' -o '%s/%s'",
                    compiler && *compiler ? compiler : "cc", flags, top, plugins, file);
    if (sanitizers && *sanitizers) {
        used += snprintf(command + used, sizeof command - (size_t)used, " -fsanitize=%s", sanitizers);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        used += snprintf(command + used, sizeof command - (size_t)used, " '%s/tests/plugins/%s.c'", top, files[i]);
    }
    return system(command) == 0;
}

int main(int argc, char **argv)
{
    bool together = argc > 1 && strcmp(argv[1], "--together") == 0;
    const char *only = argc > 1 && !together ? argv[1] : NULL;
    int failed = 0, count = 0;
    folder = scratch_new();
    plugins = scratch_folder(folder, "plugins");
    others = strdup(getenv("LIBRECORD_PLUGIN_PATH") ? getenv("LIBRECORD_PLUGIN_PATH") : "");
    (void)setenv("LIBRECORD_PLUGIN_PATH", plugins, 1);
    if (chdir(folder->path) != 0 || !build("breach.so", "") || !build("source-breach.so", "-DBREACH_SOURCE")) {
        printf("Bail out! the plugin cannot be built\n");
        return 99;
    }
    for (size_t i = 0; i < BREACHES; i++) {
        int ended;
        if (only && strcmp(only, breaches[i].name) != 0) {
            continue;
        }
        ended = together ? !run(&breaches[i]) : run_apart(&breaches[i]);
        count++;
        failed += ended != 0;
        printf("%sok %d - %c: %s\n", ended ? "not " : "", count, breaches[i].how, breaches[i].name);
        if (ended < 0) {
            printf("# it ended by signal %d\n", -ended);
        } else if (ended) {
            printf("# %s (%d)\n", said, ended);
        }
        said[0] = '\0';
    }
    printf("1..%d\n", count);
    (void)!chdir("/");
    free(plugins);
    free(others);
    scratch_free(folder);
    return failed ? 1 : 0;
}
