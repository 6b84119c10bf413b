/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The record in memory: tree, paths, tensors and element types; the editing and binding functions are public. This
 * room knows no file layouts and no versions of Burn, and only stores them. Ownership: a record owns its whole tree.
 * Structure (names, shapes, scalars) is in the record's arena and is freed with it. Bytes belong to reference-counted
 * sources, so that copied tensors share them and either record may be freed first. Values have 16 bytes and are stored
 * in the array of their list or map: editing a container moves them. */
#ifndef LR_RECORD_H
#define LR_RECORD_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/little.h"
#include "core/base/base.h"

/* -------------------------------------------------------------------------------------------------------- tree -- */

typedef struct lr_list {
    uint64_t count, room;
    struct rec_value *items;
} lr_list;

/** `entries` may have holes between lr_map_remove() and lr_map_settle(), or lr_record_settle() for all maps of a
 * record: settle a map that may have been edited before reading its array. */
typedef struct lr_map {
    uint64_t count, room;
    struct lr_entry *entries;
    struct lr_index *index; /**< of large maps, else NULL: map.c */
} lr_map;

typedef struct lr_variant lr_variant;

/** Bytes that are somewhere. `source` is counted, NULL if the bytes are in the record's arena. */
typedef struct lr_data {
    struct lr_data *next; /**< in the record's list of what holds a source */
    const uint8_t *data;  /**< NULL: not read yet, at `offset` of the source */
    uint64_t size;
    uint64_t offset; /**< place in the file, for listings; REC_UNKNOWN if it has none */
    rec_source *source;
} lr_data;

/** Packed numbers, little-endian. Integers are as narrow as their values allow. */
typedef struct lr_packed {
    uint64_t count;
    rec_dtype dtype; /**< i8…u64, f32, f64, bool */
    int32_t form;
    uint64_t
        nils; /**< elements of an f64 run that are lr_float_nil(): null in a list of floats; 0 in a finished record */
    lr_data data;
} lr_packed;

struct rec_value {
    uint8_t kind;    /**< REC_KIND_… */
    uint8_t form;    /**< REC_FORM_… */
    uint16_t bits;   /**< width of a number, 0 if unknown; of a list of metadata: what it is of, REC_DTYPE_… or LR_OF_…,
                        0: its elements tell; of a map: which of Burn's modules an import took it for, and
                        that   it is written as (lr_modules.number), 0: none */
    uint32_t length; /**< of a string; of a map that setters made of indices in paths, which becomes a list once all are
                        there: one after the largest; of a list that setters made of such, and may make a map of again:
                        1; else 0 */
    union {
        int64_t i; /* int, bool */
        uint64_t u;
        double f;
        const char *text; /* NUL-terminated */
        lr_data *bytes;
        lr_list *list;
        lr_map *map;
        lr_variant *variant;
        lr_packed *run;
        rec_tensor *tensor;
    } v;
};

typedef struct lr_entry {
    rec_value key, value;
} lr_entry;

/** The form of a key whose value is not from a file: a typed load assumed it. Binding takes it for missing. */
enum { LR_KEY_ASSUMED = 1 };
/** The entry that a value of a map is in. */
static inline lr_entry *lr_entry_of(rec_value *value)
{
    return (lr_entry *)(void *)((char *)value - offsetof(lr_entry, value));
}

struct lr_variant {
    uint64_t index;
    rec_value name;
    rec_value payload;
    bool has_payload;
};

/** A typed copy that was made for a tensor (or its deferred bytes: dtype NONE), kept until the record is freed. */
typedef struct lr_view {
    struct lr_view *next;
    rec_dtype dtype;
    lr_pages pages;
    void *data; /**< aligned to 64 */
} lr_view;

