/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of bad inputs: each file below tests/data/bad/ is refused with exactly the message in the .expected file
 * beside it, FILE standing for its path. The folders are named after recorders; make.py there makes the files. Below
 * it: what goes wrong before a byte was read. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/base_private.h"
#include "librecord.h"
#include "tests/craft.h"
#include "tests/sanitized.h"
#include "tests/scratch.h"

static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data;
    if (!file) {
        return NULL;
    }
    (void)fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    data[*size] = '\0';
    (void)fclose(file);
    return data;
}

/* Replaces a name by FILE wherever it occurs. */
static void unname(const char *text, const char *name, char *out, size_t room)
{
    size_t used = 0, length = strlen(name);
    while (*text && used + 8 < room) {
        if (strncmp(text, name, length) == 0) {
            memcpy(out + used, "FILE", 4);
            used += 4;
            text += length;
        } else {
            out[used++] = *text++;
        }
    }
    out[used] = '\0';
}

/* How many items fit into a budget of memory depends on the size of a pointer: then the number of the item that was one
 * too many is not looked at. */
static const char *but_for_the_item(const char *message)
{
    const char *at =
        sizeof(void *) == sizeof(uint64_t) ? NULL : strstr(message, ": its structure would take more than ");
    return at && strncmp(message, "FILE: a.", 8) == 0 ? at : message;
}

/* A message with what was expected and found gives both to the getters. */
static void check_parts(const char *path)
{
    const char *what = strstr(rec_error_message(), "expected "), *found = what ? strstr(what, ", found ") : NULL;
    if (found && found < what + strcspn(what, "\n") &&
        (!*rec_error_expected() || !*rec_error_found() || !strstr(rec_error_message(), rec_error_expected()))) {
        fail_msg("%s: expected \"%s\", found \"%s\" of: %s", path, rec_error_expected(), rec_error_found(),
                 rec_error_message());
    }
}

/* The message as the table has it. @return whether it fits; else both are printed. */
static int same_message(const char *path, const char *name, const char *how, const char *expected)
{
    char found[6000];
    check_parts(path);
    unname(rec_error_message(), name, found, sizeof found - 1);
    (void)strcat(found, "\n");
    if (strcmp(but_for_the_item(found), but_for_the_item(expected)) == 0) {
        return 1;
    }
    print_error("%s, %s:\nexpected: %sfound:    %s", path, how, expected, found);
    return 0;
}

/* @return mistakes. */
static unsigned try_file(const char *recorder_name, const char *path, const char *expected)
{
    rec_recorder *recorder = rec_open_recorder(recorder_name, REC_PRECISION_KEEP);
    unsigned mistakes = 0;
    size_t size;
    char *data = read_all(path, &size);
    rec_record *record;
    int fd;
    if (!recorder || !data) {
        fail_msg("%s: %s", path, recorder ? "cannot be read" : rec_error_message());
    }
    record = rec_load(recorder, path);
    if (record) {
        rec_record_free(record);
        rec_close_recorder(recorder);
        free(data);
        print_error("%s: was loaded\n", path);
        return 1;
    }
    assert_int_not_equal(rec_error_status(), REC_OK);
    assert_string_equal(rec_error_file(), path);
    mistakes += !same_message(path, path, "as a file", expected);
    /* The parts are what the message is made of. */
    if (rec_error_expected()[0]) {
        mistakes +=
            !strstr(rec_error_message(), rec_error_expected()) || !strstr(rec_error_message(), rec_error_found());
    }
    assert_null(rec_load_bytes(recorder, data, size));
    mistakes += !same_message(path, "(memory)", "from memory", expected);
    assert_int_equal(rec_recorder_set(recorder, "map", "no"), REC_OK);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_null(rec_load_fd(recorder, fd, "the stream"));
    mistakes += !same_message(path, "the stream", "from a descriptor", expected);
    (void)close(fd);
    rec_close_recorder(recorder);
    free(data);
    return mistakes;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* All files of a directory. @return how many, counting mistakes. */
static unsigned try_folder(const char *folder, const char *recorder, unsigned *mistakes)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    unsigned files = 0;
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        char path[1200], beside[1200], *expected;
        size_t size;
        const char *dot = strchr(entries[i]->d_name, '.');
        /* A case may have dots in its name: its extension is the recorder's. */
        for (const char *next = dot; next && strcmp(entries[i]->d_name + strlen(entries[i]->d_name) - 9, ".expected");
             next = strchr(next + 1, '.')) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            (void)snprintf(beside, sizeof beside, "%s/%.*s.expected", folder, (int)(next - entries[i]->d_name),
                           entries[i]->d_name);
            if (access(beside, F_OK) == 0) {
                expected = read_all(beside, &size);
                *mistakes += try_file(recorder, path, expected);
                free(expected);
                files++;
                break;
            }
        }
        free(entries[i]);
    }
    free(entries);
    /* Half of them are the messages: nothing stands alone. */
    assert_int_equal(files * 2, count);
    return files;
}

