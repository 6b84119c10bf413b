/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The command record(1), run in this process on files of any bytes. The input is a head of 6 bytes and the files:
 *   0     the command line, an index of `lines`
 *   1     the extension of the files, an index of `extensions`
 *   2     options, a bit each
 *   3     the extension of the output
 *   4, 5  the size of the first file, little endian; the rest is the second one. A line with one file takes all */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

/* Its main() under another name; all else of the command is linked. */
int fuzz_record_main(int argc, char **argv);
#define main fuzz_record_main
#include "tools/main.c"
#undef main

enum { HEAD = 6, WORDS_MOST = 24, OUTPUT_CHECKED = 1 << 20 };

/* The words of a command line: A and B are the files, OUT the output. */
static const char *const lines[] = {
    "info A",
    "ls A",
    "show A",
    "stats A",
    "verify A",
    "diff A B",
    "report -o OUT A",
    "edit A set fuzz.0.added 1 -o OUT",
    "ls --all A",
    "ls -l A",
    "ls --tree A",
    "ls --sha256 --sort -size A",
    "show --all A",
    "show A *",
    "stats --all A",
    "stats A *",
    "verify --nan A B",
    "verify --sums write --sums-file OUT A",
    "diff --bits --ids --order A B",
    "diff --by position --rtol 0.1 A B",
    "diff --brief --ignore dtype A B",
    "report -o OUT A B",
    "edit A rm *.weight cast * f16 -o OUT",
    "edit A mv ^([a-z]+) x.$1 meta fuzz 1 -o OUT",
    "edit A merge B -o OUT",
    "edit A --overwrite merge B set *[0] 0.5 -o OUT",
    "edit -n A cast * i8",
    "info A B",
};

static const char *const extensions[] = {"mpk", "json", "bin",    "safetensors", "bpk",    "pt",
                                         "npz", "gguf", "mpk.gz", "json.gz",     "bin.gz", "mpk.zst"};
enum { LINES = sizeof lines / sizeof *lines, EXTENSIONS = sizeof extensions / sizeof *extensions };

/* A line as main() is given it, in words of its own. */
typedef struct invocation {
    char *words[WORDS_MOST + 1];
    int count;
    bool both, json, colored; /* it takes two files; what its output is */
    bool raw;                 /* strings are printed unchanged: `show KEY`, where output is no terminal */
    char a[128], b[128], out[128];
} invocation;

static void add_word(invocation *v, const char *word, size_t length)
{
    const char *path = NULL;

    if (length == 1 && (*word == 'A' || *word == 'B')) {
        path = *word == 'A' ? v->a : v->b;
        v->both = v->both || *word == 'B';
    } else if (length == 3 && memcmp(word, "OUT", 3) == 0) {
        path = v->out;
    }
    fuzz_must(v->count < WORDS_MOST, "room for the words");
    v->words[v->count] = path ? strdup(path) : strndup(word, length);
    fuzz_must(v->words[v->count++] != NULL, "memory for a word");
}

static void add_words(invocation *v, const char *more)
{
    while (*more) {
        size_t length = strcspn(more, " ");
        add_word(v, more, length);
        more += length + (more[length] == ' ');
    }
}

static void add_options(invocation *v, uint8_t bits)
{
    static const char *const choices[] = {"--json",       "--no-map", "--profile auto", "--precision half",
                                          "--positional", "--strict", "--color always", "--threads 2"};

    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (bits >> i & 1) {
            add_words(v, choices[i]);
        }
    }
    v->json = bits & 1;
    v->colored = bits >> 6 & 1;
    if (!(bits >> 7 & 1)) {
        add_words(v, "--no-threads");
    }
}

static void make_invocation(invocation *v, const uint8_t *head, const char *folder)
{
    const char *line = lines[head[0] % LINES];
    const char *extension = extensions[head[1] % EXTENSIONS];
    const char *other = extensions[head[3] % EXTENSIONS];

    (void)snprintf(v->a, sizeof v->a, "%s/a.%s", folder, extension);
    (void)snprintf(v->b, sizeof v->b, "%s/b.%s", folder, extension);
    (void)snprintf(v->out, sizeof v->out, "%s/out.%s", folder, other);
    add_words(v, "record");
    add_words(v, line);
    add_options(v, head[2]);
    v->raw = strcmp(line, "show A *") == 0 && !v->json;
}

