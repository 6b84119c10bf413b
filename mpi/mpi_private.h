/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of librecord-mpi share. */
#ifndef LR_MPI_PRIVATE_H
#define LR_MPI_PRIVATE_H

#include <stdbool.h>

#define REC_NO_SHORT_NAMES
#include <librecord/mpi.h>
#include <librecord/parallel.h>

/** Bytes of a message as it travels, and of the words that ranks compare. */
enum { LR_MPI_MESSAGE = 4096, LR_MPI_WORDS = 1024 };

/** The name of this rank's host. @return host. */
const char *lr_mpi_host(char host[MPI_MAX_PROCESSOR_NAME]);
/** The ranks that do something together, and what each does while it waits for the others. */
typedef struct lr_mpi_group {
    MPI_Comm comm;
    /** Called on every rank at the beginning of each agreement, and returns when all ranks have called it. @param
     * message of a failure of this rank, `room` bytes; changed with the status if there is another one. @return the
     * status. NULL: nothing to do. */
    rec_status (*meet)(void *user, rec_status status, char *message, size_t room);
    void *user;
} lr_mpi_group;
/** rec_mpi_agree() of these ranks. */
rec_status lr_mpi_agree(const lr_mpi_group *group, rec_status status, const char *message);
/** Whether all ranks say the same of `subject` as rank 0. REC_E_MISMATCH on every rank if one does not. */
rec_status lr_mpi_same(const lr_mpi_group *group, const char *subject, const char *mine);
/** rec_mpi_save() by these ranks. */
rec_status lr_mpi_save(const lr_mpi_group *group, rec_recorder *recorder, const rec_record *record, const char *path,
                       const rec_mpi_options *options, rec_mpi_report *report);

/** Room for one more item of `size` bytes in an array of `count` that grows by this alone. @return the array, NULL: out
 * of memory, and the old one stays. */
void *lr_mpi_grown(void *at, uint64_t count, size_t size);
/** Bytes that grow. Zero it to begin. */
typedef struct lr_mpi_told {
    char *at;
    size_t size, room;
    bool failed; /**< out of memory */
} lr_mpi_told;
void lr_mpi_add(lr_mpi_told *t, const void *data, size_t size);

/** One of the files that are saved. */
typedef struct lr_mpi_file {
    char *name, *stem, *tail, *temporary; /**< as of rec_file */
    uint64_t size, begin;                 /**< bytes; those of the files before it */
} lr_mpi_file;
/** All of them. */
typedef struct lr_mpi_files {
    const lr_mpi_group *group;
    const char *path; /**< from the caller */
    MPI_Info hints;
    lr_mpi_file *at;
    uint64_t count, total;
    bool failed;       /**< out of memory */
    MPI_File file;     /**< that is open, or MPI_FILE_NULL */
    uint64_t now;      /**< which that is */
    int read;          /**< descriptor of one that is read back, or -1 */
    uint64_t read_now; /**< which that is */
} lr_mpi_files;
/** Forgets which there are. */
void lr_mpi_files_clear(lr_mpi_files *f);
void lr_mpi_files_add(lr_mpi_files *f, const rec_file *file);
/** For rec_save_filled(). NULL: out of memory. To be freed. */
rec_file *lr_mpi_files_list(const lr_mpi_files *f);
/** All ranks: receives the list of files from rank 0. @param told NULL on the other ranks. */
rec_status lr_mpi_files_tell(lr_mpi_files *f, const rec_filling *told);
/** All ranks, before they write. @param at where this one will begin. */
rec_status lr_mpi_files_open(lr_mpi_files *f, uint64_t at, char *why, size_t room);
/** @return false: `why` says what went wrong. */
bool lr_mpi_files_write(lr_mpi_files *f, uint64_t at, const uint8_t *data, uint64_t size, char *why, size_t room);
/** Whether the bytes at a place are these. @return false: `why` says where they are not, or what went wrong. */
bool lr_mpi_files_have(lr_mpi_files *f, uint64_t at, const uint8_t *data, uint64_t size, char *why, size_t room);
/** Syncs what is open and closes it. All ranks. @return false: `why` says what went wrong. */
bool lr_mpi_files_close(lr_mpi_files *f, char *why, size_t room);

/* Losses or notes to print on rank 0. */