/** What a scheme says of a tensor that it claims. Lives in the record's arena. */
typedef struct lr_scheme {
    const char *label;       /**< "FP8 E4M3, 128x128 blocks" */
    const char *cut, *end;   /**< the logical tensor's name has `end` where the tensor's has `cut`; both may be empty */
    const char *unsupported; /**< why it cannot be decoded, or NULL */
    uint32_t parts;          /**< that it is made of, this tensor included */
} lr_scheme;

/** The part of a tensor that only few have: encoded tensors, and tensors that a scheme claims. */
typedef struct lr_encoding {
    const rec_value *words;     /**< of qfloat and opaque: the file's own words of the element type, else NULL */
    struct rec_tensor *numbers; /**< the decoded tensor of a scheme, computed on demand, with the same id; NULL: no
                                   scheme decodes it */
    const lr_scheme *scheme;    /**< what claimed it, or NULL */
} lr_encoding;

/** There may be millions: each is as small as it can be. */
struct rec_tensor {
    rec_record *record; /**< it belongs to */
    lr_data *data;
    const uint64_t *shape;
    const char *id; /**< NULL for none */
    uint64_t count;
    _Atomic(lr_view *) views;
    lr_encoding *encoding; /**< in the record's arena; NULL: plain numbers. Read by lr_encoding_of() */
    uint8_t rank;
    uint8_t packed; /**< element type of the bytes: `stored`, or a narrower integer type that holds all values (V1) */
    uint8_t stored; /**< element type in the file */
    uint8_t dtype;  /**< element type at the record's precision */
    uint8_t turned; /**< REC_TRANSPOSED_…, of a foreign file whose reader knows it */
    bool assumed : 1;
    bool
        anonymous : 1; /**< a parameter whose id is unknown, as its file has no ids; written, it gets one of its path */
    bool id_made : 1;  /**< librecord made the id: no file has it */
    bool part : 1;     /**< of a logical tensor whose first part is another one */
};

extern const lr_encoding lr_no_encoding;
static inline const lr_encoding *lr_encoding_of(const rec_tensor *tensor)
{
    return tensor->encoding ? tensor->encoding : &lr_no_encoding;
}
/** @return its encoding to be filled in; NULL: out of memory. */
lr_encoding *lr_encoding_make(rec_tensor *tensor);

/** Whether a tensor is a parameter of a module: Burn stores {id, param} of it, and else the tensor itself. */
static inline bool lr_tensor_is_parameter(const rec_tensor *tensor)
{
    return tensor->id || tensor->anonymous;
}

typedef struct lr_metadata_text lr_metadata_text;

struct rec_record {
    rec_context *context;
    lr_arena arena;
    lr_arena flat_arena; /**< of the keys and entries of a flat map that was read: no longer needed once it is a tree */
    rec_value root;
    lr_map metadata;         /**< keys are strings */
    lr_metadata_text *texts; /**< text forms of other values that were requested (metadata.c) */
    const char **text_of;    /**< by entry, NULL: not requested */
    uint64_t text_room;      /**< entries of text_of */
    lr_data *held;           /**< all data that holds a source */
    rec_origin origin;
    rec_precision precision; /**< it was loaded at, which its tensors have; KEEP or DEFAULT: each its own */
    int32_t burn_minor;      /**< 0.MINOR of the Burn that wrote it, -1 if unknown or built here */
    int32_t format_minor;    /**< 0.MINOR of the Burn whose format it was read from, 0 if built here */
    bool clamp;              /**< typed access clamps integers */
    bool typed;              /**< it came from data without names, and was read by its type */
    lr_map **edited;         /**< maps that may have holes: lr_record_settle() */
    uint64_t edited_count, edited_room;
    int32_t adapter;          /**< LR_FILE_… of the file that it came from, where its names came as paths */
    const char *adapter_name; /**< of LR_FILE_FOREIGN: its name; NULL: "foreign" */
    const char *settings;     /**< of config.json, for schemes: pairs of path and value, each with its NUL */
    uint64_t settings_size;
    bool flat;            /**< root of REC_FORM_PATHS: its keys are whole paths, escaped; else it is a tree of names */
    bool states;          /**< it came as the state of an optimizer or scheduler of Burn 0.22 or later */
    bool dotted;          /**< its names came as paths, in Burn's layout: what is no tensor, its type alone can tell */
    bool hollow;          /**< a plan made it and mapped none of the tensors of its sources: it replaces no file */
    pthread_mutex_t lock; /**< of typed access */
};