/* ------------------------------------------------------------------------------------------------------ output -- */

/* What the command printed to a stream: how much, and its first bytes. */
typedef struct printed {
    size_t size;
    char at[OUTPUT_CHECKED];
} printed;

/* Characters that control a terminal or the direction of text. JSON may have the latter in its strings. */
static bool is_unsafe(uint32_t code, bool in_json, bool colored)
{
    if (code < ' ' || code == 0x7f) {
        return code != '\n' && !(colored && code == '\033');
    }
    return !in_json &&
           (code < 0xa0 ? code > 0x7f : (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069));
}

/* Names and texts of a file are printed as UTF-8 that is safe on a terminal. */
static bool is_safe(const printed *p, bool in_json, bool colored)
{
    size_t size = p->size < sizeof p->at ? p->size : 0, step;
    uint32_t code;

    for (size_t i = 0; i < size; i += step) {
        step = tool_utf8_next(p->at + i, size - i, &code);
        if (step == 0 || is_unsafe(code, in_json, colored)) {
            return false;
        }
    }
    return true;
}

/* As fuzz_must(), with the command line. */
static void must(const invocation *v, bool holds, const char *what)
{
    for (int i = 0; !holds && i < v->count; i++) {
        (void)fprintf(stderr, "%s%s", v->words[i], i + 1 < v->count ? " " : "\n");
    }
    fuzz_must(holds, what);
}

static void check_printed(const invocation *v, int status, const printed *out, const printed *error)
{
    must(v, v->raw || is_safe(out, v->json, v->colored), "output without control characters");
    must(v, is_safe(error, false, v->colored), "messages without control characters");
    must(v, status >= EXIT_OK && status <= EXIT_UNSYNCED, "an exit status of the manual");
    must(v, status != EXIT_ERROR || error->size > 0, "an error has words");
    must(v, status != EXIT_ERROR || rec_error_status() != REC_E_PLUGIN, "no plugin breaks its contract");
    if (v->json && status != EXIT_ERROR && out->size < sizeof out->at) {
        must(v, fuzz_is_json(out->at, out->size), "--json prints JSON");
    }
}

#ifdef __GLIBC__
static ssize_t keep_output(void *cookie, const char *bytes, size_t size)
{
    printed *p = cookie;
    size_t room = p->size < sizeof p->at ? sizeof p->at - p->size : 0;

    memcpy(p->at + sizeof p->at - room, bytes, size < room ? size : room);
    p->size += size;
    return (ssize_t)size;
}

static FILE *open_printed(printed *p)
{
    FILE *file;

    p->size = 0;
    file = fopencookie(p, "w", (cookie_io_functions_t){.write = keep_output});
    fuzz_must(file != NULL, "a stream");
    return file;
}

/* Runs it with streams that are checked. Reports of sanitizers go to the descriptor, which stays. */
static void run_checked(invocation *v)
{
    static printed printed_out, printed_error;
    FILE *out = stdout, *error = stderr, *ours[2];
    int status;

    stdout = ours[0] = open_printed(&printed_out);
    stderr = ours[1] = open_printed(&printed_error);
    status = fuzz_record_main(v->count, v->words);
    (void)fclose(ours[0]);
    (void)fclose(ours[1]);
    stdout = out;
    stderr = error;
    check_printed(v, status, &printed_out, &printed_error);
}
#else
/* A stream whose descriptor is a file in memory for a while. */
typedef struct redirected {
    FILE *stream;
    int kept, file;
} redirected;

static void redirect(redirected *r)
{
    (void)fflush(r->stream);
    r->kept = dup(fileno(r->stream));
    r->file = memfd_create("printed", MFD_CLOEXEC);
    fuzz_must(r->kept >= 0 && r->file >= 0 && dup2(r->file, fileno(r->stream)) >= 0, "a descriptor");
}

