/* SPDX-License-Identifier: MIT OR Apache-2.0
 * zip archives as PyTorch's and NumPy's files are: read by their directory at any place, so that stored members need
 * not be copied, and written in one go. Names are bytes, as they stand in the file. No encryption, no several volumes,
 * no methods but stored and deflated. (libzip does not tell where the bytes of a stored member lie, minizip can write
 * only where it can go back, and neither looks for members that overlap.) */
#ifndef LR_ZIP_H
#define LR_ZIP_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "plugins/codec/buffer.h"

enum { LR_ZIP_STORED = 0, LR_ZIP_DEFLATED = 8 };

/* Signatures of the records. */
#define LR_ZIP_HEADER UINT32_C(0x04034b50)
#define LR_ZIP_AFTER UINT32_C(0x08074b50)
#define LR_ZIP_ENTRY UINT32_C(0x02014b50)
#define LR_ZIP_END UINT32_C(0x06054b50)
#define LR_ZIP_END64 UINT32_C(0x06064b50)
#define LR_ZIP_LOCATOR UINT32_C(0x07064b50)

enum {
    LR_ZIP_EXTRA64 = 1,      /**< the extra field with numbers of 64 bits */
    LR_ZIP_WIDE = 45,        /**< the version of the format that reads it: 4.5 */
    LR_ZIP_SIZES_AFTER = 8,  /**< flag: checksum and sizes follow the member */
    LR_ZIP_NAME_UTF8 = 0x800 /**< flag */
};

/* ----------------------------------------------------------------------------------------------------- reading -- */

/** A file in an archive. */
typedef struct lr_zip_member {
    const char *name; /**< of `name_length` bytes, none of them NUL; not NUL-terminated */
    uint64_t at;      /**< of its header in the archive */
    uint64_t offset;  /**< of its bytes in the archive; all `stored` of them are there */
    uint64_t stored;  /**< how many these are */
    uint64_t size;    /**< of what they are made of; if stored, the same */
    uint32_t crc;     /**< of that */
    uint16_t name_length;
    uint16_t method; /**< LR_ZIP_…, or another one that cannot be read */
    bool encrypted;
    bool utf8; /**< the name is marked as UTF-8 */
} lr_zip_member;

/** The directory of an archive. */
typedef struct lr_zip {
    rec_job *job;
    rec_source *source;     /**< borrowed */
    uint8_t *directory;     /**< from the file; names point into it */
    lr_zip_member *members; /**< in the order of the directory */
    uint64_t count;
    const lr_zip_member **by_name;
} lr_zip;

/** Reads and checks the directory and all headers; of the members nothing. No two members overlap or have one name. To
 *  be closed, also after a failure. */
int32_t lr_zip_open(lr_zip *zip, rec_job *job, rec_source *source);
void lr_zip_close(lr_zip *zip);
/** @return the member of a name, or NULL. */
const lr_zip_member *lr_zip_find(const lr_zip *zip, const char *name, uint64_t length);
/** The bytes of a member as a source, inflated if need be; their length and checksum are verified before the end is
 *  reported. @param out counted. */
int32_t lr_zip_source(const lr_zip *zip, const lr_zip_member *member, rec_source **out);
/** The same without keeping its bytes: each read inflates from the beginning, or from where the last one ended. A read
 * of the end verifies it if the reads before came in order. The caller calls rec_job_check_inflated(). */
int32_t lr_zip_source_lazy(const lr_zip *zip, const lr_zip_member *member, rec_source **out);
/** Reads all of a member to verify its length and checksum. */
int32_t lr_zip_check(const lr_zip *zip, const lr_zip_member *member);

/* ----------------------------------------------------------------------------------------------------- writing -- */

/** What the header of a member and its entry in the directory say. */
typedef struct lr_zip_record {
    const char *name;
    uint64_t name_length;  /**< at most 65,535 */
    uint64_t at;           /**< of the header in the archive */
    uint64_t stored, size; /**< bytes of the member, and of what they are made of */
    uint32_t crc;
    uint16_t version; /**< of the format that reads it */
    uint16_t flags, method;
    uint16_t mode; /**< Unix permissions; 0: none */
} lr_zip_record;

/** Adds the header before a member. @param record its sizes have 32 bits. @param extra bytes of the extra field, which
 * comes next. */
void lr_zip_put_header(lr_buffer *buffer, const lr_zip_record *record, uint64_t extra);
/** Adds its entry in the directory. @param limit from there on numbers stand in an extra field, in 64 bits. */
void lr_zip_put_entry(lr_buffer *buffer, const lr_zip_record *record, uint64_t limit);
/** Adds the records after the directory. @param wide with those of 64 bits. @param comment its bytes, which come next.
 */
void lr_zip_put_end(lr_buffer *buffer, uint64_t at, uint64_t size, uint64_t count, bool wide, uint64_t comment);

/** An archive that is written. */
typedef struct lr_zip_writer {
    rec_job *job;
    rec_sink *sink;
    uint32_t alignment;          /**< the bytes of members begin at multiples of it; 0 or 1: anywhere */
    uint64_t count;              /**< of members */
    lr_buffer directory, record; /**< entries; and what is written next */
    uint64_t begin;              /**< of the archive in the sink */
} lr_zip_writer;

/** Begins an archive at the place where the sink is. To be closed, also after a failure. */
void lr_zip_writer_open(lr_zip_writer *writer, rec_job *job, rec_sink *sink, uint32_t alignment);
/** Writes a stored member: `blobs` one after the other. @param name NUL-terminated. */
int32_t lr_zip_put(lr_zip_writer *writer, const char *name, const rec_blob *blobs, uint64_t count);
/** The same of bytes in memory. */
int32_t lr_zip_put_bytes(lr_zip_writer *writer, const char *name, const void *data, uint64_t size);
/** Writes the directory. */
int32_t lr_zip_finish(lr_zip_writer *writer);
void lr_zip_writer_close(lr_zip_writer *writer);

#endif