static void every_bad_file_gives_its_message(void **state)
{
    const char *srcdir = getenv("srcdir");
    char root[600], folder[900];
    DIR *open;
    unsigned files = 0, mistakes = 0;
    (void)state;
    (void)snprintf(root, sizeof root, "%s/tests/data/bad", srcdir ? srcdir : ".");
    open = opendir(root);
    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "make.py") != 0) {
            (void)snprintf(folder, sizeof folder, "%s/%s", root, entry->d_name);
            files += try_folder(folder, entry->d_name, &mistakes);
        }
    }
    (void)closedir(open);
    assert_true(files > 120);
    assert_int_equal(mistakes, 0);
}

/* -------------------------------------------------------------------------------------- before a byte was read -- */

static void assert_message(const scratch *s, rec_status status, const char *expected)
{
    char found[6000];
    unname(rec_error_message(), s->path, found, sizeof found);
    assert_string_equal(found, expected);
    assert_int_equal(rec_error_status(), status);
}

static void a_file_that_is_not_there_is_named_both_ways(void **state)
{
    scratch *s = scratch_new();
    char *bare = scratch_path(s, "model"), *full = scratch_path(s, "model.mpk"), *folder = scratch_folder(s, "sub");
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    (void)state;
    assert_null(rec_load(recorder, bare));
    assert_message(s, REC_E_NOT_FOUND,
                   "FILE/model.mpk: cannot open the file: No such file or directory\n"
                   "  There is no FILE/model either.");
    assert_int_equal(rec_error_errno(), ENOENT);
    assert_null(rec_load(recorder, full));
    assert_int_equal(rec_error_errno(), ENOENT);
    assert_message(s, REC_E_NOT_FOUND, "FILE/model.mpk: cannot open the file: No such file or directory");
    assert_null(rec_load(recorder, folder));
    assert_message(s, REC_E_IO,
                   "FILE/sub: this is a directory, not a file\n  Give the name of a file.\n"
                   "  Directories are read by: PyTorch, Safetensors.");
    assert_int_equal(rec_error_errno(), 0); /* what librecord refuses is not the system's */
    assert_null(rec_load_fd(recorder, -1, "nothing"));
    assert_int_equal(rec_error_status(), REC_E_IO);
    assert_int_equal(rec_error_errno(), EBADF);
    assert_null(rec_load(recorder, ""));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_int_equal(rec_error_errno(), 0);
    assert_string_equal(rec_error_message(), "no path was given");
    assert_null(rec_load(recorder, NULL));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    rec_close_recorder(recorder);
    free(bare);
    free(full);
    free(folder);
    scratch_free(s);
}