#define LR_RANK_MOST 32

/* Nothing below reports: NULL or false means that the arena refused; the caller knows its job. */

rec_record *lr_record_new(rec_context *context);
/** Stores a copy of settings. */
bool lr_record_set_settings(rec_record *record, const char *texts, uint64_t size);

rec_value lr_nil(int32_t form);
/** A string in the arena (well-known names are shared and take nothing). @return false out of memory. */
bool lr_string(lr_arena *arena, const char *text, uint64_t length, rec_value *value);
bool lr_from_scalar(lr_arena *arena, const rec_scalar *scalar, rec_value *value);
rec_scalar lr_to_scalar(const rec_value *value);
/** The text of a key: keys of the same text are the same, whether they are strings, integers or bools, since paths and
 *  programs know them by their text. @param digits room for it. @return a text in `digits` or of the key's. */
enum { LR_KEY_DIGITS = 24 };
const char *lr_key_text(const rec_scalar *key, char digits[LR_KEY_DIGITS], uint64_t *length);
const char *lr_index_text(uint64_t index, char digits[LR_KEY_DIGITS], uint64_t *length);
bool lr_scalar_equal(const rec_value *key, const rec_scalar *scalar);

lr_list *lr_list_new(lr_arena *arena, uint64_t room);
rec_value *lr_list_append(lr_arena *arena, lr_list *list); /**< a nil to be filled in */
lr_map *lr_map_new(lr_arena *arena, uint64_t room);
/** @return the entry of a key, or NULL. */
lr_entry *lr_map_find(const lr_map *map, const rec_scalar *key);
lr_entry *lr_map_find_text(const lr_map *map, const char *text, uint64_t length);
/** Appends without looking for the key; the index follows. */
lr_entry *lr_map_append(lr_arena *arena, lr_map *map, rec_value key);
/** (Re)builds the index of a map whose entries were filled in. @param twice (out) an entry whose key came before, or
 *  NULL. */
bool lr_map_index(lr_arena *arena, lr_map *map, lr_entry **twice);
/** Takes an entry of the map out, in constant time on the average. It is an edit: pointers to the map's values are
 * void. */
void lr_map_remove(rec_record *record, lr_map *map, lr_entry *entry);
/** Gives an entry another key, which the map lacks, in its place. */
void lr_map_rename(lr_map *map, lr_entry *entry, rec_value key);
/** How many entries there are, also if there are holes. */
uint64_t lr_map_count(const lr_map *map);
/** Makes `entries` and `count` of a map good to be read; of all maps of a record. Values that were handed out stay
 * where they are. May be called by several threads. */
void lr_map_settle(const lr_map *map);
void lr_record_settle(const rec_record *record);
/** Fails if a mapped file that its bytes lie in was cut. @param sizes_too as in lr_watch_check(). */
int32_t lr_record_check_whole(rec_job *job, const rec_record *record, bool sizes_too);

/** Writes JSON into a buffer. Text that does not fit is counted and dropped; there is room for a NUL. */
typedef struct lr_json_line {
    char *text;
    uint64_t room, used;
    bool exact; /**< floats have all digits, and those of 32 bits end in f */
} lr_json_line;
void lr_line_word(lr_json_line *json, const char *word);
/** A string in its quotes, escaped. */
void lr_line_string(lr_json_line *json, const char *text, uint64_t length);
void lr_line_value(lr_json_line *json, const rec_value *value);
/** A value as a line of JSON, for those who want text: NaN and infinities are null. NUL-terminated if it fits.
 *  @return its length, whatever `room` is. */
