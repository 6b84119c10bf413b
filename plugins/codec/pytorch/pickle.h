/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Python's pickle (protocols 2 to 5) as data: a machine that makes nodes from torch.save()'s output. It runs no code:
 * callables are limited to a list of names that torch writes (globals.c), each of which is implemented here as plain
 * data; other names are rejected. Nodes, cells and memo are indices into arrays, so that memory is proportional to the
 * pickle. */
#ifndef LR_PICKLE_H
#define LR_PICKLE_H

#include <stdbool.h>

#include <librecord/plugin.h>

/* ------------------------------------------------------------------------------------------------------- nodes -- */

enum {
    LR_PT_NONE,
    LR_PT_BOOL,       /**< v.i */
    LR_PT_INT,        /**< v.i */
    LR_PT_UINT,       /**< v.u: beyond those */
    LR_PT_BIG,        /**< an integer of more than 64 bits: `length` bytes at v.u */
    LR_PT_FLOAT,      /**< v.f */
    LR_PT_STRING,     /**< UTF-8: `length` bytes at v.u */
    LR_PT_BYTES,      /**< `length` bytes at v.u; `mark` LR_PT_LATIN1: as UTF-8, of which each character is a byte */
    LR_PT_TUPLE,      /**< `length` cells from v.cells.first on */
    LR_PT_LIST,       /**< the same */
    LR_PT_DICT,       /**< the same: key, value, key, … */
    LR_PT_GLOBAL,     /**< `length`: its index in lr_pt_globals */
    LR_PT_STORAGE,    /**< v.u: index of a reference to a storage */
    LR_PT_TENSOR,     /**< v.u: index of a tensor */
    LR_PT_NUMPY_TYPE, /**< `length`: its index in lr_pt_types, LR_PT_TYPES: unknown; `mark`: the highest byte comes
                         first */
    LR_PT_ARRAY,      /**< v.u: index of an array of NumPy's */
    LR_PT_CLASS,      /**< v.u: index of a name outside of lr_pt_globals: no object is made */
    LR_PT_OBJECT      /**< as a list: what was called or given a state, then all that was given to it */
};
enum { LR_PT_LATIN1 = 1, LR_PT_OPEN = 2 /* being traversed: meeting it again is a cycle */ };

/** Anything that a pickle makes. */
typedef struct lr_pt_node {
    uint8_t kind; /**< LR_PT_… */
    uint8_t mark;
    uint16_t reserved;
    uint32_t length;
    union {
        int64_t i;
        uint64_t u;
        double f;
        struct {
            uint32_t first, last; /* index + 1; 0: none */
        } cells;
    } v;
} lr_pt_node;

/** Nodes that always exist; 0 is no node. */
enum { LR_PT_AT_NONE = 1, LR_PT_AT_TRUE = 2, LR_PT_AT_FALSE = 3 };

/** An item of a container. */
typedef struct lr_pt_cell {
    uint32_t node;
    uint32_t next; /**< index + 1; 0: none */
} lr_pt_cell;

/** A reference to a storage, as a tensor makes it. */
typedef struct lr_pt_reference {
    uint64_t count;   /**< elements of the storage */
    uint64_t skip;    /**< leading elements to skip (views of old files) */
    uint64_t part;    /**< elements of that part */
    uint32_t key;     /**< node: a string */
    uint32_t storage; /**< index, once it is known */
    uint32_t at;      /**< place in the pickle */
    uint8_t type;     /**< index in lr_pt_types */
} lr_pt_reference;

/** A tensor. */
typedef struct lr_pt_tensor {
    uint64_t offset;    /**< elements of its own type */
    uint32_t reference; /**< index */
    uint32_t dims;      /**< index of `rank` sizes, after which `rank` strides come */
    uint32_t at;        /**< place in the pickle */
    uint8_t rank;
    uint8_t type; /**< index in lr_pt_types */
} lr_pt_tensor;

/** An array of NumPy's. */
typedef struct lr_pt_ndarray {
    rec_source *source; /**< of its elements in a record's order, made on demand; retained */
    uint32_t bytes;     /**< node of its elements */
    uint32_t dims;      /**< index of `rank` sizes */
    uint32_t at;        /**< place in the pickle */
    uint8_t rank;
    uint8_t type; /**< index in lr_pt_types; LR_PT_TYPES: no record has such elements */
    bool fortran; /**< the first index changes fastest */
    bool swapped; /**< the highest byte comes first */
} lr_pt_ndarray;

/** A name that is not known. */
typedef struct lr_pt_class {
    uint32_t module, module_length; /**< place in the text */
    uint32_t name, name_length;
    uint32_t at; /**< place in the pickle, for messages */
} lr_pt_class;

