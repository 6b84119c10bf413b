/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Ids of parameters: as text and as numbers, and made of a path. The only place that knows the forms of Burn's ids. */
#include <string.h>

#include "common/names.h"
#include "core/record/record.h"

/* Burn's alphabet, DNSSEC's. */
static const char base32[] = "0123456789abcdefghijklmnopqrstuv";

void lr_id_base32(const uint8_t *bytes, size_t count, char *text)
{
    uint32_t bits = 0, held = 0;
    for (size_t i = 0; i < count; i++) {
        held = held << 8 | bytes[i];
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            *text++ = base32[held >> bits & 31];
        }
        held &= (1u << bits) - 1;
    }
    if (bits) {
        *text++ = base32[held << (5 - bits) & 31];
    }
    *text = '\0';
}

/* The bytes of an id of Burn 0.14. */
static bool short_bytes(const char *id, uint8_t bytes[6])
{
    uint64_t held = 0;
    for (size_t i = 0; i < 10; i++) {
        const char *digit = id[i] ? memchr(base32, id[i], 32) : NULL;
        if (!digit) {
            return false;
        }
        held = held << 5 | (uint64_t)(digit - base32);
    }
    if (held & 3) {
        return false; /* 50 bits for 48: another text than this one stands for the same bytes */
    }
    held >>= 2;
    for (size_t i = 0; i < 6; i++) {
        bytes[i] = (uint8_t)(held >> (40 - 8 * i));
    }
    return id[10] == '\0';
}

const char *rec_id_text(uint64_t number, char *text)
{
    uint8_t bytes[8];
    if (LR_LACKS(NULL, text)) {
        return "";
    }
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    lr_id_base32(bytes, sizeof bytes, text);
    return text;
}

/* The bytes of an id of Burn 0.15 or later: 65 bits for 64. */
static bool current_bytes(const char *id, uint8_t bytes[8])
{
    uint64_t held = 0, last = 0;
    for (size_t i = 0; i < LR_ID_CURRENT; i++) {
        const char *digit = memchr(base32, id[i], 32);
        if (!digit) {
            return false;
        }
        last = (uint64_t)(digit - base32);
        held = i + 1 < LR_ID_CURRENT ? held << 5 | last : held << 4 | last >> 1;
    }
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(held >> (56 - 8 * i));
    }
    return !(last & 1);
}

/* The first 8 bytes of a UUID. */
static bool uuid_bytes(const char *id, uint8_t bytes[8])
{
    static const char digits[] = "0123456789abcdef";
    unsigned count = 0;
    for (size_t i = 0; i < 36; i++) {
        const char *digit = memchr(digits, id[i] >= 'A' && id[i] <= 'F' ? id[i] - 'A' + 'a' : id[i], 16);
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? id[i] != '-' : !digit) {
            return false;
        }
        if (!dash && count < 16) {
            uint8_t low = (uint8_t)(digit - digits);
            bytes[count / 2] = count % 2 ? (uint8_t)(bytes[count / 2] << 4 | low) : low;
            count++;
        }
    }
    return true;
}

bool lr_id_bytes(const char *id, uint8_t bytes[8])
{
    size_t length = strlen(id);
    memset(bytes, 0, 8);
    return length == LR_ID_CURRENT ? current_bytes(id, bytes)
           : length == 10          ? short_bytes(id, bytes)
           : length == 36          ? uuid_bytes(id, bytes)
                                   : false;
}

int32_t rec_id_number(const char *id, uint64_t *number)
{
    uint8_t bytes[8];
    if (LR_LACKS(NULL, id) || LR_LACKS(NULL, number) || !lr_id_bytes(id, bytes)) {
        return 0;
    }
    *number = 0;
    for (unsigned i = 0; i < 8; i++) {
        *number |= (uint64_t)bytes[i] << (8 * i);
    }
    return 1;
}

rec_status rec_tensor_id_number(const rec_tensor *tensor, uint64_t *number)
{
    rec_job job;
    if (LR_NULL(tensor) || LR_NULL(number)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, tensor->record->context, "get", NULL);
    if (!tensor->id) {
        (void)rec_fail(&job, REC_E_NOT_FOUND, REC_UNKNOWN, "the tensor has no id");
    } else if (!rec_id_number(tensor->id, number)) {
        (void)rec_fail_found(&job, REC_E_MISMATCH, REC_UNKNOWN, "an id of Burn (13, 10 or 36 characters)", "`%.100s`",
                             tensor->id);
    }
    return lr_job_end(&job);
}

void lr_id_of_path(const char *path, size_t length, uint8_t bytes[8])
{
    uint64_t h = lr_fnv(LR_FNV_BEGIN, path, length); /* then stirred so that near paths are far apart */
    h = (h ^ (h >> 31)) * UINT64_C(0x7fb5d329728ea185);
    h = (h ^ (h >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
    h ^= h >> 33;
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(h >> (8 * i));
    }
}

const char *lr_id_fault(const char *text, uint64_t length)
{
    if (length == 0 || length > LR_ID_MOST) {
        return length ? "has more than 256 bytes" : "is empty";
    }
    if (lr_utf8_valid(text, (size_t)length) != length) {
        return "is not UTF-8";
    }
    for (uint64_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) {
            return "has a control character";
        }
    }
    return NULL;
}
