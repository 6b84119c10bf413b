/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A record as an array: C header, C source, object file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/system.h"
#include "tools/embed/embed_private.h"

void tool_embed_header(FILE *out, const char *symbol, const payload *p)
{
    char *guard = tool_c_name_upper(symbol);

    fprintf(out,
            "/* Made by `record embed`: %" PRIu64 " bytes of a record, for\n"
            " * rec_load_bytes(recorder, %s, %s_size) and the recorder \"%s\". */\n"
            "#ifndef %s_H\n"
            "#define %s_H\n\n"
            "#include <stddef.h>\n\n"
            "#ifdef __cplusplus\n"
            "extern \"C\" {\n"
            "#endif\n\n"
            "/* Aligned to %d bytes. */\n"
            "extern const unsigned char %s[];\n"
            "extern const size_t %s_size;\n\n"
            "#ifdef __cplusplus\n"
            "}\n"
            "#endif\n"
            "#endif\n",
            p->size, symbol, symbol, p->recorder, guard, guard, EMBED_ALIGNMENT, symbol, symbol);
    free(guard);
}

/* Prints all bytes of a file as numbers, whatever its size. */
static int print_bytes(FILE *out, const payload *p)
{
    enum { CHUNK = 64 * 1024, IN_LINE = 24 };
    unsigned char *bytes;
    char items[256][8]; /* each is made into text once */
    uint64_t done = 0;
    size_t count;
    FILE *in = fopen(p->path, "rb");
    int status = EXIT_OK;

    if (!in) {
        return tool_fail("%s: cannot be read: %s", p->path, strerror(errno));
    }
    for (int i = 0; i < 256; i++) {
        (void)snprintf(items[i], sizeof items[i], "%d,", (uint8_t)i);
    }
    bytes = xmalloc(CHUNK);
    while ((errno = 0, count = fread(bytes, 1, CHUNK, in)) > 0) {
        for (size_t i = 0; i < count; i++, done++) {
            fputs(done % IN_LINE ? "" : "\n    ", out);
            fputs(items[bytes[i]], out);
        }
    }
    if (ferror(in)) {
        status = tool_fail("%s: cannot be read: %s", p->path, strerror(errno ? errno : EIO));
    } else if (done != p->size) {
        status = tool_fail("%s: it changed while it was read: %" PRIu64 " bytes were expected, %" PRIu64 " found",
                           p->path, p->size, done);
    }
    free(bytes);
    (void)fclose(in);
    return status;
}