/** An element type. */
typedef struct lr_pt_type {
    const char *name;    /**< "float32", as in torch.float32 */
    const char *storage; /**< "FloatStorage"; may be NULL */
    const char *code;    /**< NumPy's, "f4"; may be NULL */
    const char *opaque;  /**< what records call it that the library does not compute with, or NULL */
    rec_dtype dtype;
    uint8_t width; /**< bytes */
    uint8_t part;  /**< bytes that are swapped together: half of a complex number */
} lr_pt_type;
enum {
    LR_PT_UNTYPED = 0, /**< bytes, whose tensors say what they are */
    LR_PT_TYPES = 22
};
extern const lr_pt_type lr_pt_types[LR_PT_TYPES];

/* ----------------------------------------------------------------------------------------------------- globals -- */

/** What a global is. */
enum {
    LR_PT_G_DICT = 1, /**< OrderedDict and its like */
    LR_PT_G_DEFAULT_DICT,
    LR_PT_G_NUMPY_TYPE,
    LR_PT_G_NUMPY_SCALAR,
    LR_PT_G_NUMPY_ARRAY,  /**< numpy.ndarray: the class of one that is made */
    LR_PT_G_NUMPY_NEW,    /**< numpy.core.multiarray._reconstruct: an array that is given its state afterwards */
    LR_PT_G_NUMPY_BUFFER, /**< numpy.core.numeric._frombuffer: a whole array, in protocol 5 */
    LR_PT_G_TENSOR,       /**< torch.Tensor, Parameter: the type of one that is rebuilt */
    LR_PT_G_REBUILD,      /**< torch._utils._rebuild_tensor */
    LR_PT_G_REBUILD_V2,
    LR_PT_G_REBUILD_V3,
    LR_PT_G_PARAMETER, /**< torch._utils._rebuild_parameter, with state or without */
    LR_PT_G_FROM_TYPE, /**< torch._tensor._rebuild_from_type_v2 */
    LR_PT_G_SIZE,
    LR_PT_G_DEVICE,
    LR_PT_G_LAYOUT,
    LR_PT_G_ENCODE, /**< _codecs.encode: bytes in protocol 2 */
    LR_PT_G_BYTES,
    LR_PT_G_SET,
    LR_PT_G_COMPLEX,
    LR_PT_G_DTYPE,   /**< `type`: index in lr_pt_types */
    LR_PT_G_STORAGE, /**< `type` */
    LR_PT_G_REFUSED  /**< torch's own, but what it makes is no plain tensor: `words` */
};
typedef struct lr_pt_global {
    const char *module, *name;
    const char *words;
    uint8_t kind; /**< LR_PT_G_… */
    uint8_t type;
} lr_pt_global;

/* ----------------------------------------------------------------------------------------------------- machine -- */

typedef struct lr_pt_array {
    void *data;
    uint64_t count, room;
} lr_pt_array;

/** A pickle that is read, or several that belong together. */
typedef struct lr_pickle {
    rec_job *job;
    const uint8_t *text;
    uint64_t size;  /**< of the text, less than 2^32 - 1 */
    uint64_t begin; /**< where the text is in the file, for messages; REC_UNKNOWN: nowhere */
    uint64_t at;    /**< the next byte */
    uint64_t op;    /**< the operation that is carried out */
    uint8_t width;  /**< of the number that follows it, or how many items it takes */
    uint8_t kind;   /**< of the node that it makes or changes */
    lr_pt_array nodes, cells, stack, marks, memo;
    lr_pt_array references, tensors, arrays, dims, classes;
    uint64_t memo_next;
    uint32_t small[256]; /**< the nodes of integers that were met; 0: none yet */
    bool legacy;         /**< its storages are those of the stream before zip */
} lr_pickle;

/** Begins. To be closed, also after a failure. @param text borrowed for as long. */
int32_t lr_pickle_open(lr_pickle *p, rec_job *job, const uint8_t *text, uint64_t size, uint64_t begin);
void lr_pickle_close(lr_pickle *p);
/** Runs from `at` to the end of a pickle. @param root (out) the node it makes. */
int32_t lr_pickle_run(lr_pickle *p, uint32_t *root);

static inline lr_pt_node *lr_pickle_node(const lr_pickle *p, uint32_t index)
{
    return (lr_pt_node *)p->nodes.data + index;
}
static inline const lr_pt_cell *lr_pickle_cell(const lr_pickle *p, uint32_t index)
{
    return (const lr_pt_cell *)p->cells.data + (index - 1);
}
/** The text of a string or bytes. */
static inline const char *lr_pickle_text(const lr_pickle *p, const lr_pt_node *node)
{
    return (const char *)p->text + node->v.u;
}
/** Place in the file of a place in the text. */
static inline uint64_t lr_pickle_place(const lr_pickle *p, uint64_t at)
{
    return p->begin == REC_UNKNOWN ? at : p->begin + at;
}
/** "a list", for messages. */
const char *lr_pickle_words(const lr_pt_node *node);
/** How many bytes a node of bytes stands for, and these. */
uint64_t lr_pickle_byte_count(const lr_pickle *p, const lr_pt_node *node);
void lr_pickle_bytes(const lr_pickle *p, const lr_pt_node *node, uint8_t *target);
/** Whether a string is this one. */
bool lr_pickle_is(const lr_pickle *p, const lr_pt_node *node, const char *text);
/** The text of a key that is a string or a number. @param digits room for a number. @return NULL: it is something else.
 */
