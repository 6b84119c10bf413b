/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that are no records. The signatures are those of the formats' own documents. */
#include "core/registry/registry.h"

#include <string.h>

static const struct {
    const char *bytes;
    size_t length;
    uint64_t at;
    const char *words;
} known[] = {
    {"NRUB", 4, 0, "It is a burnpack file, the format of Burn 0.22 and later, which has no recorders."},
    {"PK\x03\x04", 4, 0, "It is a zip archive; PyTorch's .pt and .pth files are."},
    {"\x89HDF\r\n", 6, 0, "It is an HDF5 file."},
    {"\x89PNG\r\n", 6, 0, "It is a picture (PNG)."},
    {"\x93NUMPY", 6, 0, "It is a NumPy array."},
    {"GGUF", 4, 0, "It is a GGUF file."},
    {"\x80\x02", 2, 0, "It is a Python pickle, as older PyTorch files are."},
    {"\x80\x03", 2, 0, "It is a Python pickle, and torch.save() did not write it."},
    {"\x80\x04", 2, 0, "It is a Python pickle, and torch.save() did not write it."},
    {"\x80\x05", 2, 0, "It is a Python pickle, and torch.save() did not write it."},
    {"ustar", 5, 257,
     "It is a tar archive, as PyTorch files from before 0.1.10 are: unpack it, or save its model again in Python."},
    {"TFL3", 4, 4, "It is a TensorFlow Lite model."},
    {"lmgg", 4, 0, "It is a ggml file of before GGUF, which whisper.cpp still has."},
    {"tjgg", 4, 0, "It is a ggml file of before GGUF."},
    {"\x1f\x8b", 2, 0, "It is compressed with gzip. Decompress it first."},
    {"\x28\xb5\x2f\xfd", 4, 0, "It is compressed with zstd. Decompress it first."},
    {"BZh", 3, 0, "It is compressed with bzip2. Decompress it first."},
    {"\xfd"
     "7zXZ",
     5, 0, "It is compressed with xz. Decompress it first."},
    {"{\"", 2, 8, "It looks like a safetensors file."},
};

const char *lr_foreign_words(const rec_head *head)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (head->length >= known[i].at + known[i].length &&
            memcmp(head->data + known[i].at, known[i].bytes, known[i].length) == 0) {
            return known[i].words;
        }
    }
    return NULL;
}

void lr_foreign_hint(rec_job *job, const rec_head *head)
{
    const char *words = lr_foreign_words(head);
    if (words || head->length) {
        rec_fail_hint(job, "%s",
                      words ? words : "Name the recorder if you know it; `record plugins` lists those there are.");
    }
}
