/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PyTorch's pickles, operation by operation: what each call may be given, what is made of it, every mistake with its
 * place and words, and the stream around them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"

#include "tests/message.h"
#include "tests/scalar.h"
#include "tests/test_meter.h"

#define P(text) text, sizeof(text) - 1

/* The stream before zip: its magic, version, sizes; the pickle that counts; the list of storages; and these. */
#define MAGIC "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
#define PROTOCOL "\x80\x02M\xe9\x03."
#define SIZES "\x80\x02}."
#define HEAD MAGIC PROTOCOL SIZES

#define S1(c) "X\1\0\0\0" c
#define GLOBAL(module, name) "c" module "\n" name "\n"
#define UTILS(name) GLOBAL("torch._utils", name)
#define FLOATS GLOBAL("torch", "FloatStorage")
#define ID(type, key, count, more) "(X\7\0\0\0storage" type key "X\3\0\0\0cpu" count more "t"
#define STORAGE(count) ID(FLOATS, S1("0"), "K" count, "") "Q"
#define TENSOR(offset, size, stride) UTILS("_rebuild_tensor_v2") "(" STORAGE("\2") offset size stride "\x89}tR"
#define LISTED "\x80\x02]" S1("0") "a.\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40"

static char told[512]; /* what the last load left out, or did not adapt */

static const char *crc = "no"; /* the option */
static void *file;             /* what the last load read, into which its record points */

static rec_record *load(const void *data, size_t size, const char *key)
{
    rec_recorder *recorder = rec_open_recorder_in(meter_context, "PyTorch", REC_PRECISION_KEEP);
    rec_record *record;
    free(file);
    file = malloc(size); /* exactly, as a byte too many is the sanitizer's */
    assert_true(recorder && file);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "top-level-key", key), REC_OK);
    assert_int_equal(rec_recorder_set(recorder, "crc", crc), REC_OK);
    memcpy(file, data, size);
    record = rec_load_bytes(recorder, file, size);
    told[0] = '\0';
    for (uint64_t i = 0; record && i < rec_report_count(); i++) {
        if (rec_report_note(i)->kind == REC_NOTE_DROPPED || rec_report_note(i)->kind == REC_NOTE_LAYOUT) {
            (void)snprintf(told, sizeof told, "%s", rec_report_note(i)->text);
        }
    }
    rec_close_recorder(recorder);
    return record;
}

/* A stream of that pickle, and of what follows it. */
static rec_record *load_pickle(const char *pickle, size_t length, const char *rest, size_t rest_length, const char *key)
{
    size_t size = sizeof HEAD - 1 + length + rest_length;
    char *data = malloc(size);
    rec_record *record;
    assert_non_null(data);
    memcpy(data, HEAD, sizeof HEAD - 1);
    memcpy(data + sizeof HEAD - 1, pickle, length);
    memcpy(data + sizeof HEAD - 1 + length, rest, rest_length);
    record = load(data, size, key);
    free(data);
    return record;
}