uint64_t lr_value_json(const rec_value *value, char *text, uint64_t room);

/** What a list is of that is not of numbers. */
enum { LR_OF_TEXTS = 0x100, LR_OF_LISTS = 0x101 };
/** By its word, "u8", "str", "list"; 0: unknown. */
uint16_t lr_list_of(const char *word);
/** The word of it, NULL for 0. */
const char *lr_list_of_word(uint16_t of);
/** Reads all of a text as JSON. @return REC_E_FORMAT, REC_E_MEMORY. */
int32_t lr_value_read_json(rec_record *record, const char *text, uint64_t length, rec_value *value);
/** The same of an exact lr_json_line of at most `depth` levels. */
int32_t lr_value_read_exact(rec_record *record, const char *text, uint64_t length, unsigned depth, rec_value *value);
/** Reads a list of numbers and bools without white space after it. @return REC_E_FORMAT: it is another one, or empty.
 */
int32_t lr_value_read_words(const char *text, uint64_t length, int32_t (*take)(void *self, rec_value *item),
                            void *self);
/** Whether JSON has a value's kinds: keys are texts, and there are no variants. */
bool lr_value_is_json(const rec_value *value);
/** Whether a value does not come back from a format without types: as one of JSON's kinds. @param texts the format has
 *  texts alone. */
bool lr_value_needs_type(const rec_value *value, bool texts);
/** Writes its type as JSON, a word or a map (value_type.c). */
void lr_value_put_type(lr_json_line *line, const rec_value *value);
/** Gives a value of JSON's kinds, or its text, that type. @return REC_E_FORMAT: it is no value of this type. */
int32_t lr_value_apply_type(rec_record *record, rec_value *value, const rec_value *type);
/** The entry for what Burn's store says of its files, where `format` and `version` are the recorder's: both, with a
 * blank between. */
#define LR_METADATA_STORE "librecord.store"
/** The entry with the types of the others, where the format has no such types: a map in JSON. */
#define LR_METADATA_TYPES "librecord.types"
/** Applies and removes that entry. @param at of messages. */
int32_t lr_metadata_apply_types(rec_job *job, rec_record *record);

/** Frees what rec_metadata() made. */
void lr_metadata_free_texts(rec_record *record);
/** @return whether a metadata key is one of the five by which a record of Burn says how it is written. */
bool lr_metadata_is_burns(const char *key);
/** The entry in which an import leaves what the way back needs: lines of a word and a value. Of a record of Burn. */
#define LR_METADATA_IMPORT "librecord.import"
/** @return whether a record is a model of another program's, in its own layout: its metadata say nothing of Burn. */
bool lr_record_is_foreign(const rec_record *record);

/** Data in the arena or lent; the latter takes a count and joins the record's list. */
lr_data *lr_data_copy(rec_record *record, const void *bytes, uint64_t size);
lr_data *lr_data_lent(rec_record *record, rec_source *source, const void *bytes, uint64_t size, uint64_t offset);
/** The bytes where they are in memory already: from the beginning, or since the whole file was read. */
const uint8_t *lr_data_at_hand(const lr_data *data);
/** The same bytes for another record. */
lr_data *lr_data_share(rec_record *record, const lr_data *data);
/** Lets go of the bytes: they cannot be had any more (lr_source_absent). */
int32_t lr_data_drop(rec_job *job, rec_record *record, lr_data *data);
/** Joins the record's list (data that is part of another struct). */
void lr_data_hold(rec_record *record, lr_data *data);

/** A deep copy into `record`'s arena. @return false out of memory: `to` is a nil then. */
bool lr_value_copy(rec_record *record, const rec_value *from, rec_value *to);

/** Reads a run's number. */
rec_scalar lr_packed_number(const lr_packed *run, uint64_t index);