const char *lr_pickle_key_text(const lr_pickle *p, const lr_pt_node *key, char digits[24], uint64_t *length);
/** Returns the value of a key in a dictionary; of duplicates the last, as in Python. 0: not found. */
uint32_t lr_pickle_look_up(const lr_pickle *p, const lr_pt_node *dict, const char *name, uint64_t length);

/* -------------------------------------------------------------------- between machine (pickle.c) and globals.c -- */

/** Refuses what the pickle would do, at the operation that is carried out. */
int32_t lr_pickle_fail(lr_pickle *p, const char *format, ...) REC_PRINTF(2, 3);
/** Grows an array to one element more. @return that, NULL with the failure reported. */
void *lr_pickle_grow(lr_pickle *p, lr_pt_array *array, uint64_t width);
/** A new node. @return its index, 0 with the failure reported. */
uint32_t lr_pickle_new(lr_pickle *p, uint8_t kind);
/** Keeps `thing`, of `width` bytes, as an element of an array. @param node (out) the node of `kind` that stands for it.
 */
int32_t lr_pickle_keep(lr_pickle *p, lr_pt_array *array, const void *thing, uint64_t width, uint8_t kind,
                       uint32_t *node);
/** Puts one item at the end of a container. */
int32_t lr_pickle_append(lr_pickle *p, uint32_t container, uint32_t item);
/** The items of a container, at most `most`. @return how many it has. */
uint64_t lr_pickle_items(const lr_pickle *p, const lr_pt_node *node, uint32_t *items, uint64_t most);
/** Resolves `module`.`name`. Unknown names become a class without objects. @param subclass it is given as the type of a
 * tensor. */
int32_t lr_pickle_global(lr_pickle *p, const char *module, uint64_t module_length, const char *name, uint64_t length,
                         bool subclass, uint32_t *node);
/** What `callable` makes of the tuple `arguments`. */
int32_t lr_pickle_call(lr_pickle *p, uint32_t callable, uint32_t arguments, uint32_t *node);
/** Fails because a node is, or was made by, a name that is not known. */
int32_t lr_pickle_refuse(lr_pickle *p, const lr_pt_node *node);
/** An element type of NumPy's by its code, "f8" (array.c). */
int32_t lr_pickle_numpy_type(lr_pickle *p, uint32_t code, uint32_t *node);
/** Takes the order of bytes out of its state. */
void lr_pickle_numpy_order(lr_pickle *p, uint32_t type, const lr_pt_node *state);
/** A number of an element type and its bytes. */
int32_t lr_pickle_numpy_scalar(lr_pickle *p, uint32_t type, uint32_t bytes, uint32_t *node);
/** What an array of NumPy's is made of: nodes. */
typedef struct lr_pickle_parts {
    uint32_t bytes, type, shape;
    bool fortran; /**< the first index changes fastest */
} lr_pickle_parts;

/* array.c */

/** An array without elements: it is given its parts by lr_pickle_array_set(). */
int32_t lr_pickle_array_new(lr_pickle *p, uint32_t *node);
int32_t lr_pickle_array_set(lr_pickle *p, uint32_t array, const lr_pickle_parts *parts);
/** Takes the parts out of the state of an array: (version, sizes, type, order, bytes). */
int32_t lr_pickle_array_build(lr_pickle *p, uint32_t array, uint32_t state);
/** Whether a node is a tensor or an array whose elements a record may have. */
bool lr_pickle_has_elements(const lr_pickle *p, const lr_pt_node *node);
/** The place of such a node in the file. */
uint64_t lr_pickle_element_place(const lr_pickle *p, const lr_pt_node *node);
/** Makes the event of an array with elements. */
int32_t lr_pickle_array_event(const lr_pickle *p, const lr_pt_node *node, rec_tensor_event *event);
/** Releases the sources of arrays. */
void lr_pickle_arrays_close(lr_pickle *p);
/** What a persistent id means. */
int32_t lr_pickle_persistent(lr_pickle *p, uint32_t id, uint32_t *node);
/** Gives an object its state. */
int32_t lr_pickle_build(lr_pickle *p, uint32_t object, uint32_t state);
/** The name of a global, "torch.float32", cut to `room`. @return its length. */
uint64_t lr_pickle_global_name(const lr_pt_node *node, char *name, uint64_t room);
/** Whether a node is the global of that kind. */
bool lr_pickle_is_global(const lr_pickle *p, uint32_t node, uint8_t kind);

#endif