static const char *name_of(const char *pickle, size_t length)
{
    static char text[512];
    size_t used = 0;
    for (size_t i = 0; i < length && used + 8 < sizeof text; i++) {
        unsigned char c = (unsigned char)pickle[i];
        used += (size_t)snprintf(text + used, sizeof text - used, c > ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    return text;
}

/* ------------------------------------------------------------------------------------------------ what is made -- */

/* A pickle that is read as a whole, and a value in it as text: its kind (as rec_kind) and what it is. */
static const struct {
    const char *pickle;
    size_t length;
    const char *path;
    int32_t kind;
    const char *text;
} made[] = {
    {P("\x80\x02K\5."), "", REC_KIND_UINT, "5"},
    {P("\x80\x02M\1\2."), "", REC_KIND_UINT, "513"},
    {P("\x80\x02J\xff\xff\xff\xff."), "", REC_KIND_INT, "-1"},
    {P("\x80\x02\x8a\0."), "", REC_KIND_UINT, "0"},
    {P("\x80\x02\x8a\1\x80."), "", REC_KIND_INT, "-128"},
    {P("\x80\x02\x8a\2\x80\0."), "", REC_KIND_UINT, "128"},
    {P("\x80\x02\x8b\2\0\0\0\xff\xff."), "", REC_KIND_INT, "-1"},
    {P("\x80\x02\x8a\x08\0\0\0\0\0\0\0\x80."), "", REC_KIND_INT, "-9223372036854775808"},
    {P("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."), "", REC_KIND_UINT, "18446744073709551615"},
    {P("\x80\x02\x8a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0."), "", REC_KIND_UINT, "18446744073709551615"},
    {P("\x80\x02\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff."), "", REC_KIND_INT, "-1"},
    {P("\x80\x02G\xbf\xe0\0\0\0\0\0\0."), "", REC_KIND_FLOAT, "-0.5"},
    {P("\x80\x02N."), "", REC_KIND_NIL, ""},
    {P("\x80\x02\x88."), "", REC_KIND_BOOL, "1"},
    {P("\x80\x02\x89."), "", REC_KIND_BOOL, "0"},
    {P("\x80\x04\x8c\2\xc3\xa9."), "", REC_KIND_STRING, "\xc3\xa9"},
    {P("\x80\x04\x8d\2\0\0\0\0\0\0\0ab."), "", REC_KIND_STRING, "ab"},
    {P("\x80\x02T\2\0\0\0ab."), "", REC_KIND_STRING, "ab"},
    {P("\x80\x02U\2ab."), "", REC_KIND_STRING, "ab"},
    {P("\x80\x02U\2a\xff."), "", REC_KIND_BYTES, "61ff"}, /* Python 2 had no other */
    {P("\x80\x03"
       "C\2ab."),
     "", REC_KIND_BYTES, "6162"},
    {P("\x80\x03"
       "B\2\0\0\0ab."),
     "", REC_KIND_BYTES, "6162"},
    {P("\x80\x04\x8e\2\0\0\0\0\0\0\0ab."), "", REC_KIND_BYTES, "6162"},
    {P("\x80\x05\x96\2\0\0\0\0\0\0\0ab."), "", REC_KIND_BYTES, "6162"},
    {P("\x80\x02" GLOBAL("_codecs", "encode") "X\3\0\0\0a\xc3\xbfX\6\0\0\0latin1\x86R."), "", REC_KIND_BYTES, "61ff"},
    {P("\x80\x02" GLOBAL("_codecs", "encode") "X\1\0\0\0aX\7\0\0\0latin-1\x86R."), "", REC_KIND_BYTES, "61"},
    {P("\x80\x02" GLOBAL("__builtin__", "bytes") ")R."), "", REC_KIND_BYTES, ""},
    {P("\x80\x04" GLOBAL("builtins", "bytearray") "C\1a\x85R."), "", REC_KIND_BYTES, "61"},
    /* the stack */
    {P("\x80\x02K\1K\2"
       "0."),
     "", REC_KIND_UINT, "1"},
    {P("\x80\x02K\1(K\2K\3"
       "1."),
     "", REC_KIND_UINT, "1"},
    {P("\x80\x02K\1(0."), "", REC_KIND_UINT, "1"}, /* what is on top is the mark */
    {P("\x80\x02K\1"
       "2\x86."),
     "1", REC_KIND_UINT, "1"},
    {P("\x80\x02K\1K\2K\3\x87."), "2", REC_KIND_UINT, "3"},
    {P("\x80\x02(K\1K\2t."), "1", REC_KIND_UINT, "2"},
    {P("\x80\x02]K\7a."), "0", REC_KIND_UINT, "7"},
    {P("\x80\x02](K\7K\x08"
       "e."),
     "1", REC_KIND_UINT, "8"},
    {P("\x80\x02}" S1("k") "K\7s."), "k", REC_KIND_UINT, "7"},
    {P("\x80\x02}(" S1("k") "K\7u."), "k", REC_KIND_UINT, "7"},
    {P("\x80\x04\x8f(K\7\x90."), "0", REC_KIND_UINT, "7"},
    {P("\x80\x04(K\7\x91."), "0", REC_KIND_UINT, "7"},
    /* the memo */
    {P("\x80\x02K\7q\x10"
       "0h\x10."),
     "", REC_KIND_UINT, "7"},
    {P("\x80\x02K\7q\0"
       "0K\x08r\1\0\0\0"
       "0j\1\0\0\0."),
     "", REC_KIND_UINT, "8"},
    {P("\x80\x04\x95\7\0\0\0\0\0\0\0K\7\x94"
       "0h\0."),
     "", REC_KIND_UINT, "7"},
    /* keys of dictionaries that are no texts */
    {P("\x80\x02}(K\2K\7J\xff\xff\xff\xffK\x08u."), "2", REC_KIND_UINT, "7"},
    {P("\x80\x02}(K\2K\7J\xff\xff\xff\xffK\x08u."), "-1", REC_KIND_UINT, "8"},
    {P("\x80\x02}(\x88K\7\x89K\x08u."), "true", REC_KIND_UINT, "7"},
    {P("\x80\x02}(\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0K\7u."), "18446744073709551615", REC_KIND_UINT, "7"},
    /* what is called */
    {P("\x80\x02" GLOBAL("collections", "OrderedDict") ")R" S1("k") "K\7s."), "k", REC_KIND_UINT, "7"},
    {P("\x80\x02" GLOBAL("collections", "OrderedDict") "](" S1("k") "K\7\x86](" S1("l") "K\x08"
                                                                                        "ee\x85R."),
     "l", REC_KIND_UINT, "8"},
    {P("\x80\x02" GLOBAL("collections", "Counter") "}" S1("k") "K\7s\x85R."), "k", REC_KIND_UINT, "7"},
    {P("\x80\x02" GLOBAL("collections", "OrderedDict") ")R}" S1("m") "Nsb" S1("k") "K\7s."), "k", REC_KIND_UINT, "7"},
    {P("\x80\x02" GLOBAL("torch", "Size") "K\1K\7\x86\x85R."), "1", REC_KIND_UINT, "7"},
    {P("\x80\x02" GLOBAL("torch", "Size") ")\x81."), "", REC_KIND_LIST, ""},
    {P("\x80\x02" GLOBAL("__builtin__", "set") "]K\7"
                                               "a\x85R."),
     "0", REC_KIND_UINT, "7"},
    {P("\x80\x02" GLOBAL("torch", "device") "X\3\0\0\0cpu\x85R."), "", REC_KIND_STRING, "cpu"},
    {P("\x80\x02" GLOBAL("torch", "device") "X\4\0\0\0cudaK\1\x86R."), "1", REC_KIND_UINT, "1"},
    {P("\x80\x02" GLOBAL("__builtin__", "complex") "G\0\0\0\0\0\0\0\0G\xbf\xe0\0\0\0\0\0\0\x86R."), "1", REC_KIND_FLOAT,
     "-0.5"},
    {P("\x80\x02" GLOBAL("torch", "bfloat16") "."), "", REC_KIND_STRING, "torch.bfloat16"},
    {P("\x80\x02" GLOBAL("torch", "Tensor") "."), "", REC_KIND_STRING, "torch.Tensor"},
    {P("\x80\x02" FLOATS "."), "", REC_KIND_STRING, "torch.FloatStorage"},
    {P("\x80\x04\x8c\5torch\x8c\4Size\x93."), "", REC_KIND_STRING, "torch.Size"},
};

static void each_operation_makes_its_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        rec_record *record = load_pickle(made[i].pickle, made[i].length, P("\x80\x02]."), ".");
        const rec_value *value = record ? rec_value_at(record, made[i].path) : NULL;
        rec_scalar scalar = {0};
        int32_t kind = rec_value_kind(value);
        char found[64] = "";
        if (!record) {
            fail_msg("%s: %s", name_of(made[i].pickle, made[i].length), rec_error_message());
        }
        if (kind == REC_KIND_BYTES) {
            uint64_t size = 0;
            const uint8_t *bytes = rec_value_bytes(value, &size);
            assert_true(size < sizeof found / 2);
            for (size_t k = 0; k < size; k++) {
                (void)snprintf(found + 2 * k, sizeof found - 2 * k, "%02x", bytes[k]);
            }
        } else {
            scalar = scalar_at(record, made[i].path);
            kind = value ? kind : scalar.kind;
            (void)(scalar.kind == REC_KIND_STRING
                       ? snprintf(found, sizeof found, "%.*s", (int)scalar.v.length, scalar.text)
                   : scalar.kind == REC_KIND_FLOAT ? snprintf(found, sizeof found, "%g", scalar.v.f)
                   : scalar.kind == REC_KIND_UINT
                       ? snprintf(found, sizeof found, "%llu", (unsigned long long)scalar.v.u)
                   : scalar.kind == REC_KIND_INT || scalar.kind == REC_KIND_BOOL
                       ? snprintf(found, sizeof found, "%lld", (long long)scalar.v.i)
                       : 0);
        }
        if (kind != made[i].kind || strcmp(found, made[i].text) != 0) {
            fail_msg("%s: a value of kind %d: %s", name_of(made[i].pickle, made[i].length), (int)kind, found);
        }
        rec_record_free(record);
    }
}