int tool_embed_source(FILE *out, const char *symbol, const payload *p)
{
    int status;

    fprintf(out,
            "/* Made by `record embed`: %" PRIu64 " bytes of a %s record. */\n"
            "#include <stddef.h>\n\n"
            "#if defined(__GNUC__)\n"
            "#define ALIGNED __attribute__((aligned(%d)))\n"
            "#elif defined(__cplusplus)\n"
            "#define ALIGNED alignas(%d)\n"
            "#else\n"
            "#define ALIGNED _Alignas(%d)\n"
            "#endif\n\n"
            "#ifdef __cplusplus\n"
            "extern \"C\" {\n"
            "#endif\n"
            "extern const unsigned char %s[];\n"
            "extern const size_t %s_size;\n"
            "#ifdef __cplusplus\n"
            "}\n"
            "#endif\n\n"
            "const size_t %s_size = %" PRIu64 ";\n"
            "ALIGNED const unsigned char %s[] = {",
            p->size, p->recorder, EMBED_ALIGNMENT, EMBED_ALIGNMENT, EMBED_ALIGNMENT, symbol, symbol, symbol, p->size,
            symbol);
    status = print_bytes(out, p);
    fputs("\n};\n", out);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ object -- */

/* @param preprocessed whether the compiler will know how wide a size_t of its target is. */
static int write_assembly(const workshop *w, const char *symbol, bool preprocessed)
{
    FILE *out = fopen(w->source, "w");
    int error;

    if (!out) {
        return tool_fail("%s: cannot be written: %s", w->source, strerror(errno));
    }
    /* A separate section, which the linker can drop if it is unused. */
    fprintf(out,
            "\t.section .rodata.%s,\"a\",%%progbits\n"
            "\t.globl %s\n"
            "\t.type %s, %%object\n"
            "\t.balign %d\n"
            "%s:\n"
            "\t.incbin \"payload\"\n"
            ".Lend:\n"
            "\t.size %s, .Lend - %s\n"
            "\t.section .rodata.%s_size,\"a\",%%progbits\n"
            "\t.globl %s_size\n"
            "\t.type %s_size, %%object\n"
            "\t.balign 8\n"
            "%s_size:\n",
            symbol, symbol, symbol, EMBED_ALIGNMENT, symbol, symbol, symbol, symbol, symbol, symbol, symbol);
    if (preprocessed) {
        fprintf(out, "#if __SIZEOF_SIZE_T__ == 8\n\t.quad .Lend - %s\n#else\n\t.long .Lend - %s\n#endif\n", symbol,
                symbol);
    } else {
        fprintf(out, "\t.%s .Lend - %s\n", sizeof(size_t) == 8 ? "quad" : "long", symbol);
    }
    fprintf(out,
            "\t.size %s_size, . - %s_size\n"
            "\t.section .note.GNU-stack,\"\",%%progbits\n",
            symbol, symbol);
    error = tool_stream_close(out);
    return error ? tool_fail("%s: cannot be written: %s", w->source, strerror(error)) : EXIT_OK;
}

/* Runs a program in a folder and waits for it. @return its exit status, 127 if it could not be started. */
static int run_in(const char *folder, char *const *arguments, int *error)
{
    int report[2], status = 0;
    pid_t child;

    /* The pipe closes itself when the program starts; what comes through it is why it did not. */
    *error = 0;
    if (pipe2(report, O_CLOEXEC) != 0) {
        *error = errno;
        return 127;
    }
    child = fork();
    if (child == 0) {
        if (chdir(folder) == 0) {
            (void)execvp(arguments[0], arguments);
        }
        *error = errno;
        if (write(report[1], error, sizeof *error) < 0) {
            _exit(126);
        }
        _exit(127);
    }
    if (child < 0) {
        *error = errno;
        (void)close(report[0]);
        (void)close(report[1]);
        return 127;
    }
    (void)close(report[1]);
    if (read(report[0], error, sizeof *error) != (ssize_t)sizeof *error) {
        *error = 0;
    }
    (void)close(report[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The command line of the compiler or assembler. @param variable (out) the one that has it, or NULL. */
static const char *compiler_line(const char **variable)
{
    const char *cc = getenv("CC"), *as = getenv("AS");

    *variable = cc && *cc ? "CC" : as && *as ? "AS" : NULL;
    return cc && *cc ? cc : as && *as ? as : "cc";
}

int tool_embed_object(const char *object, const char *symbol, const workshop *w)
{
    const char *variable, *line = compiler_line(&variable);
    enum { WORDS = 64 };
    /* Debug information would name a temporary folder. */
    char no_debug[] = "-g0", compile[] = "-c", output[] = "-o", source[] = "embed.S";
    char *arguments[WORDS + 8], *result = NULL;
    size_t count = 0, named;
    char *split;
    int error, ended, status;

    if (lr_system_privileged()) { /* PATH and CC are those of whoever started it */
        return tool_fail("a set-user-ID process runs no compiler\nWrite C instead: -o NAME.c");
    }
    bool compiles = !variable || strcmp(variable, "CC") == 0;
    /* As make does it: CC may be a compiler with options, or a wrapper with a compiler. */
    split = xstrdup(line);
    for (char *word, *rest = split; count < WORDS && (word = strtok_r(rest, " \t\n", &rest));) {
        arguments[count++] = word;
    }
    if (count == 0 || count == WORDS) {
        status = tool_fail("%s: expected a command, found \"%s\"", variable, line);
        goto done;
    }
    named = count;
    if (compiles) {
        arguments[count++] = no_debug;
        arguments[count++] = compile;
    }
    result = xstrdup(object);
    arguments[count++] = output;
    arguments[count++] = result;
    arguments[count++] = source;
    arguments[count] = NULL;
    if ((status = write_assembly(w, symbol, compiles)) == EXIT_OK) {
        ended = run_in(w->folder, arguments, &error);
        if (error) {
            char *named_by = variable ? xasprintf(" (named by %s)", variable) : xstrdup("");
            status = tool_fail("an object file needs an assembler, and %s%s could not be started: %s\n"
                               "Name a compiler by CC or an assembler by AS, or embed as C: --output FILE.c",
                               arguments[0], named_by, strerror(error));
            free(named_by);
        } else if (ended != 0) {
            text command = {0};
            for (size_t i = 0; i < named; i++) {
                tool_text_put(&command, i ? " " : "");
                tool_text_put(&command, arguments[i]);
            }
            status = tool_fail("%s did not make the object file (status %d)\n"
                               "It was given a few lines of assembly with .incbin. To embed as C: --output FILE.c",
                               command.at, ended);
            tool_text_free(&command);
        }
    }

done:
    free(result);
    free(split);
    return status;
}