static void a_target_that_cannot_be_written_is_named(void **state)
{
    scratch *s = scratch_new();
    char *path = scratch_path(s, "none/model.mpk");
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    rec_recorder *bytes = rec_open_recorder("NamedMpkBytes", REC_PRECISION_KEEP);
    rec_recorder *any = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    rec_record *record = rec_record_new(NULL);
    void *data;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_save(recorder, record, path), REC_E_NOT_FOUND);
    assert_int_equal(strncmp(rec_error_message(), path, strlen(path)), 0);
    assert_non_null(strstr(rec_error_message(), "No such file or directory"));
    assert_int_equal(rec_save(recorder, record, ""), REC_E_ARGUMENT);
    assert_int_equal(rec_save(bytes, record, path), REC_E_UNSUPPORTED);
    assert_message(s, REC_E_UNSUPPORTED,
                   "FILE/none/model.mpk: NamedMpkBytes works in memory and has no files\n"
                   "  Use rec_load_bytes and rec_save_bytes, or a recorder with files.");
    free(path);
    path = scratch_path(s, "model.xyz");
    assert_int_equal(rec_save(any, record, path), REC_E_ARGUMENT);
    assert_message(s, REC_E_ARGUMENT,
                   "FILE/model.xyz: its name does not end in the extension of any recorder\n"
                   "  Name the recorder; `record plugins` lists them with their extensions.");
    assert_int_equal(rec_save_bytes(any, record, &data, &size), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "(memory): Auto cannot tell which format to save in\n"
                                             "  Name the recorder; `record plugins` lists them with their extensions.");
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_close_recorder(bytes);
    rec_close_recorder(any);
    free(path);
    scratch_free(s);
}

static void auto_says_what_it_did_not_recognise(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } files[] = {
        {"", 0, "FILE/it: the file is empty"},
        {"hello, world", 12,
         "FILE/it: byte 0: unknown format: it begins with 68 65 6c 6c 6f 2c 20 77\n"
         "  Name the recorder if you know it; `record plugins` lists them."},
        {"PK\x03\x04", 4,
         "FILE/it: byte 0: unknown format: it begins with 50 4b 03 04\n"
         "  It is a zip archive; PyTorch's .pt and .pth files are."},
        {"\x89PNG\r\n\x1a\n", 8,
         "FILE/it: byte 0: unknown format: it begins with 89 50 4e 47 0d 0a 1a 0a\n"
         "  It is a picture (PNG)."},
        {"\x80\x02\x8a\x0a", 4,
         "FILE/it: byte 0: unknown format: it begins with 80 02 8a 0a\n"
         "  It is a Python pickle, as older PyTorch files are: torch.save() it again in Python."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        scratch *s = scratch_new();
        char *path = scratch_write(s, "it", files[i].bytes, files[i].size);
        rec_recorder *recorder = rec_open_recorder("Auto", REC_PRECISION_KEEP);
        assert_null(rec_load(recorder, path));
        assert_message(s, REC_E_UNSUPPORTED, files[i].message);
        assert_null(rec_recognise(NULL, path));
        assert_message(s, REC_E_UNSUPPORTED, files[i].message);
        rec_close_recorder(recorder);
        free(path);
        scratch_free(s);
    }
}

static void a_thread_s_error_lasts_until_its_next_call(void **state)
{
    rec_record *record = rec_record_new(NULL);
    (void)state;
    assert_int_equal(rec_error_status(), REC_OK);
    assert_string_equal(rec_error_message(), "");
    assert_true(rec_error_offset() == REC_UNKNOWN);
    assert_int_equal(rec_error_line(), 0);
    assert_null(rec_tensor_at(record, "x"));
    (void)rec_value_at(record, "y"); /* sets no error, clears none */
    (void)rec_metadata(record, "z");
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    assert_string_equal(rec_error_path(), "x");
    assert_int_equal(rec_set_uint(record, "x", 1), REC_OK);
    assert_int_equal(rec_error_status(), REC_OK);
    assert_string_equal(rec_error_path(), "");
    assert_string_equal(rec_error_hint(), "");
    rec_record_free(record);
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(rec_status_name(REC_OK), "REC_OK");
    assert_string_equal(rec_status_name(REC_E_FORMAT), "REC_E_FORMAT");
    assert_string_equal(rec_status_name(REC_E_CANCELLED), "REC_E_CANCELLED");
    assert_string_equal(rec_status_name(REC_E_TYPE), "REC_E_TYPE");
    assert_string_equal(rec_status_name(REC_E_SYNC), "REC_E_SYNC");
    assert_string_equal(rec_status_name(15), "unknown");
    assert_string_equal(rec_status_name(-1), "unknown");
}

