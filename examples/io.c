/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes that go through functions of one's own: a record that lies within another file, loaded by read_at, and one
 * whose tensor is made while it is saved, as a trainer does whose tensors are on a device.
 *
 *     io PACK OFFSET OUT    (reads the record at OFFSET of the file PACK, writes OUT) */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>

/* ---- a record within a file: librecord asks for what it needs, when it needs it ---- */

struct pack {
    FILE *file;
    long begin;
};

static int32_t pack_read_at(void *user, uint64_t offset, void *target, uint64_t size)
{
    struct pack *pack = user;
    if (fseek(pack->file, pack->begin + (long)offset, SEEK_SET) != 0) {
        return errno;
    }
    return fread(target, 1, (size_t)size, pack->file) == size ? 0 : EIO;
}

static void pack_release(void *user)
{
    struct pack *pack = user;
    puts("the pack is closed"); /* by whoever needs it last: here, the record */
    (void)fclose(pack->file);
    free(pack);
}

static rec_record *load_packed(rec_recorder *recorder, const char *path, long begin)
{
    struct pack *pack = malloc(sizeof *pack);
    rec_input input = {.size = sizeof input, .name = path, .read_at = pack_read_at, .release = pack_release};
    if (!pack) {
        return NULL;
    }
    pack->begin = begin;
    pack->file = fopen(path, "rb");
    if (!pack->file || fseek(pack->file, 0, SEEK_END) != 0 || ftell(pack->file) < begin) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (pack->file) {
            (void)fclose(pack->file);
        }
        free(pack);
        return NULL;
    }
    input.total = (uint64_t)(ftell(pack->file) - begin);
    return rec_load_from(recorder, &input, pack); /* which releases the pack also if it fails */
}

/* ---- a tensor that is made: 1,000,000 numbers that are never in memory together ---- */

static int32_t copy_from_device(void *user, uint64_t offset, void *target, uint64_t size)
{
    const float *scale = user;
    /* A real one would copy `size` bytes from `offset` of a buffer of the device: this one counts. */
    for (uint64_t i = 0; i < size; i++) {
        float number = *scale * (float)((offset + i) / sizeof number);
        memcpy((char *)target + i, (const char *)&number + (offset + i) % sizeof number, 1);
    }
    return 0; /* or an errno, which is what the save then fails with */
}

static rec_status add_device_tensor(rec_record *record, float *scale)
{
    const uint64_t shape[] = {1000, 1000};
    const rec_tensor_spec spec = {.size = sizeof spec,
                                  .dtype = REC_DTYPE_F32,
                                  .rank = 2,
                                  .ownership = REC_PRODUCE,
                                  .shape = shape,
                                  .data_size = 4000000,
                                  .id = "",
                                  .user = scale,
                                  .produce = copy_from_device};
    return rec_set_tensor(record, "device.weight", &spec);
}

/* ---- an output of one's own: here a file that is written straight ---- */

static int32_t file_write(void *user, const void *data, uint64_t size)
{
    return fwrite(data, 1, (size_t)size, user) == size ? 0 : errno;
}

static int32_t file_finish(void *user, int32_t ok)
{
    int closed = fclose(user);
    puts(ok ? "all of it is written" : "nothing counts");
    return closed == 0 ? 0 : errno;
}

int main(int argc, char **argv)
{
    const rec_output output = {.size = sizeof output, .name = "device.mpk", .write = file_write, .finish = file_finish};
    rec_recorder *recorder = NULL;
    rec_record *packed = NULL, *device = NULL, *again = NULL;
    const rec_tensor *tensor;
    const float *numbers;
    float scale = 0.5f;
    FILE *out;
    int status = EXIT_FAILURE;

    if (argc != 4) {
        fprintf(stderr, "usage: io PACK OFFSET OUT\n");
        return EXIT_FAILURE;
    }
    if (!(recorder = rec_open_recorder("NamedMpk", FULL)) ||
        !(packed = load_packed(recorder, argv[1], strtol(argv[2], NULL, 10)))) {
        goto done;
    }
    if (!(tensor = rec_tensor_at(packed, "linear.weight")) || !(numbers = rec_tensor_f32(tensor))) {
        goto done;
    }
    printf("the packed record's weight starts with %g\n", numbers[0]);
    rec_record_free(packed);
    packed = NULL;

    if (!(device = rec_record_new(NULL)) || add_device_tensor(device, &scale) != REC_OK) {
        goto done;
    }
    out = fopen(argv[3], "wb");
    if (!out) {
        perror(argv[3]);
        goto done;
    }
    if (rec_save_to(recorder, device, &output, out) != REC_OK || !(again = rec_load(recorder, argv[3])) ||
        !(tensor = rec_tensor_at(again, "device.weight")) || !(numbers = rec_tensor_f32(tensor))) {
        goto done;
    }
    printf("%llu numbers, the last one %.1f\n", (unsigned long long)rec_tensor_count(tensor), numbers[999999]);
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "%s\n", rec_error_message());
    }
    rec_record_free(again);
    rec_record_free(device);
    rec_record_free(packed);
    rec_close_recorder(recorder);
    return status;
}