/* Lists of numbers of one kind are packed, those of several kinds are not. */
static void test_lists_of_numbers_are_packed(void **state)
{
    static const struct {
        const char *pickle;
        size_t length;
        int32_t kind; /* of the list */
        int32_t number;
        uint64_t count;
    } lists[] = {
        {P("\x80\x02](K\1K\2K\3e."), REC_KIND_NUMBERS, REC_KIND_UINT, 3},
        {P("\x80\x02](K\1J\xff\xff\xff\xff"
           "e."),
         REC_KIND_NUMBERS, REC_KIND_INT, 2},
        {P("\x80\x02](\x88\x89"
           "e."),
         REC_KIND_NUMBERS, REC_KIND_BOOL, 2},
        {P("\x80\x02](G\x3f\xf8\0\0\0\0\0\0G\0\0\0\0\0\0\0\0e."), REC_KIND_NUMBERS, REC_KIND_FLOAT, 2},
        {P("\x80\x02K\1K\2\x86."), REC_KIND_NUMBERS, REC_KIND_UINT, 2},
        {P("\x80\x02](K\1\x88"
           "e."),
         REC_KIND_LIST, REC_KIND_NIL, 2},
        {P("\x80\x02](K\1K\2" S1("a") "e."), REC_KIND_LIST, REC_KIND_NIL, 3},
        {P("\x80\x02](K\1G\x3f\xf8\0\0\0\0\0\0"
           "e."),
         REC_KIND_LIST, REC_KIND_NIL, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        rec_record *record = load_pickle(lists[i].pickle, lists[i].length, P("\x80\x02]."), ".");
        const rec_value *value = record ? rec_root(record) : NULL;
        uint64_t last = lists[i].count - 1;
        if (!value) {
            fail_msg("%s: %s", name_of(lists[i].pickle, lists[i].length), rec_error_message());
        }
        if (rec_value_kind(value) != lists[i].kind || rec_value_count(value) != lists[i].count ||
            rec_value_number(value, last).kind != lists[i].number) {
            fail_msg("%s: kind %d", name_of(lists[i].pickle, lists[i].length), (int)rec_value_kind(value));
        }
        rec_record_free(record);
    }
}

/* ---------------------------------------------------------------------------------------------------- mistakes -- */

#define ENCODE GLOBAL("_codecs", "encode")
#define DICT GLOBAL("collections", "OrderedDict")
#define FROM_TYPE GLOBAL("torch._tensor", "_rebuild_from_type_v2")
#define TENSOR_CLASS GLOBAL("torch", "Tensor")

/* An array of NumPy's that has no state yet, and its element type f4. */
#define NUMPY_NEW "cnumpy.core.multiarray\n_reconstruct\n"
#define NUMPY_BUFFER "cnumpy.core.numeric\n_frombuffer\n"
#define ARRAY NUMPY_NEW "(cnumpy\nndarray\nK\0\x85" S1("b") "tR"
#define F4 "cnumpy\ndtype\n(X\2\0\0\0f4\x89\x88tR(K\3" S1("<") "NNNK\0K\0K\0tb"

static const struct {
    const char *pickle;
    size_t length;
    const char *words;
} mistakes[] = {
    {P("\x80\x02."), "byte 27: the pickle's operation 0x2e finds too little on the stack"},
    {P("\x80\x01."), "byte 25: a pickle of protocol 1; 2 to 5 can be read"},
    {P("\x80\x02\x95\1\0\0\0\0\0\0."), "byte 40: expected more of a pickle, found the end of the file"},
    {P("\x80\x02"
       "1."),
     "byte 27: the pickle's operation 0x31 finds too little on the stack"},
    {P("\x80\x02"
       "0."),
     "byte 27: the pickle's operation 0x30 finds too little on the stack"},
    {P("\x80\x02"
       "2."),
     "byte 27: the pickle's operation 0x32 finds too little on the stack"},
    {P("\x80\x02"
       "e."),
     "byte 27: the pickle's operation 0x65 finds too little on the stack"},
    {P("\x80\x02(K\1e."), "byte 30: the pickle's operation 0x65 finds too little on the stack"},
    {P("\x80\x02}(K\1\x90."), "byte 31: the pickle's operation 0x90 would put items into a dictionary"},
    {P("\x80\x02"
       "a."),
     "byte 27: the pickle's operation 0x61 finds too little on the stack"},
    {P("\x80\x02"
       "b."),
     "byte 27: the pickle's operation 0x62 finds too little on the stack"},
    {P("\x80\x02K\1K\2"
       "b."),
     "byte 31: an integer with a custom state (an integer)"},
    {P("\x80\x02]}"
       "b."),
     "byte 29: a list with a custom state (a dictionary)"},
    {P("\x80\x02}]"
       "b."),
     "byte 29: a dictionary with a custom state (a list)"},
    {P("\x80\x02q\0."), "byte 27: the pickle's operation 0x71 finds too little on the stack"},
    {P("\x80\x02\x94."), "byte 27: the pickle's operation 0x94 finds too little on the stack"},
    {P("\x80\x02h\1."), "byte 27: the pickle asks for number 1 of its memo, which is not there"},
    {P("\x80\x02j\1\0\0\0."), "byte 27: the pickle asks for number 1 of its memo, which is not there"},
    {P("\x80\x02\x8b\xff\xff\xff\xff."), "byte 37: expected more of a pickle, found the end of the file"},
    {P("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\xff."), "byte 29: an integer of more than 64 bits, which no record has"},
    {P("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff."),
     "byte 29: an integer of more than 64 bits, which no record has"},
    {P("\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff."),
     "byte 41: expected more of a pickle, found the end of the file"},
    {P("\x80\x02U\xff."), "byte 34: expected more of a pickle, found the end of the file"},
    {P("\x80\x02G\0."), "byte 34: expected more of a pickle, found the end of the file"},
    {P("\x80\x02"
       "ctorch"),
     "byte 37: expected more of a pickle, found the end of the file"},
    {P("\x80\x02"
       "ctorch\nSize"),
     "byte 42: expected more of a pickle, found the end of the file"},
    {P("\x80\x04K\1\x8c\4Size\x93."), "byte 35: the pickle names something by an integer and a string"},
    {P("\x80\x04\x8c\5torchK\1\x93."), "byte 36: the pickle names something by a string and an integer"},
    {P("\x80\x04\x8c\5torch\x93."), "byte 34: the pickle's operation 0x93 finds too little on the stack"},
    {P("\x80\x02"
       "cnumpy.random\nRandomState\n."),
     "byte 27: the pickle asks for `numpy.random.RandomState`, which is not a name that torch.save() writes for "
     "tensors: rejected, and not run"},
    {P("\x80\x02"
       "cargparse\nNamespace\n."),
     "byte 27: the pickle asks for `argparse.Namespace`, which is not a name that torch.save() writes for tensors: "
     "rejected, and not run"},
    {P("\x80\x02"
       "c__main__\nNet\n."),
     "byte 27: the pickle asks for `__main__.Net`, which is not a name that torch.save() writes for tensors: rejected, "
     "and not run"},
    {P("\x80\x02"
       "ctorch\nQInt8Storage\n."),
     "byte 27: a quantised tensor (`torch.QInt8Storage`): no record has that"},
    {P("\x80\x02" UTILS("_rebuild_sparse_tensor") "."),
     "byte 27: a sparse tensor (`torch._utils._rebuild_sparse_tensor`): no record has that"},
    {P("\x80\x02"
       "I01\n."),
     "byte 27: an operation of pickle protocol 0 or 1 (0x49); 2 to 5 can be read"},
    {P("\x80\x02S'a'\n."), "byte 27: an operation of pickle protocol 0 or 1 (0x53); 2 to 5 can be read"},
    {P("\x80\x02\x98."), "byte 27: 0x98 is not an operation of a pickle that torch.save() writes"},
    /* calls */
    {P("\x80\x02" DICT "]R."), "byte 53: OrderedDict is called with a list where a tuple of few is expected"},
    {P("\x80\x02" DICT "K\1R."), "byte 54: OrderedDict is called with an integer where a tuple of few is expected"},
    {P("\x80\x02" DICT "(NNNNNNNNNtR."),
     "byte 63: OrderedDict is called with too little or too much where a tuple of few is expected"},
    {P("\x80\x02" DICT "NN\x86R."),
     "byte 55: OrderedDict is called with too little or too much where one argument is expected"},
    {P("\x80\x02" DICT "N\x85R."), "byte 54: OrderedDict is called with None where a list of pairs is expected"},
    {P("\x80\x02" DICT "]N"
       "a\x85R."),
     "byte 56: OrderedDict is called with None where a pair is expected"},
    {P("\x80\x02" DICT "]K\1\x85"
       "a\x85R."),
     "byte 58: OrderedDict is called with a tuple where a pair is expected"},
    {P("\x80\x02" TENSOR_CLASS ")R."), "byte 42: the pickle calls Tensor"},
    {P("\x80\x02" GLOBAL("torch", "float16") ")R."), "byte 43: the pickle calls an element type or storage"},
    {P("\x80\x02" FLOATS ")R."), "byte 48: the pickle calls an element type or storage"},
    {P("\x80\x02" GLOBAL("torch", "Size") "}\x85R."),
     "byte 41: Size is called with a dictionary where a list or tuple is expected"},
    {P("\x80\x02" GLOBAL("torch", "Size") "))\x86R."),
     "byte 42: Size is called with too little or too much where a list or tuple is expected"},
    {P("\x80\x02" ENCODE "N\x85R."), "byte 45: encode is called with None where a string and its encoding is expected"},
    {P("\x80\x02" ENCODE S1("a") "X\4\0\0\0utf8\x86R."), "byte 59: encode is called with another encoding than latin1"},
    {P("\x80\x02" ENCODE S1("a") "NN\x87R."),
     "byte 52: encode is called with too little or too much where a string and its encoding is expected"},
    {P("\x80\x02" GLOBAL("torch", "device") ")R."),
     "byte 42: device is called with too little or too much where a name is expected"},
    {P("\x80\x02" GLOBAL("torch", "device") "N\x85R."), "byte 43: device is called with None where a name is expected"},
    {P("\x80\x02" GLOBAL("torch", "device") S1("a") "N\x86R."),
     "byte 49: device is called with None where its number is expected"},
    {P("\x80\x02" GLOBAL("torch", "device") S1("a") "K\1N\x87R."),
     "byte 51: device is called with too little or too much where a name is expected"},
    {P("\x80\x02" GLOBAL("torch.serialization", "_get_layout") "K\1\x85R."),
     "byte 63: _get_layout is called with an integer where a name is expected"},
    {P("\x80\x02" GLOBAL("__builtin__", "complex") ")R."),
     "byte 49: complex is called with too little or too much where a pair of floats is expected"},
    {P("\x80\x02" GLOBAL("__builtin__", "complex") "K\1K\2\x86R."),
     "byte 53: complex is called with an integer where a pair of floats is expected"},
    {P("\x80\x02" GLOBAL("__builtin__", "complex") "G\0\0\0\0\0\0\0\0K\2\x86R."),
     "byte 60: complex is called with an integer where a pair of floats is expected"},
    /* tensors */
    {P("\x80\x02" UTILS("_rebuild_tensor") "(NK\0))tR."),
     "byte 64: _rebuild_tensor is called with None where a storage is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor") "(" STORAGE("\1") "K\0)))tR."),
     "byte 115: _rebuild_tensor is called with too little or too much where what makes a tensor is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "K\0))\x89tR."),
     "byte 118: _rebuild_tensor_v2 is called with too little or too much where what makes a tensor is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "N))\x89}tR."),
     "byte 118: _rebuild_tensor_v2 is called with None where a number from 0 on is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "K\0N)\x89}tR."),
     "byte 119: _rebuild_tensor_v2 is called with None where a tuple of sizes is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "K\0)K\1\x89}tR."),
     "byte 120: _rebuild_tensor_v2 is called with an integer where a tuple of sizes is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "K\0N\x85)\x89}tR."),
     "byte 120: _rebuild_tensor_v2 is called with None where a number from 0 on is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "K\0))\x89}}"
                                                                "X\4\0\0\0conj\x88stR."),
     "byte 131: a tensor that is the conjugate or negative of its storage"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v2") "(" STORAGE("\1") "K\0))\x89}}NtR."),
     "byte 121: _rebuild_tensor_v2 is called with too little or too much where what makes a tensor is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v3") "(" STORAGE("\1") "K\0))\x89}tR."),
     "byte 119: _rebuild_tensor_v3 is called with too little or too much where what makes a tensor is expected"},
    {P("\x80\x02" UTILS("_rebuild_tensor_v3") "(" STORAGE("\1") "K\0))\x89}NtR."),
     "byte 120: _rebuild_tensor_v3 is called with None where an element type is expected"},
    {P("\x80\x02" UTILS("_rebuild_parameter") ")R."),
     "byte 61: _rebuild_parameter is called with too little or too much where a tensor is expected"},
    {P("\x80\x02" UTILS("_rebuild_parameter") "NNN\x87R."),
     "byte 64: _rebuild_parameter is called with None where a tensor is expected"},
    {P("\x80\x02" UTILS("_rebuild_parameter_with_state") "(NNNNNtR."),
     "byte 78: _rebuild_parameter_with_state is called with None where a tensor is expected"},
    {P("\x80\x02" FROM_TYPE ")R."), "byte 65: _rebuild_from_type_v2 is called with too little or too much where a "
                                    "function that makes a tensor is expected"},
    {P("\x80\x02" FROM_TYPE "(N" TENSOR_CLASS ")}tR."),
     "byte 83: _rebuild_from_type_v2 is called with None where a function that makes a tensor is expected"},
    {P("\x80\x02" FROM_TYPE "(" DICT TENSOR_CLASS ")}tR."),
     "byte 107: _rebuild_from_type_v2 is called with a name of Python's where a function that makes a tensor is "
     "expected"},
    {P("\x80\x02" FROM_TYPE "(" UTILS("_rebuild_tensor_v2") "N)}tR."),
     "byte 102: _rebuild_from_type_v2 is called with None where torch.Tensor or torch.nn.Parameter is expected"},
    {P("\x80\x02" FROM_TYPE "(" UTILS("_rebuild_tensor_v2") TENSOR_CLASS "]}tR."),
     "byte 115: _rebuild_tensor_v2 is called with a list where a tuple of few is expected"},
    /* storages */
    {P("\x80\x02)Q."),
     "byte 28: a storage is called with too little or too much where a tuple that names a storage is expected"},
    {P("\x80\x02(NNNNNtQ."), "byte 34: a storage is called with None where a tuple that names a storage is expected"},
    {P("\x80\x02(NNNNNNNNNtQ."),
     "byte 38: a storage is called with too little or too much where a tuple that names a storage is expected"},
    {P("\x80\x02(X\7\0\0\0storage" FLOATS "tQ."),
     "byte 61: a storage is called with too little or too much where a tuple that names a storage is expected"},
    {P("\x80\x02" ID("N", S1("0"), "K\1", "") "Q."),
     "byte 58: a storage is called with None where the type of a storage is expected"},
    {P("\x80\x02" ID(TENSOR_CLASS, S1("0"), "K\1", "") "Q."),
     "byte 71: a storage is called with a name of Python's where the type of a storage is expected"},
    {P("\x80\x02" ID(FLOATS, "K\1", "K\1", "") "Q."),
     "byte 73: a storage is called with an integer where the storage's name is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "N", "") "Q."),
     "byte 76: a storage is called with None where a number from 0 on is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", "NN") "Q."),
     "byte 79: a storage is called with too little or too much where a tuple that names a storage is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", "K\1") "Q."),
     "byte 79: a storage is called with an integer where the part of a storage is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", "K\1K\1\x86") "Q."),
     "byte 82: a storage is called with too little or too much where the part of a storage is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", S1("v") "NK\1\x87") "Q."),
     "byte 87: a storage is called with None where a number from 0 on is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", S1("v") "K\0N\x87") "Q."),
     "byte 87: a storage is called with None where a number from 0 on is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", S1("v") "K\2K\0\x87") "Q."),
     "byte 88: a storage is called with too little or too much where a part that the storage has is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "K\1", S1("v") "K\1K\1\x87") "Q."),
     "byte 88: a storage is called with too little or too much where a part that the storage has is expected"},
    {P("\x80\x02" ID(FLOATS, S1("0"), "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "") "Q."),
     "byte 85: the storage `0` has more elements than can be counted"},
    {P("\x80\x02(" STORAGE("\1") STORAGE("\2") "t."), "byte 129: the storage `0` has two different sizes"},
    /* arrays of NumPy's */
    {P("\x80\x02" ARRAY "."), "an array of NumPy, which no record has"},
    {P("\x80\x02" ARRAY "Nb."), "byte 91: an array of NumPy is made of None where a tuple of five is expected"},
    {P("\x80\x02" ARRAY "(K\1)" F4 "\x89NtbX."),
     "byte 142: an array of NumPy is made of None where the bytes of its elements is expected"},
    {P("\x80\x02" ARRAY "(K\1K\2\x85N\x89"
       "C\0tb."),
     "byte 101: an array of NumPy is made of None where an element type of NumPy is expected"},
    {P("\x80\x02" ARRAY "(K\1N" F4 "\x89"
       "C\0tb."),
     "byte 143: an array of NumPy is made of None where a tuple of few sizes is expected"},
    {P("\x80\x02" ARRAY "(K\1N\x85" F4 "\x89"
       "C\0tb."),
     "byte 144: an array of NumPy is made of None where a size from 0 on is expected"},
    {P("\x80\x02" ARRAY "(K\1K\2\x85" F4 "\x89"
       "C\0tb."),
     "byte 145: an array of NumPy has 0 bytes, which its sizes do not fit"},
    {P("\x80\x02" ARRAY "(K\1K\2\x85" F4 "NC\0tb."),
     "byte 145: an array of NumPy is made of None where a bool is expected"},
    {P("\x80\x02" ARRAY "(K\1\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x86" F4
       "\x89"
       "C\0tb."),
     "byte 163: an array of NumPy has 0 bytes, which its sizes do not fit"},
    {P("\x80\x02" NUMPY_NEW "(NNNtR."), "byte 68: _reconstruct is called with None where numpy.ndarray is expected"},
    {P("\x80\x02" NUMPY_NEW ")R."),
     "byte 64: _reconstruct is called with too little or too much where a class, a size and a type is expected"},
    {P("\x80\x02" NUMPY_BUFFER "(C\0" F4 "K\0\x85" S1("K") "tR."),
     "byte 117: _frombuffer is called with a string where the order of elements is expected"},
    {P("\x80\x02" NUMPY_BUFFER "(C\1." F4 "K\0\x85" S1("C") "tR."),
     "byte 118: an array of NumPy has 1 bytes, which its sizes do not fit"},
    /* keys of dictionaries */
    {P("\x80\x02}NNs."), "a dictionary with None as a key; a record's keys are strings, integers and bools"},
    {P("\x80\x02}G\0\0\0\0\0\0\0\0Ns."),
     "a dictionary with a float as a key; a record's keys are strings, integers and bools"},
    {P("\x80\x02}NNs\x85."), "0: a dictionary with None as a key; a record's keys are strings, integers and bools"},
    {P("\x80\x02" STORAGE("\1") "."), "byte 83: the storage `0` is not in the file"},
    {P("\x80\x02\x8a\x0a\0\0\0\0\0\0\0\0\0\1."), "byte 29: an integer of more than 64 bits, which no record has"},
};

static void each_mistake_has_its_place_and_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        rec_record *record = load_pickle(mistakes[i].pickle, mistakes[i].length, P("\x80\x02]."), ".");
        if (record || !is_message(mistakes[i].words)) {
            fail_msg("%s:\nexpected %s\nfound %s", name_of(mistakes[i].pickle, mistakes[i].length), mistakes[i].words,
                     record ? "a record" : rec_error_message());
        }
    }
}

