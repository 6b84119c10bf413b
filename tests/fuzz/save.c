/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves into directories that somebody else prepared: links, hard links, FIFOs and directories under the names that a
 * save uses, forged files to resume among them. The first byte selects the save; then each pair of bytes puts something
 * into the directory. Whatever is there, no other file changes, and the target is the old file or the new one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "librecord/parallel.h"
#include "tests/fuzz/fuzz.h"

/* The first is the target, the second what a save is resumed from. */
static const char *const names[] = {"m.mpk",
                                    ".m.mpk.librecord-resume",
                                    ".m.mpk.abcdef.librecord-tmp",
                                    ".m.mpk.abcdef-00001.librecord-tmp",
                                    ".m.mpk.abcdef.librecord-set",
                                    ".m.mpk.librecord-resume-lock",
                                    "m.mpk.index.json",
                                    "m-00001-of-00002.mpk"};
enum { NAMES = sizeof names / sizeof *names, PLANTS_MOST = 16, FILLED = 9 };
enum { PLANT_FILE, PLANT_FOLDER, PLANT_LINK, PLANT_HARD_LINK, PLANT_FIFO, PLANT_DANGLING, PLANTS };

static const char precious[] = "precious", old[] = "old", filled[] = "filled at";

/* Whether a file has these bytes. */
static bool holds(const char *path, const char *text)
{
    char bytes[64];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    return got == (ssize_t)strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
}

/* What is there already stays. */
static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        fuzz_must(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0, "a file");
    }
}

/* A link or a FIFO as the target is what the caller wants to be written. */
static void plant(const char *path, const char *victim, bool target, unsigned kind)
{
    switch (target ? kind % PLANT_LINK : kind % PLANTS) {
    case PLANT_FILE:
        write_file(path, old);
        break;
    case PLANT_FOLDER:
        (void)mkdir(path, 0700);
        break;
    case PLANT_LINK:
        (void)!symlink(victim, path);
        break;
    case PLANT_HARD_LINK:
        (void)!link(victim, path);
        break;
    case PLANT_FIFO:
        (void)mkfifo(path, 0600);
        break;
    default:
        (void)!symlink("nowhere", path);
        break;
    }
}

static int32_t fill(void *user, rec_filling *told)
{
    int fd = open(told->files[0].temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    const int32_t *keep = user;
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) {
        error = pwrite(fd, filled, FILLED, 0) == FILLED && ftruncate(fd, FILLED) == 0 ? 0 : EIO;
        (void)close(fd);
    }
    told->keep = *keep;
    return *keep ? EIO : error;
}

/* @param how 0: a record, 1: resumed, 2: resumed and failed, 3: filled by the program. */
static rec_status save(rec_context *context, const char *path, unsigned how)
{
    static const char text[] =
        "{\"metadata\":{\"float\":\"f32\",\"int\":\"i32\",\"format\":\"x\",\"version\":\"0.18.0\","
        "\"settings\":\"x\"},\"item\":{\"a\":1}}";
    rec_recorder *json = rec_open_recorder_in(context, "PrettyJson", REC_PRECISION_KEEP);
    rec_recorder *mpk = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
    rec_record *record = json ? rec_load_bytes(json, text, sizeof text - 1) : NULL;
    const rec_file one = {.size = FILLED};
    const rec_filling filling = {.size = sizeof filling, .files = &one, .count = 1, .resume = how == 1 || how == 2};
    int32_t keep = how == 2;
    rec_status status = REC_E_MEMORY;
    if (mpk && record) {
        status = how ? rec_save_filled(mpk, path, &filling, fill, &keep) : rec_save(mpk, record, path);
    }
    rec_record_free(record);
    rec_close_recorder(mpk);
    rec_close_recorder(json);
    return status;
}

int fuzz_save(const uint8_t *data, size_t size)
{
    char folder[128], victim[160], paths[NAMES][192];
    unsigned how = size ? data[0] % 4 : 0;
    bool there;
    rec_status status;
    (void)snprintf(folder, sizeof folder, "%s/save", fuzz_folder());
    (void)snprintf(victim, sizeof victim, "%s/victim", fuzz_folder());
    fuzz_must(mkdir(folder, 0700) == 0 || errno == EEXIST, "a folder");
    (void)unlink(victim);
    write_file(victim, precious);
    for (size_t i = 0; i < NAMES; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    }
    for (size_t i = 1; i + 1 < size && i < 2 * PLANTS_MOST; i += 2) {
        unsigned name = data[i] % NAMES;
        plant(paths[name], victim, name == 0, data[i + 1]);
    }
    there = holds(paths[0], old);
    status = save(fuzz_context(size), paths[0], how);
    fuzz_must(holds(victim, precious), "no other file changes");
    if (status == REC_OK || status == REC_E_SYNC) {
        fuzz_must(!how || holds(paths[0], filled), "the target is the new file");
    } else {
        fuzz_must_say();
        fuzz_must(!there || holds(paths[0], old), "the target is the old file");
    }
    for (size_t i = 0; i < NAMES; i++) {
        (void)(unlink(paths[i]) != 0 && rmdir(paths[i]));
    }
    fuzz_must(rmdir(folder) == 0, "nothing else stays");
    return 1;
}
