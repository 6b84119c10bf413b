/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The descriptors: what librecord knows of the two formats before it reads or writes anything. */
#include <string.h>

#include "plugins/codec/npy/npy.h"
#include "plugins/codec/little.h"

static const rec_option verify = {
    .size = sizeof verify,
    .type = REC_OPTION_BOOL,
    .name = "verify",
    .initial = "yes",
    .help = "check members that are not compressed against their checksums, too; no: they are mapped",
};
static const rec_option compress_option = {
    .size = sizeof compress_option,
    .type = REC_OPTION_BOOL,
    .name = "compress",
    .initial = "no",
    .help = "compress what is saved, as numpy.savez_compressed does",
};
static const rec_option level = {
    .size = sizeof level,
    .type = REC_OPTION_INT,
    .name = "level",
    .initial = "6",
    .help = "of the compression: 1 fast, 9 small",
    .minimum = 1,
    .maximum = 9,
};
static const rec_option *const options[] = {&verify, &compress_option, &level, NULL};

/* The first member's name tells an archive of arrays from all the other files that are zip files. */
static int32_t probe_npz(const rec_head *head)
{
    if (head->length >= 30 && memcmp(head->data, "PK\3\4", 4) == 0) {
        uint32_t length = (uint32_t)lr_little(head->data + 26, 2);
        if (length >= 4 && length <= head->length - 30 && memcmp(head->data + 30 + length - 4, ".npy", 4) == 0) {
            return 64;
        }
    }
    return lr_ends_in(head->name, ".npz") ? 20
                                          : 0; /* empty, or damaged: the reader of the format has the better message */
}

static int32_t probe_npy(const rec_head *head)
{
    return head->length >= 6 && memcmp(head->data, "\x93NUMPY", 6) == 0 ? 48 : 0;
}

static const rec_magic zip_magic = {.size = sizeof zip_magic, .length = 4, .bytes = (const uint8_t *)"PK\3\4"};
static const rec_magic empty_magic = {.size = sizeof empty_magic, .length = 4, .bytes = (const uint8_t *)"PK\5\6"};
static const rec_magic npy_magic = {.size = sizeof npy_magic, .length = 6, .bytes = (const uint8_t *)"\x93NUMPY"};

static const rec_plugin npz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof npz,
    .name = "Npz",
    .aliases = (const char *const[]){"numpy", NULL},
    .extension = "npz",
    .description = "NumPy's .npz, arrays by name",
    .traits = REC_TRAIT_TENSORS,
    .options = options,
    .probe = probe_npz,
    .load = lr_npz_load,
    .save = lr_npz_save,
    .adapter = "pytorch", /* what is written; the readers tell what a file is */
    .magic = (const rec_magic *const[]){&zip_magic, &empty_magic, NULL},
    .license = "MIT OR Apache-2.0",
};

static const rec_plugin npy = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof npy,
    .name = "Npy",
    .extension = "npy",
    .description = "NumPy's .npy, one array",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE,
    .probe = probe_npy,
    .load = lr_npy_load,
    .save = lr_npy_save,
    .adapter = "pytorch", /* what is written; the readers tell what a file is */
    .magic = (const rec_magic *const[]){&npy_magic, NULL},
    .license = "MIT OR Apache-2.0",
};

/* The file is npz.so, so the name here is npz. */
REC_PLUGINS(npz, &npz, &npy);