/* -------------------------------------------------------------------------------------------------- the stream -- */

#define MAIN "\x80\x02}" S1("w") TENSOR("K\0", "K\2\x85", "K\1\x85") "s."

static const struct {
    const char *stream;
    size_t length;
    const char *words; /* NULL: it is read */
} streams[] = {
    {P(HEAD MAIN LISTED), NULL},
    {P(MAGIC "\x80\x02M\xe8\x03." SIZES MAIN LISTED),
     "byte 20: the pickles before the tensors are not those of torch.save()"},
    {P(MAGIC "\x80\x02N." SIZES MAIN LISTED), "byte 18: the pickles before the tensors are not those of torch.save()"},
    {P(MAGIC PROTOCOL "\x80\x02N." MAIN LISTED),
     "byte 24: the pickles before the tensors are not those of torch.save()"},
    {P("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
       "0N." PROTOCOL SIZES MAIN LISTED),
     "byte 0: the pickles before the tensors are not those of torch.save()"},
    {P("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
       "0\x8a\x0a\0\0\0\0\0\0\0\0\0\1." PROTOCOL SIZES MAIN LISTED),
     "byte 0: the pickles before the tensors are not those of torch.save()"},
    {P(HEAD MAIN "\x80\x02}."), "byte 136: a dictionary where the list of storages is expected"},
    {P(HEAD MAIN "\x80\x02]."), "byte 137: the storage `0` is not in the file"},
    {P(HEAD MAIN "\x80\x02]K\0"
                 "a."),
     "byte 140: the list of storages has an integer"},
    {P(HEAD MAIN "\x80\x02]" S1("1") "a.\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40"),
     "byte 144: the storage `1` is not a tensor's, so that its size is not known"},
    {P(HEAD MAIN "\x80\x02](" S1("0") S1("0") "e.\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40\2\0\0\0\0\0\0\0"),
     "byte 167: the storage `0` occurs twice"},
    {P(HEAD MAIN "\x80\x02]" S1("0") "a.\2\0\0\0\0\0\0"),
     "byte 151: expected the size of a storage, found the end of the file"},
    {P(HEAD MAIN "\x80\x02]" S1("0") "a.\3\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40"),
     "byte 144: the storage `0` has another size than its tensors say"},
    {P(HEAD MAIN "\x80\x02]" S1("0") "a.\2\0\0\0\0\0\0\x40\0\0\x80\x3f\0\0\0\x40"),
     "byte 144: the storage `0` has another size than its tensors say"},
    {P(HEAD MAIN "\x80\x02]" S1("0") "a.\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0"),
     "byte 159: expected all of a storage, found the end of the file"},
    {P(HEAD MAIN LISTED "\0"), "byte 160: expected the end of the file, found 1 bytes more"},
    {P(MAGIC), "byte 15: expected more of a pickle, found the end of the file"},
    {P("\x80\x02N."),
     "byte 0: expected a file of PyTorch's (a zip archive, or a pickle of torch.save()), found another pickle"},
    {P("\x80"),
     "byte 0: expected a file of PyTorch's (a zip archive, or a pickle of torch.save()), found something else"},
    {P("PK"),
     "byte 0: expected a file of PyTorch's (a zip archive, or a pickle of torch.save()), found something else"},
    {P("{}"), "this JSON has no `weight_map`: it is not an index of PyTorch files"},
};