/** "a list", "a tensor": for messages. */
const char *lr_kind_words(int32_t kind);
/** Nil, and lists of nothing but nil: what constants look like in any version of Burn. */
bool lr_value_is_nothing(const rec_value *value);
/** Counts the tensors in a value of which a function is true. @param counts called once for each; NULL: all count. */
uint64_t lr_value_tensors(const rec_value *value, bool (*counts)(rec_tensor *tensor));
/** The variant that a value may be: itself, or as a map of one entry, or its name alone. @param payload (out) NULL:
 * none.
 *  @return the name; no string if the value cannot be a variant. */
const rec_value *lr_value_variant(const rec_value *value, const rec_value **payload);

/* ------------------------------------------------------------------------------------------------------- paths -- */

/* One grammar everywhere: names joined by dots, in which a dot is \. and a backslash \\; any other backslash stands for
 * itself. Names may be empty, so that `a..b`, `.a` and `a.` are paths too. */

/** Appends a name to a path of `used` bytes in a buffer, escaped, with a dot before it unless it is the `first`.
 *  @return new used, which may exceed `room` (the text is cut then). */
size_t lr_path_append(char *path, size_t room, size_t used, bool first, const char *name, uint64_t length);
size_t lr_path_append_key(char *path, size_t room, size_t used, bool first, const rec_value *key);
size_t lr_path_append_index(char *path, size_t room, size_t used, bool first, uint64_t index);
/** @return the dot that ends the name which begins at `part`; NULL: it is the last. */
const char *lr_path_dot(const char *part, const char *end);
/** @return where the last name of a path begins. */
const char *lr_path_last(const char *path, uint64_t length);
/** Writes a path as all are written: backslashes that stand for themselves are escaped. @param target room for twice
 *  `length`. @return its length. */
uint64_t lr_path_plain(const char *path, uint64_t length, char *target);
/** Unescapes a name; a path without escapes is copied unchanged. @param name has room for `length` bytes; may be
 * `part`. @return its length. */
uint64_t lr_path_name(const char *part, uint64_t length, char *name);
/** Returns the child of a value by one unescaped path part, or NULL. */
rec_value *lr_child(const rec_value *value, const char *part, uint64_t length);
/** Splits the first part off a path: unescapes it into `part` (room >= strlen(path) + 1). @return the rest, NULL if
 *  that was the last part. */
const char *lr_path_split(const char *path, char *part, uint64_t *length);
/** Returns the value at a path, or NULL. */
rec_value *lr_at(const rec_record *record, const char *path);
/** @return true if `text` is a list index in its plain decimal form. */
bool lr_path_index(const char *text, uint64_t length, uint64_t *index);
/** Reports on `job` that nothing is at `path`, with the nearest keys as a hint. */
int32_t lr_fail_no_key(rec_job *job, const rec_record *record, const char *path);

/* ----------------------------------------------------------------------------------------------------- tensors -- */

/** Element type a tensor has at a precision; see lr_dtype_at. One that has numbers becomes these, unless it is kept. */
void lr_tensor_set_precision(rec_tensor *tensor, rec_precision precision);
/** A tensor of that shape, of which a copy is made, and element type; without data. NULL: out of memory. */
rec_tensor *lr_tensor_new(rec_record *record, rec_dtype dtype, const uint64_t *shape, uint32_t rank);
/** Whether a precision changes what is stored: not KEEP, not DEFAULT. */
static inline bool lr_precision_changes(rec_precision precision)
{
    return precision >= REC_PRECISION_DOUBLE && precision <= REC_PRECISION_HALF;
}
void lr_tensor_free_views(rec_tensor *tensor);
/** Those of all tensors in a value: they are not in the arena, whatever happens to the value. */
void lr_value_free_views(rec_value *value);
/** Copies the description of a scheme to a tensor that has the bytes of another one. @return false: out of memory. */
bool lr_tensor_copy_scheme(rec_tensor *to, const rec_tensor *from);
/** As rec_tensor_f32() and its kin, within a job. NULL: the job has failed. */
const void *lr_tensor_typed(rec_job *job, const rec_tensor *tensor, rec_dtype dtype);
/** What lr_tensor_convert counted, for the report. */
typedef struct lr_losses {
    uint64_t overflowed, clamped;
    bool part; /**< the tensor was converted in part */
} lr_losses;
/** Elements [first, first + count) at `dtype`, after the tensor's own precision, host byte order. Adds to `losses`.
 *  @param path where it is, for messages; NULL: to be found. */