static void very_long_names_are_cut_at_a_character(void **state)
{
    /* 2,000 bytes of two-byte characters: the path is cut in the message, and the message stays UTF-8. */
    char name[2001];
    rec_record *record = rec_record_new(NULL);
    const char *message;
    (void)state;
    for (size_t i = 0; i < 2000; i += 2) {
        memcpy(name + i, "ü", 2);
    }
    name[2000] = '\0';
    assert_null(rec_tensor_at(record, name));
    message = rec_error_message();
    assert_true(strlen(message) < 400);
    assert_non_null(strstr(message, "ü…ü"));
    assert_non_null(strstr(message, "...: the record has no such key"));
    assert_int_equal(strlen(rec_error_path()) % 2, 1); /* whole characters and three dots */
    rec_record_free(record);
}

/* -------------------------------------------------------------------------------------------- what is reported -- */

static bool keys_are_refused;

#if !SANITIZED /* which have one themselves, and call it before there is a program */
/* The program's own, which comes before the system's. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
    static int (*real)(pthread_key_t, const void *);
    if (!real) {
        void *address = dlsym(RTLD_NEXT, "pthread_setspecific");
        memcpy(&real, &address, sizeof real);
    }
    return keys_are_refused && value ? ENOMEM : real(key, value);
}
#endif

static lr_report *report_of(const char *text)
{
    lr_report *report = lr_report_new();
    assert_non_null(report);
    lr_report_add(report, &(rec_note){.size = sizeof(rec_note), .kind = REC_NOTE_ASSUMED, .path = "a", .text = text});
    return report;
}

/* A thread that cannot be given the means to free its report has none. */
static void a_report_that_nobody_would_free_is_not_kept(void **state)
{
    (void)state;
    if (SANITIZED) {
        skip();
    }
    lr_report_publish(report_of("first"), 1);
    assert_string_equal(rec_report_note(0)->text, "first");
    for (int i = 0; i < 2; i++) {
        keys_are_refused = true;
        lr_report_publish(report_of("second"), 1);
        keys_are_refused = false;
        assert_null(rec_report_note(0));
    }
    lr_report_publish(NULL, 0);
}

static void a_report_is_given_back_whole(void **state)
{
    enum { TIMES = 2000, MOST_KIB = 50 * 1024 };
    static char text[100000];
    struct rusage before, after;
    (void)state;
    if (SANITIZED) { /* it keeps what is freed, and tells itself what is not */
        skip();
    }
    memset(text, 'x', sizeof text - 1);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (int i = 0; i < TIMES; i++) {
        lr_report_publish(report_of(text), 1);
        assert_int_equal(strlen(rec_report_note(0)->text), sizeof text - 1);
    }
    lr_report_publish(NULL, 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < MOST_KIB); /* 200 MB were written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_file_gives_its_message),
        cmocka_unit_test(a_file_that_is_not_there_is_named_both_ways),
        cmocka_unit_test(a_target_that_cannot_be_written_is_named),
        cmocka_unit_test(auto_says_what_it_did_not_recognise),
        cmocka_unit_test(a_thread_s_error_lasts_until_its_next_call),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(very_long_names_are_cut_at_a_character),
        cmocka_unit_test(a_report_that_nobody_would_free_is_not_kept),
        cmocka_unit_test(a_report_is_given_back_whole),
    };
    return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