static void each_mistake_of_a_stream_has_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        rec_record *record = load(streams[i].stream, streams[i].length, "");
        if (!record != (streams[i].words != NULL) || (streams[i].words && !is_message(streams[i].words))) {
            fail_msg("%zu:\nexpected %s\nfound %s", i, streams[i].words ? streams[i].words : "a record",
                     record ? "a record" : rec_error_message());
        }
        rec_record_free(record);
    }
}

/* ---------------------------------------------------------------------------------------------- what is chosen -- */

#define W S1("w") TENSOR("K\0", "K\2\x85", "K\1\x85")
#define NUMBER S1("n") "K\7"
#define UNADAPTED \
    "no model found under a known name (state_dict, …): nothing is adapted, all values keep their names and layout"
#define T1(name) S1(name) TENSOR("K\0", "K\2\x85", "K\1\x85")
#define STATE_DICT "X\x0a\0\0\0state_dict}(" W "u"
#define OPTIMIZER S1("o") "}(X\5\0\0\0state}(K\0}(" T1("m") "uuX\x0c\0\0\0param_groups]u"

/* A file, the option `top-level-key`, and what is there: a path of the tensor; or the message. And the note of what is
 * left out. */
static const struct {
    const char *pickle;
    size_t length;
    const char *key, *path, *words, *note;
} choices[] = {
    {P("\x80\x02}(" W "u."), "", "w", NULL, NULL},
    {P("\x80\x02}(" NUMBER W "u."), "", "w", NULL,
     "1 value other than tensors (`n`): left out; top-level-key = . has all of the file"},
    {P("\x80\x02}(" S1("a") "}(" W "u" NUMBER "u."), "", "w", NULL,
     "the model is what the file has as `a`, which is not in its names (top-level-key = . takes the whole)"},
    {P("\x80\x02}(X\x0a\0\0\0state_dict}(" W "u" S1("o") "}(" NUMBER "uu."), "", "w", NULL,
     "the model is the part `state_dict`; left out: `o` (top-level-key selects another part, `.` the whole)"},
    {P("\x80\x02}(K\3}(" W "u" S1("o") "}(" NUMBER "uu."), "", "w", NULL,
     "the model is the part `3`; left out: `o` (top-level-key selects another part, `.` the whole)"},
    {P("\x80\x02}(X\x05\0\0\0model}(" W "uX\2\0\0\0\x01oN"
       "K\5Nu."),
     "", "w", NULL,
     "the model is the part `model`; left out: 2 more (top-level-key selects another part, `.` the whole)"},
    {P("\x80\x02}(X\x05\0\0\0model}(" W "uX\2\0\0\0\x01oN" S1("o") "Nu."), "", "w", NULL,
     "the model is the part `model`; left out: `o`, 1 more (top-level-key selects another part, `.` the whole)"},
    /* a tensor next to the state dict: a loss, an accuracy, the state of a random generator */
    {P("\x80\x02}(" STATE_DICT T1("b") "u."), "", "w", NULL,
     "the model is the part `state_dict`; left out: `b` (top-level-key selects another part, `.` the whole)"},
    {P("\x80\x02}(" T1("b") STATE_DICT OPTIMIZER NUMBER "u."), "", "w", NULL,
     "the model is the part `state_dict`; left out: `b`, `o` (top-level-key selects another part, `.` the whole)"},
    {P("\x80\x02}(X\x09\0\0\0generator}(" W "u" T1("b") "u."), "", "w", NULL,
     "the model is the part `generator`; left out: `b` (top-level-key selects another part, `.` the whole)"},
    {P("\x80\x02}(X\3\0\0\0net" TENSOR("K\0", "K\2\x85", "K\1\x85") W "u."), "", "w", NULL, NULL}, /* a tensor's name */
    {P("\x80\x02}(" S1("a") "}(" W "u" T1("b") "u."), "", "a.w", NULL, NULL},
    /* nothing is adapted */
    {P("\x80\x02}(" S1("a") "}(" W "u" OPTIMIZER "u."), "", "a.w", NULL,
     UNADAPTED "; top-level-key chooses a part, such as `a`"},
    {P("\x80\x02}(" OPTIMIZER "u."), "", "o.state.0.m", NULL, UNADAPTED},
    {P("\x80\x02](" TENSOR("K\0", "K\2\x85", "K\1\x85") "e."), "", "0", NULL, UNADAPTED},
    {P("\x80\x02}(" S1("a") "}(" W "u" S1("b") "}(" W "uu."), "", "a.w", NULL, NULL}, /* not clear which */
    {P("\x80\x02}(" S1("a") "}(" W "u" S1("b") "](" TENSOR("K\0", "K\2\x85", "K\1\x85") "eu."), "", "a.w", NULL, NULL},
    {P("\x80\x02}(" S1("a") "}(" W "u" NUMBER "u."), "a", "w", NULL, NULL},
    {P("\x80\x02}(" S1("a") "}(" W "u" NUMBER "u."), ".", "a.w", NULL, NULL},
    {P("\x80\x02}(" S1("a") "]}(" W "uau."), "a.0", "w", NULL, NULL},
    {P("\x80\x02}(" S1("a") "}(" W "u\x85u."), "a.0", "w", NULL, NULL},
    {P("\x80\x02}(K\5}(" W "uu."), "5", "w", NULL, NULL},
    {P("\x80\x02}(X\3\0\0\0a.b}(" W "uu."), "a.b", "w", NULL, NULL},
    {P("\x80\x02}(X\3\0\0\0a.b}(" S1("c") "}(" W "uuu."), "a.b.c", "w", NULL, NULL},
    {P("\x80\x02}(" S1("a") "N" S1("a") "}(" W "uu."), "a", "w", NULL, NULL} /* the last, as in Python */,
    {P("\x80\x02}(" S1("a") "}(" W "uu."), "b", NULL, "top-level-key: there is no `b` in the file\n  Known: `a`.",
     NULL},
    {P("\x80\x02}(" S1("a") "}(" W "uu."), "a.w.x", NULL, "top-level-key: `a.w.x` leads to a tensor, which has no keys",
     NULL},
    {P("\x80\x02}."), "b", NULL, "top-level-key: there is no `b` in the file\n  Known: none.", NULL},
    {P("\x80\x02}(" S1("a") "]}(" W "uau."), "a.1", NULL,
     "top-level-key: `a.1` leads to a list of 1, which has no item `1`", NULL},
    {P("\x80\x02}(" S1("a") "]}(" W "uau."), "a.x.y", NULL,
     "top-level-key: `a.x.y` leads to a list of 1, which has no item `x`", NULL},
    {P("\x80\x02}(" S1("a") "]}(" W "uau."), "a.99999999999", NULL,
     "top-level-key: `a.99999999999` leads to a list of 1, which has no item `99999999999`", NULL},
    {P("\x80\x02}(" S1("a") "]}(" W "uau."), "a..w", NULL,
     "top-level-key: `a..w` leads to a list of 1, which has no item ``", NULL},
};