static void restore(redirected *r, printed *p)
{
    ssize_t got;
    (void)fflush(r->stream);
    got = pread(r->file, p->at, sizeof p->at, 0);
    fuzz_must(got >= 0 && dup2(r->kept, fileno(r->stream)) >= 0, "the descriptor again");
    p->size = (size_t)got;
    (void)close(r->kept);
    (void)close(r->file);
}

/* The same with a C library whose streams cannot be replaced. */
static void run_checked(invocation *v)
{
    static printed printed_out, printed_error;
    redirected out = {.stream = stdout}, error = {.stream = stderr};
    int status;
    redirect(&out);
    redirect(&error);
    status = fuzz_record_main(v->count, v->words);
    restore(&out, &printed_out);
    restore(&error, &printed_error);
    check_printed(v, status, &printed_out, &printed_error);
}
#endif

/* ------------------------------------------------------------------------------------------------------- files -- */

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    fuzz_must(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size) && close(fd) == 0, "a file");
}

/* The next descriptor: it is the same before and after, if none stayed open. */
static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    fuzz_must(fd >= 0 && close(fd) == 0, "a descriptor");
    return fd;
}

static void write_files(const invocation *v, const uint8_t *head, const uint8_t *data, size_t size)
{
    size_t first = v->both ? (size_t)(head[4] | head[5] << 8) : size;

    first = first < size ? first : size;
    write_file(v->a, data, first);
    if (v->both) {
        write_file(v->b, data + first, size - first);
    }
}

/* A folder that is made for each run, so that what stays in it is seen. No configuration of the user's is read. */
static const char *run_folder(void)
{
    static char folder[80];

    if (!folder[0]) {
        (void)snprintf(folder, sizeof folder, "%s/command", fuzz_folder());
        /* A sandbox would hold for all that follow. */
        fuzz_must(setenv("LIBRECORD_SANDBOX", "no", 1) == 0, "memory for the environment");
        fuzz_must(setenv("XDG_CONFIG_HOME", fuzz_folder(), 1) == 0 && setenv("XDG_CONFIG_DIRS", fuzz_folder(), 1) == 0,
                  "an environment");
    }
    fuzz_must(mkdir(folder, 0700) == 0, "a folder");
    return folder;
}

static void remove_files(const invocation *v, const char *folder)
{
    (void)unlink(v->a);
    (void)unlink(v->b);
    (void)unlink(v->out);
    must(v, rmdir(folder) == 0, "no other files stay");
}

int fuzz_command(const uint8_t *data, size_t size)
{
    uint8_t head[HEAD] = {0};
    size_t have = size < HEAD ? size : HEAD;
    const char *folder = run_folder();
    invocation v = {.count = 0};
    int next;

    if (have) {
        memcpy(head, data, have);
    }
    make_invocation(&v, head, folder);
    write_files(&v, head, data + have, size - have);
    next = next_descriptor();
    run_checked(&v);
    must(&v, next_descriptor() == next, "no descriptor stays open");
    remove_files(&v, folder);
    for (int i = 0; i < v.count; i++) {
        free(v.words[i]);
    }
    return 1;
}

/* The head, or the last file: one of MessagePack by its structure, so that records load which no recorder saved. */
size_t fuzz_mutate_command(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint64_t random = seed + UINT64_C(0x9e3779b97f4a7c15);
    unsigned choice = (unsigned)fuzz_random(&random) % 8;
    size_t first, at = HEAD;

    if (size <= HEAD || choice == 0) {
        return fuzz_mutate_bytes(data, size, room);
    }
    if (choice <= 2) {
        data[fuzz_random(&random) % HEAD] = (uint8_t)(fuzz_random(&random) >> 8);
        return size;
    }
    first = (size_t)(data[4] | data[5] << 8);
    at += first < size - HEAD ? first : 0;
    if (data[1] % EXTENSIONS == 0) {
        return at + fuzz_mutate_mpk(data + at, size - at, room - at, seed);
    }
    return at + fuzz_mutate_bytes(data + at, size - at, room - at);
}
