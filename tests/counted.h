/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Counts the work of maps: the keys that they hash and compare. Unlike time, this count does not depend on the machine
 * or its load. For programs that are linked with LR_COUNTED_MAPS. */
#ifndef COUNTED_H
#define COUNTED_H

#include "core/record/record.h"

static _Thread_local uint64_t map_work; /* of this thread */

uint64_t __real_lr_key_hash(const void *data, size_t size);
uint64_t __wrap_lr_key_hash(const void *data, size_t size);
uint64_t __wrap_lr_key_hash(const void *data, size_t size)
{
    map_work++;
    return __real_lr_key_hash(data, size);
}

bool __real_lr_scalar_equal(const rec_value *key, const rec_scalar *scalar);
bool __wrap_lr_scalar_equal(const rec_value *key, const rec_scalar *scalar);
bool __wrap_lr_scalar_equal(const rec_value *key, const rec_scalar *scalar)
{
    map_work++;
    return __real_lr_scalar_equal(key, scalar);
}

#endif