static void the_model_is_chosen_or_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        bool empty = choices[i].length == 4;
        rec_record *record = load_pickle(choices[i].pickle, choices[i].length, empty ? "\x80\x02]." : LISTED,
                                         empty ? 4 : sizeof LISTED - 1, choices[i].key);
        const char *words = choices[i].words, *note = choices[i].note ? choices[i].note : "";
        if (words && (record || !is_message(words))) {
            fail_msg("%zu:\nexpected %s\nfound %s", i, words, record ? "a record" : rec_error_message());
        } else if (!words && (!record || !rec_tensor_at(record, choices[i].path))) {
            fail_msg("%zu: %s", i, record ? "no such path" : rec_error_message());
        } else if (!words && strcmp(told, note) != 0) {
            fail_msg("%zu:\nexpected %s\nfound %s", i, note, told);
        }
        rec_record_free(record);
    }
}

/* ------------------------------------------------------------------------------------------------ zip archives -- */

static uint32_t sum_of(const char *data, size_t size)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (uint32_t)((unsigned char)data[i / 8] >> (i % 8)) & 1;
        sum = sum >> 1 ^ ((sum ^ bit) & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~sum;
}

typedef struct archive {
    char data[4096], directory[1024];
    size_t size, used, count;
} archive;

static void put_number(char *data, size_t *size, uint64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        data[(*size)++] = (char)(i < 8 ? number >> 8 * i : 0);
    }
}

