/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the entries of the fuzzers share. An entry is a function that is given any bytes and never fails: what must not
 * be ends the process. Each is a program of its own for libFuzzer (entry.c), and all of them are in one that gives them
 * the seeds and what was found (test_seeds.c). */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/base.h"

/** All entries. README.md says what each is given. */
/* clang-format off */
#define FUZZ_TARGETS(T) \
    T(again) T(bin) T(bpk) T(cache) T(command) T(config) T(gguf) T(gz) T(index) T(ini) T(json) T(load) T(mpk) T(npz) \
    T(plan) T(pt) T(regex) T(rules) T(rust) T(safetensors) T(save) T(server) T(type) T(types) \
    T(words) T(zst)
/* clang-format on */

typedef int fuzz_entry(const uint8_t *data, size_t size);
#define FUZZ_DECLARE(name) fuzz_entry fuzz_##name;
FUZZ_TARGETS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/** What makes another input of one, by its structure: libFuzzer's LLVMFuzzerCustomMutator. @return its size. */
typedef size_t fuzz_mutator(uint8_t *data, size_t size, size_t room, unsigned seed);
fuzz_mutator fuzz_mutate_again, fuzz_mutate_bin, fuzz_mutate_command, fuzz_mutate_mpk;
/** The fuzzer's own, which knows no structure; a mutator may call it. */
extern size_t (*fuzz_mutate_bytes)(uint8_t *data, size_t size, size_t room);

/** Ends the process unless it holds. */
void fuzz_must(bool holds, const char *what);
/** What a failure must have: a status and words, and no blame on a plugin. */
void fuzz_must_say(void);

/** The context of all inputs. Its memory is counted; that of every eighth size is the system's own, which also maps
 * pages.
 *  @param size of the input. */
rec_context *fuzz_context(size_t size);
/** Memory that is counted: the most since fuzz_begin(), and what is in use. */
uint64_t fuzz_most(void);
uint64_t fuzz_used(void);

/** An input begins and ends: time and memory are noted. @param program its name. */
void fuzz_begin(void);
void fuzz_end(const char *target, const uint8_t *data, size_t size);
/** Says what took longest and what took most, and leaves both inputs in the folder that LIBRECORD_FUZZ_WORST names. */
void fuzz_report(void);
/** Before the first input. @param program argv[0]: what Burn has is looked for beside it. */
void fuzz_set_up(const char *program);

/** A file of that name in a folder of the process, which has these bytes now. @return its path. */
const char *fuzz_file(const char *name, const void *data, size_t size);
/** That folder. */
const char *fuzz_folder(void);

/** A copy of the bytes with a NUL behind them, for one input. */
char *fuzz_text(const uint8_t *data, size_t size);

/** Adds types of a text or file, and makes the layouts of those that are known then.
 *  @param most so many of them. @param minor of Burn 0.MINOR. */
void fuzz_layouts(size_t size, int32_t (*add)(rec_job *job, rec_types *types, const char *from), const char *from,
                  int32_t minor, unsigned most);

/** Looks at all that a record has. @return a number that depends on it. */
uint64_t fuzz_look(const rec_record *record);
/** Saves it; what was saved must load again. @param exact and saving that again must give the same bytes. */
void fuzz_save_and_load(rec_context *context, const rec_record *record, const char *recorder, const char *layout,
                        bool exact);

/** @return whether the text is JSON: one value or several, as `record show --json` prints them. */
bool fuzz_is_json(const char *text, size_t size);

/** Numbers that follow from a seed. */
static inline uint64_t fuzz_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

#endif
