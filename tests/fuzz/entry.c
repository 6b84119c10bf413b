/* SPDX-License-Identifier: MIT OR Apache-2.0
 * One entry as a program for libFuzzer and what calls itself alike: FUZZ_ENTRY is its name, FUZZ_MUTATOR its mutator's.
 */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

#define JOINED(a, b) a##b
#define NAME_OF(prefix, name) JOINED(prefix, name)
#define QUOTED(name) #name
#define TEXT_OF(name) QUOTED(name)

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)unsetenv("LIBRECORD_CONFIG");
    (void)setenv("LIBRECORD_PLUGINS", "none", 1); /* those that are part of it */
    fuzz_set_up(*count > 0 ? (*words)[0] : NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    (void)NAME_OF(fuzz_, FUZZ_ENTRY)(data, size);
    fuzz_end(TEXT_OF(FUZZ_ENTRY), data, size);
    return 0;
}

#ifdef FUZZ_MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    fuzz_mutate_bytes = LLVMFuzzerMutate;
    return NAME_OF(fuzz_mutate_, FUZZ_ENTRY)(data, size, room, seed);
}
#endif