/* What an entry of the directory and the header before a member say alike. */
static void put_about(char *data, size_t *size, const char *name, uint32_t sum, size_t length)
{
    put_number(data, size, 20, 2);
    put_number(data, size, 0, 8); /* flags, method, time */
    put_number(data, size, sum, 4);
    put_number(data, size, length, 4);
    put_number(data, size, length, 4);
    put_number(data, size, strlen(name), 2);
    put_number(data, size, 0, 2);
}

static void put_member(archive *a, const char *name, const char *data, size_t length)
{
    size_t at = a->size;
    uint32_t sum = sum_of(data, length);
    put_number(a->data, &a->size, 0x04034b50, 4);
    put_about(a->data, &a->size, name, sum, length);
    memcpy(a->data + a->size, name, strlen(name));
    a->size += strlen(name);
    memcpy(a->data + a->size, data, length);
    a->size += length;
    put_number(a->directory, &a->used, 0x02014b50, 4);
    put_number(a->directory, &a->used, 20, 2);
    put_about(a->directory, &a->used, name, sum, length);
    put_number(a->directory, &a->used, 0, 10);
    put_number(a->directory, &a->used, at, 4);
    memcpy(a->directory + a->used, name, strlen(name));
    a->used += strlen(name);
    a->count++;
}