int32_t lr_tensor_convert(rec_job *job, const rec_tensor *tensor, const char *path, rec_dtype dtype, bool clamp,
                          uint64_t first, uint64_t count, void *target, lr_losses *losses);
/** Describes `count` values that a conversion to `dtype` changed. @param kind REC_NOTE_OVERFLOW, REC_NOTE_CLAMPED. */
void lr_loss_text(int32_t kind, rec_dtype dtype, uint64_t count, char *text, size_t room);
/** Reports what was lost. */
void lr_note_losses(rec_job *job, const char *path, rec_dtype dtype, const lr_losses *losses);
/** Finds the path of a tensor in its record, for messages; "" if it is not in it. @param path room bytes. */
void lr_tensor_path(const rec_tensor *tensor, char *path, size_t room);
/** Bytes of `count` elements of `dtype`. @return false on overflow or if the dtype has no size. */
bool lr_tensor_size(rec_dtype dtype, uint64_t count, uint64_t *size);
/** "[2, 3]", for messages; what does not fit is cut. @return text. */
char *lr_shape_words(char *text, size_t room, const uint64_t *shape, uint64_t rank);
/** REC_E_FORMAT: a tensor of that shape has not as many bytes of data as it should. */
int32_t lr_fail_data(rec_job *job, uint64_t at, rec_dtype dtype, const uint64_t *shape, uint32_t rank, uint64_t found);
/** Product of a shape. @return false on overflow. */
bool lr_shape_count(const uint64_t *shape, uint32_t rank, uint64_t *count);

/* ----------------------------------------------------------------------------------------------- element types -- */

/** What happened on the way. */
typedef struct lr_converted {
    uint64_t overflowed; /**< finite floats that became infinite */
    uint64_t clamped;    /**< integers that were clamped */
    uint64_t bad;        /**< LR_CONVERT_RANGE: index of the first integer that does not fit */
    rec_scalar value;    /**< and its value */
} lr_converted;

enum { LR_CONVERT_OK = 0, LR_CONVERT_RANGE = 1, LR_CONVERT_REFUSED = 2 };

/** @return whether elements of one type become another: floats floats, ints ints, bools bools. */
bool lr_convertible(rec_dtype from, rec_dtype to);

/**
 * Converts `count` elements. Floats: to nearest even, in one rounding (Burn rounds f64 to f16 twice, by way of f32);
 * overflow gives infinity; a NaN stays one, quiet, with its sign and upper payload. Ints: must fit, or are clamped.
 * Bools: not zero is 1. A type to itself: a copy. The processor must round to nearest, as it does unless told
 * otherwise. Adds to the counters of `result` and overwrites the rest on failure.
 * @param from_data little-endian, any alignment. @param to_data host byte order, any alignment; may not overlap. */
int lr_convert(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
               lr_converted *result);
/** One element. @param data little-endian, any alignment. @return it as a scalar with its width (a bool has
 *  none); kind REC_KIND_NIL for types whose elements have no size. */
rec_scalar lr_element(rec_dtype dtype, const void *data);
/** The same of host byte order. */
rec_scalar lr_host_element(rec_dtype dtype, const void *data);

/** The limits of an integer type, for messages. @return false for other types. */
bool lr_int_limits(rec_dtype dtype, int64_t *minimum, uint64_t *maximum);

