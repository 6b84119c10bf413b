/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader: finds the tensor in the file and tells the visitor. It trusts nothing that the file says. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"

enum { RANK = 8, HEADER = 1024 };

/** Fills in dtype, rank and shape from the header's text. @param shape room for RANK dimensions. */
static int32_t read_header(rec_job *job, const char *header, rec_tensor_event *tensor, uint64_t *shape)
{
    const char *descr = strstr(header, "'descr': '"), *p = strstr(header, "'shape': (");
    char *end;

    for (int i = 0; descr && i < NPY_TYPES; i++) {
        if (strncmp(descr + strlen("'descr': '"), npy_types[i].descr, 3) == 0) {
            tensor->dtype = npy_types[i].dtype;
        }
    }
    if (tensor->dtype == REC_DTYPE_NONE || !p || !strstr(header, "'fortran_order': False")) {
        return rec_fail_found(job, REC_E_UNSUPPORTED, NPY_PREFIX, "a known type in C order", "%.*s",
                              (int)strcspn(header, "}") + 1, header);
    }
    for (p += strlen("'shape': ("); *p != ')'; p = end + strspn(end, ", ")) {
        if (*p < '0' || *p > '9' || tensor->rank == RANK) {
            return rec_fail_found(job, REC_E_FORMAT, NPY_PREFIX, "a shape of at most 8 numbers", "\"%.40s\"", p);
        }
        shape[tensor->rank++] = strtoull(p, &end, 10);
    }
    tensor->shape = shape;
    return REC_OK;
}

int32_t npy_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    rec_tensor_event tensor = {.size = sizeof tensor};
    uint64_t size, shape[RANK], length, expected;
    char header[HEADER];
    const void *view;
    int32_t status = rec_source_view(job, source, &view, &size); /* mapped if it can be */

    if (status != REC_OK) {
        return status;
    }
    const uint8_t *file = view;
    if (size < NPY_PREFIX || memcmp(file, "\x93NUMPY\x01\x00", 8) != 0) {
        return rec_fail_found(job, REC_E_FORMAT, 0, "an .npy file of version 1", "something else");
    }
    length = file[8] | (uint64_t)file[9] << 8;
    if (length > size - NPY_PREFIX || length >= HEADER) {
        return rec_fail(job, REC_E_FORMAT, 8, "a header of %" PRIu64 " bytes does not fit", length);
    }
    memcpy(header, file + NPY_PREFIX, length);
    header[length] = '\0';
    if ((status = read_header(job, header, &tensor, shape)) != REC_OK) {
        return status;
    }

    expected = rec_dtype_bits(tensor.dtype) / 8;
    for (uint32_t i = 0; i < tensor.rank; i++) {
        if (__builtin_mul_overflow(expected, shape[i], &expected)) {
            return rec_fail(job, REC_E_FORMAT, NPY_PREFIX, "the shape has too many elements");
        }
    }
    if (expected != size - NPY_PREFIX - length) {
        return rec_fail(job, REC_E_FORMAT, NPY_PREFIX + length,
                        "%" PRIu64 " bytes of data, but the shape asks for %" PRIu64, size - NPY_PREFIX - length,
                        expected);
    }

    /* A view: the tensor points into the file, nothing is copied, and the tensor keeps the file alive. */
    tensor.data.struct_size = sizeof tensor.data;
    tensor.data.kind = REC_BLOB_VIEW;
    tensor.data.size = expected;
    tensor.data.offset = NPY_PREFIX + length;
    tensor.data.data = file + tensor.data.offset;
    tensor.data.source = source;
    return visitor->tensor(self, tensor.data.offset, &tensor);
}