static void put_end(archive *a)
{
    size_t at = a->size;
    memcpy(a->data + a->size, a->directory, a->used);
    a->size += a->used;
    put_number(a->data, &a->size, 0x06054b50, 4);
    put_number(a->data, &a->size, 0, 4);
    put_number(a->data, &a->size, a->count, 2);
    put_number(a->data, &a->size, a->count, 2);
    put_number(a->data, &a->size, a->used, 4);
    put_number(a->data, &a->size, at, 4);
    put_number(a->data, &a->size, 0, 2);
}

#define LITTLE P("\0\0\x80\x3f\0\0\0\x40")
#define BIG P("\x3f\x80\0\0\x40\0\0\0")
#define TYPED(type, dtype)                                                                                             \
    "\x80\x02}" S1("w") UTILS("_rebuild_tensor_v3") "(" ID(type, S1("0"), "K\x08", "") "QK\0K\2\x85K\1\x85\x89}" dtype \
                                                                                       "tRs."

static const struct {
    struct {
        const char *name, *data;
        size_t length;
    } members[4];
    const char *words; /* NULL: the tensor `w` is 1 and 2 */
} archives[] = {
    {{{"a/data.pkl", P(MAIN)}, {"a/data/0", LITTLE}}, NULL},
    {{{"data.pkl", P(MAIN)}, {"data/0", LITTLE}}, "the member `data.pkl` of the archive is in no directory"},
    {{{"a/data/0", LITTLE}, {"a/byteorder", P("little")}, {"a/data.pkl", P(MAIN)}}, NULL},
    {{{"a/data.pkl", P(MAIN)}, {"a/data/0", BIG}, {"a/byteorder", P("big")}}, NULL},
    {{{"a/data.pkl", P(TYPED(GLOBAL("torch.storage", "UntypedStorage"), GLOBAL("torch", "float32")))},
      {"a/data/0", LITTLE}},
     NULL},
    {{{"a/data.pkl", P(TYPED(GLOBAL("torch.storage", "UntypedStorage"), GLOBAL("torch", "float32")))},
      {"a/data/0", BIG},
      {"a/byteorder", P("big")}},
     NULL},
    {{{"a/data.pkl", P(TYPED(GLOBAL("torch", "ByteStorage"), GLOBAL("torch", "float32")))}, {"a/data/0", LITTLE}},
     "a tensor of another element type than its storage has"},
    {{{"a/data.pkl", P(MAIN)}, {"a/data/0", LITTLE}, {"a/byteorder", P("bigger")}},
     "`byteorder` says neither little nor big"},
    {{{"a/data.pkl", P(MAIN)}, {"a/data/0", LITTLE}, {"a/byteorder", P("")}},
     "`byteorder` says neither little nor big"},
    {{{"a/data.pkl", P(MAIN)}, {"a/data/1", LITTLE}}, "the storage `0` is not in the archive"},
    {{{"a/data.pkl", P(MAIN)}, {"b/data/0", LITTLE}}, "the storage `0` is not in the archive"},
    {{{"a/data.pkl", P(MAIN)}, {"a/data/0", P("1234567")}}, "the storage `0` should have 8 bytes, but there are 7"},
    {{{"a/data.pkl", P(MAIN "N")}, {"a/data/0", LITTLE}}, "expected the end of the pickle, found 1 bytes more"},
    {{{"a/data.pkl", P("")}, {"a/data/0", LITTLE}}, "expected more of a pickle, found the end"},
    {{{"a/data.pkl", P(MAIN)}, {"a/data/0", LITTLE}, {"a/constants.pkl", P("")}},
     "a TorchScript archive, which is a program: rejected, and not run\n"
     "  In Python, if you trust the file: "},
    {{{"a/b/data.pkl", P(MAIN)}, {"a/b/data/0", LITTLE}},
     "expected a file of PyTorch's (with a member data.pkl), found a zip archive without it"},
    {{{"nodata.pkl", P(MAIN)}},
     "expected a file of PyTorch's (with a member data.pkl), found a zip archive without it"},
    {{{"x.npy", P("")}, {"y.npy", P("")}},
     "found a zip archive without it\n  Its members are NumPy's arrays: it is an .npz."},
};

static void archives_hold_a_pickle_and_its_storages(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * (sizeof archives / sizeof *archives); i++) {
        size_t k = i / 2;
        archive a = {.size = 0};
        rec_record *record;
        crc = i % 2 ? "yes" : "no";
        for (size_t m = 0; m < 4 && archives[k].members[m].name; m++) {
            put_member(&a, archives[k].members[m].name, archives[k].members[m].data, archives[k].members[m].length);
        }
        put_end(&a);
        record = load(a.data, a.size, "");
        if (!record && (!archives[k].words || !strstr(rec_error_message(), archives[k].words))) {
            fail_msg("%zu:\nexpected %s\nfound %s", k, archives[k].words ? archives[k].words : "a record",
                     rec_error_message());
        } else if (record) {
            const float *numbers = rec_tensor_f32(rec_tensor_at(record, "w"));
            assert_null(archives[k].words);
            assert_non_null(numbers);
            assert_true(numbers[0] == 1 && numbers[1] == 2);
        }
        rec_record_free(record);
    }
    crc = "no";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_makes_its_value),
        cmocka_unit_test(test_lists_of_numbers_are_packed),
        cmocka_unit_test(each_mistake_has_its_place_and_words),
        cmocka_unit_test(each_mistake_of_a_stream_has_its_place),
        cmocka_unit_test(the_model_is_chosen_or_named),
        cmocka_unit_test(archives_hold_a_pickle_and_its_storages),
    };
    int failed = cmocka_run_group_tests_name("pickles", tests, meter_set_up, meter_tear_down);
    free(file);
    return failed;
}