/** Between little-endian and host byte order, in place: nothing on a little-endian machine. */
static inline void lr_swap_if_big(void *data, uint32_t width, uint64_t count)
{
    lr_to_little(data, width, width * count);
}

/** Kinds of element types. */
bool lr_dtype_is_float(rec_dtype dtype); /**< f64 f32 flex32 f16 bf16 */
bool lr_dtype_is_int(rec_dtype dtype);   /**< signed and unsigned integers */
bool lr_dtype_is_bool(rec_dtype dtype);
/** @return REC_FIELD_INTS, _BOOLS or, also of types that are neither, _FLOATS. */
int32_t lr_elements_of(rec_dtype dtype);
/** "integers". */
const char *lr_elements_words(int32_t elements);
/** What a tensor of `dtype` becomes at a precision (not DEFAULT). */
rec_dtype lr_dtype_at(rec_dtype dtype, rec_precision precision);

/* ---------------------------------------------------------------------------------------------- packed numbers -- */

/* Runs of numbers being read: packed as they come, integers as narrow as their values allow, so that a list of millions
 * takes no more memory than its file. */

/** A run that grows; one per builder, its memory is used again. */
typedef struct lr_runner {
    lr_pages pages;
    uint64_t taken; /**< of the budget */
    uint64_t count;
    uint64_t nils;     /**< of them */
    uint64_t expected; /**< elements that were announced, or 0 */
    rec_dtype dtype;   /**< NONE while empty */
} lr_runner;

/**
 * Appends a chunk. @param data host byte order, any alignment.
 * @return 1 done, 0 the chunk cannot join this run (other kind of number), -1 the job has failed. */
int lr_runner_add(rec_job *job, lr_runner *runner, rec_dtype dtype, const void *data, uint64_t count);
/** Appends a nil, which only a run of f64 can hold; as lr_runner_add(). */
int lr_runner_add_nil(rec_job *job, lr_runner *runner);
/** Whether a number of an f64 run stands for nil. */
bool lr_float_nil(double number);
/** Ends the run: its numbers become a run of the record. NULL: the job has failed. The runner is empty again. */
lr_packed *lr_runner_take(rec_job *job, lr_runner *runner, rec_record *record, int32_t form);
/** Number `index` of the unfinished run. */
rec_scalar lr_runner_number(const lr_runner *runner, uint64_t index);
void lr_runner_clear(lr_runner *runner);
void lr_runner_free(rec_job *job, lr_runner *runner);

/* --------------------------------------------------------------------------------------------------------- ids -- */

enum { LR_ID_ROOM = 16, LR_ID_CURRENT = 13 /**< characters of an id since 0.15 */ };
/** The longest id that is believed to be one, in bytes. */
enum { LR_ID_MOST = 256 };
/** @return what keeps a text from being an id, "is empty", "has a control character"; NULL if it is one. */
const char *lr_id_fault(const char *text, uint64_t length);
/** Base32 of bytes in Burn's alphabet (DNSSEC's), without padding. @param text room for (count * 8 + 4) / 5 + 1. */
void lr_id_base32(const uint8_t *bytes, size_t count, char *text);
/** Returns in `bytes` the 64 bits that Burn 0.15 and later have of an id: of one of theirs (13 characters) its own, of
 * one of 0.14 (10) its six bytes and two zeros, of a UUID the first eight bytes. @return false if it has another form.
 */
bool lr_id_bytes(const char *id, uint8_t bytes[8]);
/** The eight bytes of the id that a parameter gets which came without one: a hash of its path (names and indices joined
 *  by dots), so that the same conversion gives the same bytes. */
void lr_id_of_path(const char *path, size_t length, uint8_t bytes[8]);

/* ----------------------------------------------------------------------------------------------------- C types -- */

/** Field `index` of a type, whatever the size of the caller's rec_field. */
static inline const rec_field *lr_c_field(const rec_type *type, uint64_t index)
{
    return (const rec_field *)(const void *)((const char *)type->fields + index * type->field_size);
}

#endif