/** Keeps a note. */
void lr_mpi_keep(lr_mpi_told *notes, const rec_note *note);
/** Reports each note unchanged. */
void lr_mpi_tell(const lr_mpi_told *notes, void (*tell)(void *user, const rec_note *note), void *user);
/** For rec_window.lost, with an lr_mpi_told: keeps a loss. */
void lr_mpi_lost(void *losses, const rec_conversion_loss *loss);
/** Keeps losses that an earlier lr_mpi_told stored. @return false: invalid bytes, or out of memory. */
bool lr_mpi_lost_before(lr_mpi_told *losses, const char *bytes, size_t size);
/** Adds up the losses of all ranks and tells rank 0 of them, in the order in which they were first kept. Frees them. */
rec_status lr_mpi_tell_losses(const lr_mpi_group *group, lr_mpi_told *losses,
                              void (*tell)(void *user, const rec_note *note), void *user);

/* ------------------------------------------------------------------------------------------ shares of a record -- */

/** Texts by number. Zeroed it is empty. */
typedef struct lr_mpi_names {
    char **at;
    uint64_t count, room;
    uint64_t *slots, slot_count; /* index + 1 of the entry; 0: empty */
} lr_mpi_names;
/** @return its number; REC_UNKNOWN if unknown. */
uint64_t lr_mpi_names_find(const lr_mpi_names *n, const char *name);
/** One that is not there yet gets the next number. @return false: out of memory. */
bool lr_mpi_names_add(lr_mpi_names *n, const char *name);
void lr_mpi_names_free(lr_mpi_names *n);

/** Says on this rank alone what rec_mpi_error_message() will be. @return status. */
rec_status lr_mpi_say(rec_status status, const char *message);

/** "[3, 4]". @return text. */
const char *lr_mpi_shape(char *text, size_t room, const uint64_t *shape, uint32_t rank);
/** Elements of the dimensions from `from` to before `to`. */
uint64_t lr_mpi_product(const uint64_t *shape, uint32_t from, uint32_t to);

/** Reads bytes of a tensor in its stored type. @return the status of librecord's last error. */
rec_status lr_mpi_read(const rec_tensor *tensor, uint64_t offset, uint64_t size, uint8_t *target);
/** A part along a dimension, as a tensor of its own. */
rec_status lr_mpi_read_part(const rec_tensor *tensor, uint32_t dimension, uint64_t offset, uint64_t length,
                            uint8_t *target);

/** What a rank has of a tensor of all. */
typedef struct lr_mpi_held {
    uint64_t offset, length;
    int rank;       /* sends the bytes */
    uint64_t index; /* of the tensor there */
} lr_mpi_held;
/** A value of all. */
typedef struct lr_mpi_leaf {
    const char *path; /* with its letter: 't' of the tree, 'm' of the metadata */
    int32_t kind;     /* REC_KIND_… */
    int first;        /* the lowest rank that has it */
    bool sized;       /* of a tensor: elements have a size, and can be sent */
    bool parameter;   /* of a tensor: it may lack an id all the same */
    bool expected;    /* of a tensor: some rank knows of it and has nothing of it */
    rec_dtype dtype;  /* of a tensor; REC_DTYPE_NONE: not known yet */
    uint32_t rank, dimension;
    uint64_t shape[32];
    char *id;
    lr_mpi_held *held; /* in the order of offsets */
    uint64_t held_count;
    char *value; /* for values that are no tensors: compared between ranks */
    size_t value_size;
    struct lr_mpi_server *server; /* that asks for its bytes */
} lr_mpi_leaf;
/** What the ranks have together. */
typedef struct lr_mpi_union {
    lr_mpi_names names;
    lr_mpi_leaf *leaves;
    uint64_t count;
    bool alike;              /* all records have the same keys in the same order */
    const rec_tensor **mine; /* this rank's tensors */
    uint64_t mine_count;
    uint64_t *load; /* bytes that each rank will send */
} lr_mpi_union;
/** All ranks. The union is freed in any case by lr_mpi_union_free(). */
rec_status lr_mpi_union_make(lr_mpi_union *u, MPI_Comm comm, const rec_record *record, const rec_mpi_slices *slices);
void lr_mpi_union_free(lr_mpi_union *u);
/** The whole, whose tensors ask `produce` with a `lr_mpi_leaf` of an array as long as the union. @return NULL with
 * `why`. */
rec_record *lr_mpi_whole(const lr_mpi_union *u, const rec_record *record,
                         int32_t (*produce)(void *user, uint64_t offset, void *target, uint64_t size),
                         rec_status *status, char *why, size_t room);

#endif
