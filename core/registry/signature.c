/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that are no records. The signatures are those of the formats' own documents. */
#include "core/registry/registry.h"

#include <string.h>

#define PICKLE                                                                                                      \
    "It is a Python pickle, and torch.save() did not write it: load it in Python, and save its tensors as .npz or " \
    ".safetensors."

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
    {"\x80\x02", 2, 0, "It is a Python pickle, as older PyTorch files are: torch.save() it again in Python."},
    {"\x80\x03", 2, 0, PICKLE},
    {"\x80\x04", 2, 0, PICKLE},
    {"\x80\x05", 2, 0, PICKLE},
    {"ustar", 5, 257,
     "It is a tar archive, as PyTorch files from before 0.1.10 are: unpack it, or save its model again in Python."},
    {"TFL3", 4, 4, "It is a TensorFlow Lite model: read its weights in Python, and save them as .npz or .safetensors."},
    {"lmgg", 4, 0,
     "It is a ggml file of before GGUF, which whisper.cpp still has: convert the original model instead."},
    {"tjgg", 4, 0, "It is a ggml file of before GGUF: convert it to GGUF with llama.cpp, or the original model."},
    {"fmgg", 4, 0, "It is a ggml file of before GGUF: convert it to GGUF with llama.cpp, or the original model."},
    {"algg", 4, 0, "It is a LoRA adapter of ggml of before GGUF: convert the original adapter instead."},
    {"\x1f\x8b", 2, 0, "It is compressed with gzip. Decompress it first."},
    {"\x28\xb5\x2f\xfd", 4, 0, "It is compressed with zstd. Decompress it first."},
    {"BZh", 3, 0, "It is compressed with bzip2. Decompress it first."},
    {"\xfd"
     "7zXZ",
     5, 0, "It is compressed with xz. Decompress it first."},
    {"{\"", 2, 8, "It looks like a safetensors file."},
};

/* Pickles of protocols 0 and 1 begin with the operation of their first value: a dictionary, a list, a tuple or an
 * object, and its place among the remembered. */
static bool is_old_pickle(const rec_head *head)
{
    const char *text = (const char *)head->data;
    bool one = head->length > 4 && strchr("}])", text[0]) && text[0] && text[1] == 'q' && text[2] == 0;
    bool nought = head->length > 6 && text[0] == '(' && strchr("dlt", text[1]) && text[1] && text[2] == 'p' &&
                  text[3] >= '0' && text[3] <= '9' && (text[4] == '\n' || text[4] == '\r');
    return one || nought;
}

/* A model of ONNX is a message of protocol buffers: field 1 is the version of the format, and field 2 or 7 or 8 the
 * producer, the graph, the operators' version. */
static bool is_onnx(const rec_head *head)
{
    const uint8_t *data = head->data;
    size_t name = strnlen(head->name, 256);
    bool called = name > 5 && strcmp(head->name + name - 5, ".onnx") == 0;
    bool begins = head->length > 4 && data[0] == 0x08 && data[1] > 0 && data[1] < 0x40 &&
                  (data[2] == 0x12 || data[2] == 0x3a || data[2] == 0x42);
    return begins && (called || memmem(data, (size_t)head->length, "pytorch", 7) ||
                      memmem(data, (size_t)head->length, "onnx", 4));
}

const char *lr_foreign_words(const rec_head *head)
{
    if (is_old_pickle(head)) {
        return PICKLE;
    }
    if (is_onnx(head)) {
        return "It is a model of ONNX: read its initializers in Python, and save them as .npz or .safetensors.";
    }
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
        rec_fail_hint(job, "%s", words ? words : "Name the recorder if you know it; `record plugins` lists them.");
    }
}
