/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads and writes a whole range of a file: repeats calls that transfer fewer bytes. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/mpi_private.h"

enum { COPIED = 1 << 20 };

bool lr_mpi_copy(int fd, uint64_t at, uint64_t size, lr_mpi_write_fn write, void *user)
{
    uint8_t *some = malloc(COPIED);
    bool well = some != NULL;
    while (size && well) {
        uint64_t n = size < COPIED ? size : COPIED;
        well = lr_file_read_at(fd, some, n, at) == 0 && write(user, some, n) == 0;
        at += n;
        size -= n;
    }
    free(some);
    return well;
}
