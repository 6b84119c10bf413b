/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burnpack's metadata, written here as text and made CBOR: each mistake with its place and words, the schemes of
 * quantised tensors of both eras, and what each version of Burn is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/message.h"

/* ---------------------------------------------------------------------------------------------- CBOR from text -- */

typedef struct bytes {
    uint8_t *data;
    size_t size, room;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size) + 64;
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_head(bytes *b, unsigned major, uint64_t value)
{
    unsigned width = value < 24 ? 0 : value <= UINT8_MAX ? 1 : value <= UINT16_MAX ? 2 : value <= UINT32_MAX ? 4 : 8;
    uint8_t head[9] = {(uint8_t)(major << 5 | (width == 0   ? (unsigned)value
                                               : width == 1 ? 24u
                                               : width == 2 ? 25u
                                               : width == 4 ? 26u
                                                            : 27u))};
    for (unsigned i = 0; i < width; i++) {
        head[1 + i] = (uint8_t)(value >> (8 * (width - 1 - i)));
    }
    put(b, head, 1 + width);
}

/* A value: 'text', 12, -3, null, true, [..], {k:v..}, <hex> for bytes as they are, and [_ and {_ of unknown length;
 * commas and colons are spaces. @return behind it. */
static const char *encode(bytes *b, const char *text)
{
    static const uint8_t ends = 0xff;
    text += strspn(text, " ,:\n");
    if (*text == '\'') {
        size_t length = strcspn(text + 1, "'");
        put_head(b, 3, length);
        put(b, text + 1, length);
        return text + length + 2;
    }
    if (*text == '<') {
        for (text++; *text != '>'; text += 2) {
            unsigned byte;
            uint8_t small;
            assert_int_equal(sscanf(text, "%2x", &byte), 1);
            small = (uint8_t)byte;
            put(b, &small, 1);
        }
        return text + 1;
    }
    if (*text == '[' || *text == '{') {
        char end = *text == '[' ? ']' : '}';
        unsigned major = *text == '[' ? 4 : 5;
        bool unknown = *++text == '_';
        bytes inner = {0};
        uint64_t count = 0;
        text += unknown;
        while (*(text += strspn(text, " ,:\n")) != end) {
            text = encode(&inner, text);
            count++;
        }
        if (unknown) {
            uint8_t head = (uint8_t)(major << 5 | 31);
            put(b, &head, 1);
        } else {
            put_head(b, major, major == 5 ? count / 2 : count);
        }
        if (inner.size) {
            put(b, inner.data, inner.size);
        }
        if (unknown) {
            put(b, &ends, 1);
        }
        free(inner.data);
        return text + 1;
    }
    if (*text == '-' || (*text >= '0' && *text <= '9')) {
        char *behind;
        uint64_t number = strtoull(*text == '-' ? text + 1 : text, &behind, 10);
        put_head(b, *text == '-', *text == '-' ? number - 1 : number);
        return behind;
    }
    for (unsigned i = 0; i < 3; i++) {
        static const char *const words[] = {"false", "true", "null"};
        if (strncmp(text, words[i], strlen(words[i])) == 0) {
            uint8_t byte = (uint8_t)(0xf4 + i);
            put(b, &byte, 1);
            return text + strlen(words[i]);
        }
    }
    fail_msg("no CBOR: %s", text);
    return text;
}

#define NO_TENSORS "'tensors':{}"

/* A file of these metadata and of `count` bytes of data, 1, 2, 3…, or of none, if there are no tensors: other bytes
 * would be behind the end. */
static bytes file_of(const char *metadata, size_t count)
{
    static const uint8_t zeros[256];
    bytes b = {0};
    count = strstr(metadata, NO_TENSORS) ? 0 : count;
    put(&b, "NRUB\1\0\0\0\0\0", 10);
    (void)encode(&b, metadata);
    for (unsigned i = 0; i < 4; i++) {
        b.data[6 + i] = (uint8_t)((b.size - 10) >> (8 * i));
    }
    put(&b, zeros, (256 - b.size % 256) % 256);
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)(i + 1);
        put(&b, &byte, 1);
    }
    return b;
}

static rec_record *load(const bytes *b)
{
    rec_recorder *r = rec_open_recorder("Burnpack", REC_PRECISION_KEEP);
    rec_record *record;
    assert_non_null(r);
    record = rec_load_bytes(r, b->data, b->size);
    rec_close_recorder(r);
    return record;
}

static rec_status save(const rec_record *record, const char *recorder, const char *const *options, bytes *b)
{
    rec_recorder *r = rec_open_recorder(recorder, REC_PRECISION_KEEP);
    void *data = NULL;
    uint64_t size = 0;
    rec_status status = REC_OK;
    assert_non_null(r);
    for (size_t i = 0; options[i] && status == REC_OK; i += 2) {
        status = rec_recorder_set(r, options[i], options[i + 1]);
    }
    status = status == REC_OK ? rec_save_bytes(r, record, &data, &size) : status;
    rec_close_recorder(r);
    *b = (bytes){0};
    if (status == REC_OK) {
        put(b, data, (size_t)size);
        put(b, "", 1); /* a text has an end */
        b->size--;
    }
    rec_free(data);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- mistakes -- */

#define ONE(descriptor) "{'tensors':{'t':" descriptor "}}"
#define GOOD_TENSOR "{'dtype':'U8','shape':[3],'data_offsets':[0,3]}"
#define TYPE(type) ONE("{'dtype':" type ",'shape':[3],'data_offsets':[0,3]}")
#define SHAPE(shape) ONE("{'dtype':'U8','shape':" shape ",'data_offsets':[0,3]}")
#define SCALAR(scalar) "{" NO_TENSORS ",'scalars':{'s':" scalar "}}"
#define OTHER(value) "{" NO_TENSORS ",'other':" value "}"

static const struct {
    const char *metadata, *words; /* NULL: it is read */
} mistakes[] = {
    {"5", "byte 10: expected a map, found an unsigned integer"},
    {"[1]", "byte 10: expected a map, found a list"},
    {"{}", "byte 10: the metadata have no `tensors`"},
    {"{_}", "byte 10: the metadata have no `tensors`"},
    {"{5:1}", "byte 11: expected the name of a field, found an unsigned integer"},
    {"{" NO_TENSORS ",'tensors':{}}", "byte 20: `tensors` occurs twice"},
    {"{'tensors':5}", "byte 19: expected the map of the tensors, found an unsigned integer"},
    {"{'tensors':[]}", "byte 19: expected the map of the tensors, found a list"},
    {"{" NO_TENSORS ",'metadata':{'a':'b'},'metadata':{}}", "byte 34: `metadata` occurs twice"},
    {"{" NO_TENSORS ",'metadata':{1:'b'}}",
     "byte 30: expected a text as key of the metadata, found an unsigned integer"},
    {"{" NO_TENSORS ",'metadata':{'a':null}}", "byte 32: expected a text as value of the metadata, found null"},
    {"{" NO_TENSORS ",'scalars':{1:{'Int':1}}}", "byte 29: expected the name of a scalar, found an unsigned integer"},
    {"{'tensors':{'t':5}}", "byte 22: expected a tensor's descriptor, a map, found an unsigned integer"},
    {"{'tensors':{<7fff>:5}}", "byte 22: expected a tensor's descriptor, a map, found an unsigned integer"},
    {"{'tensors':{'t':{}}}", "byte 22: the tensor `t` has no `dtype`"},
    {"{'tensors':{'t':{'dtype':'U8'}}}", "byte 22: the tensor `t` has no `shape`"},
    {"{'tensors':{'t':{'dtype':'U8','shape':[3]}}}", "byte 22: the tensor `t` has no `data_offsets`"},
    {"{'tensors':{'t':{7:'U8'}}}", "byte 23: expected the name of a field, found an unsigned integer"},
    {"{'tensors':{'t':{<7f6161ff>:'U8'}}}", "byte 23: expected the name of a field, found a text in pieces"},
    {"{'tensors':{'t':{<426474>:'U8'}}}", "byte 22: the tensor `t` has no `dtype`"},
    {"{'tensors':{'t':{'dtype':'U8','dtype':'U8'}}}", "byte 32: the tensor `t` has `dtype` twice"},
    {"{'tensors':{'t':{'dtype':'U8','shape':[3],'data_offsets':[0,3],'more':[1,{2:3}]}}}", NULL},
    {"{_'tensors':{_'t':{_'dtype':'U8','shape':[_3],'data_offsets':[0,3],'param_id':null}}}", NULL},
    {TYPE("'U9'"), "byte 29: expected an element type of Burn, found \"U9\" for the tensor `t`"},
    {TYPE("'a name of an element type that is longer than what a message has room for, which is one hundred and "
          "twenty-eight bytes of it, and so \xc3\xa9'"),
     "byte 29: expected an element type of Burn, found \"a name of an element type that is longer than what a message "
     "has room for, which is one hundred and twenty-eight bytes of it…\" for the tensor `t`"},
    {TYPE("{'Bool':'U8'}"), NULL},
    {TYPE("{_'Bool':'U8'}"), NULL},
    {TYPE("{_'Bool':'U8','x':1}"), "byte 29: an element type that is a map has one entry"},
    {TYPE("{'Bool':'U9'}"), "byte 35: expected how bools are stored, found \"U9\""},
    {TYPE("{'Bool':7}"), "byte 35: expected how bools are stored, found an unsigned integer"},
    {TYPE("{'Boole':7}"), "byte 30: expected an element type of Burn, found \"Boole\""},
    {TYPE("{7:7}"), "byte 30: expected an element type of Burn, found an unsigned integer"},
    {TYPE("{'Bool':'U8','x':1}"), "byte 29: expected an element type: its name, or a map of one entry, found a map"},
    {TYPE("{}"), "byte 29: expected an element type: its name, or a map of one entry, found a map"},
    {TYPE("null"), "byte 29: expected an element type: its name, or a map of one entry, found null"},
    {SHAPE("3"), "byte 38: expected a list of integers as shape, found an unsigned integer"},
    {SHAPE("'3'"), "byte 38: expected a list of integers as shape, found a text"},
    {SHAPE("['3']"), "byte 39: expected an unsigned integer as dimension, found a text"},
    {SHAPE("[-3]"), "byte 39: expected an unsigned integer as dimension, found a negative integer"},
    {SHAPE("<4103>"), NULL},
    {SHAPE("[3,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), NULL},
    {SHAPE("[3,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"),
     "byte 38: the tensor `t` has more than 32 dimensions"},
    {SHAPE("<5821010101010101010101010101010101010101010101010101010101010101010103>"),
     "byte 38: the tensor `t` has more than 32 dimensions"},
    {SHAPE("[4294967296,4294967296]"), "byte 20: the shape of the tensor `t` has more bytes than 64 bits can count"},
    {SHAPE("[4]"), "byte 20: the tensor `t` needs 4 bytes by its shape and u8, its data_offsets give 3"},
    {SHAPE("[]"), "byte 20: the tensor `t` needs 1 bytes by its shape and u8, its data_offsets give 3"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':3}"),
     "byte 53: expected a list of two integers as data_offsets, found an unsigned integer"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[0]}"),
     "byte 53: expected a list of two integers as data_offsets, found one of 1"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[_0,3]}"),
     "byte 53: expected a list of two integers as data_offsets, found a list of unknown length"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[0,'3']}"),
     "byte 55: expected an unsigned integer as offset, found a text"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[-1,3]}"),
     "byte 54: expected an unsigned integer as offset, found a negative integer"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[3,0]}"),
     "byte 20: the data of the tensor `t` end at 0, before they begin at 3"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[1,4]}"),
     "byte 20: expected a file that holds all tensors, found the data of `t` ending 1 bytes after the end of the "
     "file"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[18446744073709551612,18446744073709551615]}"),
     "byte 20: expected a file that holds all tensors, found the data of `t` ending 18446744073709551615 bytes after "
     "the end of the file"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[0,3],'param_id':'x'}"),
     "byte 65: expected an unsigned integer as param_id, found a text"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[0,3],'param_id':-1}"),
     "byte 65: expected an unsigned integer as param_id, found a negative integer"},
    {ONE("{'dtype':'U8','shape':[3],'data_offsets':[0,3],'param_id':18446744073709551615}"), NULL},
    {SCALAR("{'Int':-9223372036854775808}"), NULL},
    {SCALAR("{'Int':-9223372036854775809}"),
     "byte 36: expected a value of the kind Int, UInt, Float or Bool, found a negative integer"},
    {SCALAR("{'Int':9223372036854775807}"), NULL},
    {SCALAR("{'Int':9223372036854775808}"),
     "byte 36: expected a value of the kind Int, UInt, Float or Bool, found an unsigned integer"},
    {SCALAR("{'Int':true}"), "byte 36: expected a value of the kind Int, UInt, Float or Bool, found a bool"},
    {SCALAR("{'UInt':18446744073709551615}"), NULL},
    {SCALAR("{'UInt':<c249010000000000000000>}"),
     "byte 38: expected a value of the kind Int, UInt, Float or Bool, found an integer of more than 64 bits"},
    {SCALAR("{'UInt':<c24100>}"), NULL},
    {SCALAR("{'UInt':<c240>}"), NULL},
    {SCALAR("{'Int':<c34104>}"), NULL},
    {SCALAR("{'Float':1}"),
     "byte 38: expected a value of the kind Int, UInt, Float or Bool, found an unsigned integer"},
    {SCALAR("{'Float':<f97e01>}"), NULL},
    {SCALAR("{'Float':<fa40000000>}"), NULL},
    {SCALAR("{'Bool':true}"), NULL},
    {SCALAR("{'Bool':false}"), NULL},
    {SCALAR("{'Bool':1}"), "byte 37: expected a value of the kind Int, UInt, Float or Bool, found an unsigned integer"},
    {SCALAR("{'Bool':null}"), "byte 37: expected a value of the kind Int, UInt, Float or Bool, found null"},
    {SCALAR("{'Byte':1}"), "byte 37: expected a value of the kind Int, UInt, Float or Bool, found an unsigned integer"},
    {SCALAR("{}"), "byte 31: a scalar is a map of one entry: its kind and its value"},
    {SCALAR("{_}"), "byte 31: a scalar is a map of one entry: its kind and its value"},
    {SCALAR("{'Int':1,'Int':2}"), "byte 31: a scalar is a map of one entry: its kind and its value"},
    {SCALAR("{_'Int':1}"), NULL},
    {SCALAR("{_'Int':1,'Int':2}"), "byte 31: a scalar is a map of one entry: its kind and its value"},
    {SCALAR("{1:1}"), "byte 32: expected the name of a field, found an unsigned integer"},
    {SCALAR("1"), "byte 31: expected a scalar, a map of its kind and value, found an unsigned integer"},
    {OTHER("<f800>"), "byte 26: a simple value of CBOR in a form that it may not have"},
    {OTHER("<f81f>"), "byte 26: a simple value of CBOR in a form that it may not have"},
    {OTHER("<f820>"), NULL},
    {OTHER("<f0>"), NULL},
    {OTHER("<f7>"), NULL},
    {OTHER("<fc>"), "byte 26: the byte 0xfc begins no value of CBOR"},
    {OTHER("<1c>"), "byte 26: the byte 0x1c begins no value of CBOR"},
    {OTHER("<3f>"), "byte 26: an integer of unknown length"},
    {OTHER("<1f>"), "byte 26: an integer of unknown length"},
    {OTHER("<df01>"), "byte 26: the byte 0xdf begins no value of CBOR"},
    {OTHER("<d81801>"), NULL},
    {OTHER("<ff>"), "byte 26: a break where a value of CBOR was expected"},
    {OTHER("<62c3>"), "byte 28: expected a string of CBOR, found the end of the metadata"},
    {OTHER("<62c328>"), "byte 26: a text that is not UTF-8"},
    {OTHER("<5f42c32841ffff>"), NULL},
    {OTHER("<7f62c328ff>"), "byte 26: a text that is not UTF-8"},
    {OTHER("<7f6161>"), "byte 29: expected a value of CBOR, found the end of the metadata"},
    {OTHER("<7f7fff>"), "byte 27: a string of unknown length whose pieces are not strings"},
    {OTHER("<7f4161ff>"), "byte 27: a string of unknown length whose pieces are not strings"},
    {OTHER("<7f>"), "byte 27: expected a value of CBOR, found the end of the metadata"},
    {OTHER("<1b00>"), "byte 28: expected a number of CBOR, found the end of the metadata"},
    {OTHER("<9f01>"), "byte 28: expected an element or the end of a list or map, found the end of the metadata"},
    {OTHER("<9b7fffffffffffffff>"),
     "byte 26: 9,223,372,036,854,775,807 elements are announced, but only 0 bytes are left"},
    {OTHER("<bf01ff>"), "byte 28: a break where a value of CBOR was expected"},
    {OTHER("<41>"), "byte 27: expected a string of CBOR, found the end of the metadata"},
    {OTHER("<>"), "byte 26: expected a value of CBOR, found the end of the metadata"},
    /* schemes of quantised tensors */
    {TYPE("{'QFloat':5}"), "byte 37: expected the scheme of a quantised tensor, a map, found an unsigned integer"},
    {TYPE("{'QFloat':{}}"), "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE("{'QFloat':{5:1}}"),
     "byte 38: expected a field of the scheme of a quantised tensor, found an unsigned integer"},
    {TYPE("{'QFloat':{'other':1}}"), "byte 38: expected a field of the scheme of a quantised tensor, found \"other\""},
    {TYPE("{'QFloat':{'value':'Q8S','value':'Q8S'}}"), "byte 37: the scheme has `value` twice"},
    {TYPE("{'QFloat':{'value':'Q9S'}}"), "byte 44: expected a type of quantised values, found \"Q9S\""},
    {TYPE("{'QFloat':{'value':8}}"), "byte 44: expected a type of quantised values, found an unsigned integer"},
    {TYPE("{'QFloat':{'value':<7f6251386153ff>}}"),
     "byte 44: expected a type of quantised values, found a text in pieces"},
    {TYPE("{'QFloat':{'store':8}}"), "byte 44: expected a store of quantised values, found an unsigned integer"},
    {TYPE("{'QFloat':{'store':'U64'}}"), "byte 44: expected a store of quantised values, found \"U64\""},
    {TYPE("{'QFloat':{'store':'PackedU32'}}"), "byte 44: the store PackedU32 without its dimension"},
    {TYPE("{'QFloat':{'store':{'Native':0}}}"), "byte 44: the store Native with a dimension"},
    {TYPE("{'QFloat':{'store':{'PackedU32':4294967296}}}"),
     "byte 55: expected a dimension of 32 bits, found 4294967296"},
    {TYPE("{'QFloat':{'store':{'PackedU32':0,'PackedNative':1}}}"),
     "byte 44: expected a store of quantised values, found a map"},
    {TYPE("{'QFloat':{'store':{_'PackedU32':0}}}"), "byte 44: expected a store of quantised values, found a map"},
    {TYPE("{'QFloat':{'mode':'Affine'}}"), "byte 43: expected a mode of quantisation, found \"Affine\""},
    {TYPE("{'QFloat':{'param':'F64'}}"), "byte 44: expected the type of the scales, found \"F64\""},
    {TYPE("{'QFloat':{'level':null}}"), "byte 44: expected the level Tensor or Block, found null"},
    {TYPE("{'QFloat':{'level':'Row'}}"), "byte 44: expected the level Tensor or Block, found \"Row\""},
    {TYPE("{'QFloat':{'level':{'Row':1}}}"), "byte 45: expected the level Tensor or Block, found \"Row\""},
    {TYPE("{'QFloat':{'level':{'Block':1}}}"),
     "byte 51: expected a block's size: storage and len, found an unsigned integer"},
    {TYPE("{'QFloat':{'level':{'Block':{'storage':[1,1,1,1,1],'storage':[1,1,1,1,1]}}}}"),
     "byte 66: `storage` of a block's size occurs twice"},
    {TYPE("{'QFloat':{'level':{'Block':{'len':1,'len':1}}}}"), "byte 57: `len` of a block's size occurs twice"},
    {TYPE("{'QFloat':{'level':{'Block':{'len':6,'storage':[1,1,1,1,1]}}}}"),
     "byte 56: expected at most 5 dimensions of a block, found 6"},
    {TYPE("{'QFloat':{'level':{'Block':{'len':<c249010000000000000001>,'storage':[1,1,1,1,1]}}}}"),
     "byte 57: expected at most 5 dimensions of a block, found an integer of more than 64 bits"},
    {TYPE("{'QFloat':{'level':{'Block':{'len':1,'storage':[1,1,1,1]}}}}"),
     "byte 65: expected a list of 5 numbers, found one of 4"},
    {TYPE("{'QFloat':{'level':{'Block':{'len':1,'storage':[1,1,1,1,256]}}}}"),
     "byte 70: expected a number of 8 bits, found 256"},
    {TYPE("{'QFloat':{'level':{'Block':{'len':1,'size':1}}}}"),
     "byte 57: expected a block's size: storage and len, found \"size\""},
    {TYPE("{'QFloat':{'level':{'Block':{'len':1}}}}"),
     "byte 51: expected a block's size: storage and len, found a map"},
    {TYPE("{'QFloat':{'tensor':5}}"), "byte 45: expected the type of the tensor's scale, found an unsigned integer"},
    {TYPE("{'QFloat':{'tensor':'F64'}}"), "byte 45: expected the type of the tensor's scale, found \"F64\""},
    {TYPE("{'QFloat':{'block':5}}"), "byte 44: expected the size and dtype of blocks, found an unsigned integer"},
    {TYPE("{'QFloat':{'block':{'size':1}}}"), "byte 44: expected the size and dtype of blocks, found a map"},
    {TYPE("{'QFloat':{'block':{'dtype':'F16','dtype':'F16'}}}"), "byte 55: `dtype` of a block occurs twice"},
    {TYPE("{'QFloat':{'block':{'dtype':'F64','size':1}}}"), "byte 51: expected the type of the scales, found \"F64\""},
    {TYPE("{'QFloat':{'block':{'type':'F64','size':1}}}"), "byte 45: expected size or dtype, found \"type\""},
    {TYPE("{'QFloat':{'value':'Q8S','store':'Native','mode':'Symmetric','param':'F32'}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE("{'QFloat':{'value':'Q8S','store':'Native','mode':'Symmetric','level':'Tensor'}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE(
         "{'QFloat':{'value':'Q8S','store':'Native','mode':'Symmetric','level':'Tensor','param':'F32','tensor':null}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE("{'QFloat':{'value':'Q8S','store':'Native','mode':'Symmetric','level':'Tensor','param':'F32','block':null}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE("{'QFloat':{'value':'Q8S','store':'Native'}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE("{'QFloat':{'value':'Q8S','mode':'Symmetric'}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
    {TYPE("{'QFloat':{'store':'Native','mode':'Symmetric'}}"),
     "byte 37: a scheme has value, store, mode, and either param and level or tensor and block"},
};

static void each_mistake_has_its_place_and_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        bytes b = file_of(mistakes[i].metadata, 3);
        rec_record *record = load(&b);
        const char *words = mistakes[i].words;
        if (!record != (words != NULL)) {
            fail_msg("%s: %s", mistakes[i].metadata, record ? "it is read" : rec_error_message());
        } else if (words && !is_message(words)) {
            fail_msg("%s:\nexpected %s\nfound    %s", mistakes[i].metadata, words, rec_error_message());
        }
        rec_record_free(record);
        free(b.data);
    }
}

/* What is nested, just so deep and one level too deep. The metadata are two of the levels. */
static void nesting_has_an_end(void **state)
{
    (void)state;
    for (size_t depth = 127; depth <= 128; depth++) {
        char text[512] = "{" NO_TENSORS ",'other':";
        bytes b;
        rec_record *record;
        memset(text + strlen(text), '[', depth);
        memset(text + strlen(text), ']', depth);
        (void)strcat(text, "}");
        b = file_of(text, 0);
        record = load(&b);
        assert_true((record != NULL) == (depth == 127));
        if (!record) {
            assert_int_equal(rec_error_status(), REC_E_LIMIT);
            assert_non_null(strstr(rec_error_message(), "the metadata are nested deeper than 128 levels"));
        }
        rec_record_free(record);
        free(b.data);
    }
}

/* ------------------------------------------------------------------------------------------- quantised tensors -- */

#define SIZE "{'storage':[32,1,1,1,1],'len':1}"
#define BLOCK "{'size':" SIZE ",'dtype':'F16'}"
#define Q(scheme) "{'QFloat':" scheme "}"
#define NEW(store, mode, tensor, block) \
    Q("{'value':'Q8S','store':" store ",'mode':" mode ",'tensor':" tensor ",'block':" block "}")
#define OLD(param, store, level) \
    Q("{'value':'Q8S','param':" param ",'store':" store ",'level':" level ",'mode':'Symmetric'}")
#define PACK "{'PackedU32':0}"

/* What is read, as Burn 0.19 to 0.21 are given it and as later ones; NULL: they do not have it. And which versions have
 * its store at all. */
static const struct {
    const char *read, *old, *new;
    int first, last;
} schemes[] = {
    {OLD("'F32'", "'Native'", "'Tensor'"), OLD("'F32'", "'Native'", "'Tensor'"),
     NEW("'Native'", "'Symmetric'", "null", "null"), 19, 23},
    {OLD("'F16'", PACK, "'Tensor'"), OLD("'F16'", PACK, "'Tensor'"), NEW(PACK, "'Symmetric'", "'F16'", "null"), 20, 23},
    {OLD("'F16'", "'U32'", "{'Block':" SIZE "}"), OLD("'F16'", "'U32'", "{'Block':" SIZE "}"), NULL, 19, 19},
    {OLD("'F16'", "{'PackedNative':4294967295}", "{'Block':" SIZE "}"),
     OLD("'F16'", "{'PackedNative':4294967295}", "{'Block':" SIZE "}"),
     NEW("{'PackedNative':4294967295}", "'Symmetric'", "null", BLOCK), 20, 23},
    {NEW(PACK, "'Symmetric'", "null", "null"), OLD("'F32'", PACK, "'Tensor'"), NEW(PACK, "'Symmetric'", "null", "null"),
     20, 23},
    {NEW(PACK, "'Symmetric'", "'F32'", "null"), OLD("'F32'", PACK, "'Tensor'"),
     NEW(PACK, "'Symmetric'", "null", "null"), 20, 23},
    {NEW(PACK, "'Symmetric'", "'UE8M0'", "null"), OLD("'UE8M0'", PACK, "'Tensor'"),
     NEW(PACK, "'Symmetric'", "'UE8M0'", "null"), 20, 23},
    {NEW(PACK, "'Symmetric'", "null", BLOCK), OLD("'F16'", PACK, "{'Block':" SIZE "}"),
     NEW(PACK, "'Symmetric'", "null", BLOCK), 20, 23},
    {NEW(PACK, "'Symmetric'", "'BF16'", BLOCK), NULL, NEW(PACK, "'Symmetric'", "'BF16'", BLOCK), 20, 23},
    {NEW("'Native'", "'Lookup'", "'UE4M3'", "null"), NULL, NEW("'Native'", "'Lookup'", "'UE4M3'", "null"), 20, 23},
    {NEW("'Native'", "'Lookup'", "null", "null"), NULL, NEW("'Native'", "'Lookup'", "null", "null"), 20, 23},
    /* in any order, of unknown length */
    {"{_'QFloat':{_'mode':'Symmetric','block':{'dtype':'F16','size':{'len':1,'storage':[32,1,1,1,1]}},'store':" PACK
     ",'value':'Q8S'}}",
     OLD("'F16'", PACK, "{'Block':" SIZE "}"), NEW(PACK, "'Symmetric'", "null", BLOCK), 20, 23},
};

static void each_burn_is_given_the_scheme_that_it_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char metadata[512];
        bytes file;
        rec_record *record;
        (void)snprintf(metadata, sizeof metadata, ONE("{'dtype':%s,'shape':[3],'data_offsets':[0,7]}"),
                       schemes[i].read);
        file = file_of(metadata, 7);
        record = load(&file);
        if (!record) {
            fail_msg("%s: %s", schemes[i].read, rec_error_message());
        }
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, "t")), REC_DTYPE_QFLOAT);
        for (int burn = 19; burn <= 23; burn++) {
            char layout[16];
            const char *const options[] = {"layout", layout, NULL};
            const char *words = burn < 22 ? schemes[i].old : schemes[i].new;
            bool has = words && burn >= schemes[i].first && burn <= schemes[i].last;
            bytes saved;
            rec_status status;
            (void)snprintf(layout, sizeof layout, "burn-0.%d", burn);
            status = save(record, "Burnpack", options, &saved);
            if ((status == REC_OK) != has) {
                fail_msg("%zu for Burn 0.%d: %s", i, burn, has ? rec_error_message() : "it is saved");
            } else if (has) {
                bytes expected = {0};
                (void)encode(&expected, words);
                if (!memmem(saved.data, saved.size, expected.data, expected.size)) {
                    fail_msg("%zu for Burn 0.%d is not saved as %s", i, burn, words);
                }
                assert_memory_equal(saved.data + saved.size - 7, "\1\2\3\4\5\6\7", 7);
                free(expected.data);
            } else {
                char own[128], cores[128]; /* what the library knows of versions comes first */
                (void)snprintf(own, sizeof own, "the tensor `t` is quantised by a scheme that Burn 0.%d does not have",
                               burn);
                (void)snprintf(cores, sizeof cores,
                               "t: a quantised tensor whose scheme is not in the form of Burn 0.%d", burn);
                assert_int_equal(status, REC_E_UNSUPPORTED);
                if (!strstr(rec_error_message(), own) && !strstr(rec_error_message(), cores)) {
                    fail_msg("%zu for Burn 0.%d: %s", i, burn, rec_error_message());
                }
            }
            free(saved.data);
        }
        rec_record_free(record);
        free(file.data);
    }
}

/* The words of a scheme in a record, as a JSON file has them, and whether a burnpack can. */
static const struct {
    const char *words;
    bool known;
} spelled[] = {
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", true},
    {"{\"mode\":\"Symmetric\",\"level\":\"Tensor\",\"store\":{\"PackedU32\":1},\"param\":\"F32\",\"value\":\"Q8S\"}",
     true},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"mode\":\"Symmetric\",\"tensor\":\"F32\",\"block\":null}", true},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"mode\":\"Symmetric\",\"tensor\":null,\"block\":{\"size\":{\"storage\":["
     "1,1,1,1,"
     "255],\"len\":5},\"dtype\":\"F16\"}}",
     true},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"mode\":\"Symmetric\"}", true},
    {"{\"value\":\"Q8X\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":8,\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F31\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Other\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"PackedU32\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":{\"Native\":0},\"level\":\"Tensor\",\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":{\"PackedU32\":-1},\"level\":\"Tensor\",\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":{\"PackedU32\":0,\"x\":1},\"level\":\"Tensor\",\"mode\":"
     "\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Row\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":{\"Block\":{\"storage\":[256,1,1,1,1],"
     "\"len\":1}},"
     "\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":{\"Block\":{\"storage\":[32,1,1,1],\"len\":1}"
     "},"
     "\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":{\"Block\":{\"storage\":[32,1,1,1,1],\"len\":"
     "6}},"
     "\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":{\"Block\":{\"storage\":[32,1,1,1,1]}},"
     "\"mode\":\"Symmetric\"}",
     false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Affine\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"mode\":\"Symmetric\"}", false},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\",\"tensor\":"
     "\"F16\"}",
     false},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"mode\":\"Symmetric\",\"tensor\":\"F64\"}", false},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"mode\":\"Symmetric\",\"block\":{\"dtype\":\"F16\"}}", false},
    {"{\"value\":\"Q8S\",\"store\":\"Native\",\"mode\":\"Symmetric\",\"more\":null}", false},
    {"{\"some\":\"new one\"}", false},
    {"{}", false},
    {"\"Q8S\"", false},
};

static void only_schemes_of_burns_with_the_format_are_written(void **state)
{
    static const char *const options[] = {"layout", "burn-0.21", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        char text[1024];
        rec_recorder *json = rec_open_recorder("PrettyJson", REC_PRECISION_KEEP);
        rec_record *record;
        rec_status status;
        bytes saved;
        assert_non_null(json);
        (void)snprintf(
            text, sizeof text,
            "{\"metadata\":{\"version\":\"0.21.0\",\"float\":\"f32\",\"int\":\"i32\",\"format\":\"f\","
            "\"settings\":\"FullPrecisionSettings\"},\"item\":{\"t\":{\"id\":\"0123456789abc\",\"param\":{\"bytes\":"
            "[1,2,3,4,5,6,7],\"shape\":[3],\"dtype\":{\"QFloat\":%s}}}}}",
            spelled[i].words);
        record = rec_load_bytes(json, text, strlen(text));
        if (!record) {
            fail_msg("%s: %s", spelled[i].words, rec_error_message());
        }
        status = save(record, "Burnpack", options, &saved);
        if ((status == REC_OK) != spelled[i].known) {
            fail_msg("%s: %s", spelled[i].words, status == REC_OK ? "it is saved" : rec_error_message());
        } else if (status != REC_OK) {
            assert_int_equal(status, REC_E_UNSUPPORTED);
            assert_non_null(strstr(rec_error_message(),
                                   "the tensor `t` is quantised by a scheme that no Burn with this format has"));
            assert_string_equal(rec_error_hint(), "Load and quantise the model again with Burn 0.19 or later.");
        }
        free(saved.data);
        rec_record_free(record);
        rec_close_recorder(json);
    }
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

#define STORED(version) "'metadata':{'format':'burnpack','producer':'burn','version':" version "}"
#define PLAIN "{'tensors':{'t':" GOOD_TENSOR "}}"

/* What Burn's store says of itself in a file, by the option `store` and the version that is written for. */
static const struct {
    const char *read, *store, *layout;
    const char *metadata; /* of what is written; or the message */
    rec_status status;
} stored[] = {
    {PLAIN, NULL, "burn-0.22", NULL, REC_OK},
    {PLAIN, "no", "burn-0.22", NULL, REC_OK},
    {PLAIN, "yes", "burn-0.22", "{'format':'burnpack','producer':'burn','version':'0.22.0'}", REC_OK},
    {PLAIN, "yes", "burn-0.20", "{'format':'burnpack','producer':'burn','version':'0.20.0'}", REC_OK},
    {PLAIN, "0.22.1", "burn-0.22", "{'format':'burnpack','producer':'burn','version':'0.22.1'}", REC_OK},
    {PLAIN, "0.22.1", "burn-0.21",
     "expected a version of burn-store that goes with Burn, found store = 0.22.1 for Burn 0.21", REC_E_ARGUMENT},
    {PLAIN, "1.22", "burn-0.22",
     "expected a version of burn-store that goes with Burn, found store = 1.22 for Burn 0.22", REC_E_ARGUMENT},
    {PLAIN, "0.", "burn-0.22", "expected a version of burn-store that goes with Burn, found store = 0. for Burn 0.22",
     REC_E_ARGUMENT},
    {PLAIN, "0.x", "burn-0.22", "expected a version of burn-store that goes with Burn, found store = 0.x for Burn 0.22",
     REC_E_ARGUMENT},
    {PLAIN, "0.99999999999", "burn-0.22",
     "expected a version of burn-store that goes with Burn, found store = 0.99999999999 for Burn 0.22", REC_E_ARGUMENT},
    /* one that is there is that of the version */
    {"{'tensors':{'t':" GOOD_TENSOR "}," STORED("'0.21.3'") "}", NULL, "burn-0.21",
     "{'format':'burnpack','producer':'burn','version':'0.21.3'}", REC_OK},
    {"{'tensors':{'t':" GOOD_TENSOR "}," STORED("'0.21.3'") "}", NULL, "burn-0.22",
     "{'format':'burnpack','producer':'burn','version':'0.22.0'}", REC_OK},
    {"{'tensors':{'t':" GOOD_TENSOR "}," STORED("'0.21.3'") "}", "0.22.7", "burn-0.22",
     "{'format':'burnpack','producer':'burn','version':'0.22.7'}", REC_OK},
    {"{'tensors':{'t':" GOOD_TENSOR "}," STORED("'a version of more than twenty-three bytes'") "}", NULL, "burn-0.22",
     "{'format':'burnpack','producer':'burn','version':'0.22.0'}", REC_OK},
    /* what only looks like one stays */
    {"{'tensors':{'t':" GOOD_TENSOR "},'metadata':{'format':'burnpack','producer':'me','version':'0.21.3'}}", NULL,
     "burn-0.22", "{'format':'burnpack','producer':'me','version':'0.21.3'}", REC_OK},
    {"{'tensors':{'t':" GOOD_TENSOR "},'metadata':{'format':'burnpack','producer':'burn'}}", NULL, "burn-0.22",
     "{'format':'burnpack','producer':'burn'}", REC_OK},
};

static void the_store_says_which_version_it_is_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        bytes file = file_of(stored[i].read, 3), saved, expected = {0};
        rec_record *record = load(&file);
        const char *const options[] = {"layout", stored[i].layout, stored[i].store ? "store" : NULL, stored[i].store,
                                       NULL};
        rec_status status;
        assert_non_null(record);
        status = save(record, "Burnpack", options, &saved);
        if (status != stored[i].status) {
            fail_msg("%zu: %s", i, rec_error_message());
        } else if (status != REC_OK && !strstr(rec_error_message(), stored[i].metadata)) {
            fail_msg("%zu: expected %s\nfound %s", i, stored[i].metadata, rec_error_message());
        } else if (status == REC_OK && stored[i].metadata) {
            (void)encode(&expected, "'metadata'");
            (void)encode(&expected, stored[i].metadata);
            if (!memmem(saved.data, saved.size, expected.data, expected.size)) {
                fail_msg("%zu: the file does not say %s", i, stored[i].metadata);
            }
        } else if (status == REC_OK) {
            assert_null(memmem(saved.data, saved.size, "metadata", 8));
        }
        free(expected.data);
        free(saved.data);
        rec_record_free(record);
        free(file.data);
    }
}

/* A file that is read, and what a version of Burn is given of it: bools as it has them; or the message. */
static const struct {
    const char *read, *layout, *dtype, *words;
} given[] = {
    {"{" NO_TENSORS ",'scalars':{'0.iter_idx':{'Int':3}}}", "burn-0.21", NULL,
     "Burn 0.21 stores a scheduler in the files of its recorders, not in Burnpack"},
    {"{'tensors':{'t':" GOOD_TENSOR "},'scalars':{'s':{'Int':3}}}", "burn-0.21", NULL,
     "Burn 0.21 stores a scheduler in the files of its recorders, not in Burnpack"},
    {TYPE("{'Bool':'U8'}"), "burn-0.22", "{'Bool':'U8'}", NULL},
    {TYPE("{'Bool':'U8'}"), "burn-0.21", "{'Bool':'U8'}", NULL},
    {TYPE("{'Bool':'U8'}"), "burn-0.20", "'Bool'", NULL},
    {TYPE("'Bool'"), "burn-0.20", "'Bool'", NULL},
    {TYPE("'Bool'"), "burn-0.21", "{'Bool':'Native'}", NULL},
    {ONE("{'dtype':{'Bool':'U32'},'shape':[],'data_offsets':[0,4]}"), "burn-0.22", "{'Bool':'U32'}", NULL},
    {ONE("{'dtype':{'Bool':'U32'},'shape':[],'data_offsets':[0,4]}"), "burn-0.19", "'Bool'", NULL},
};

static void each_burn_is_given_the_bools_that_it_has(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        size_t size = strstr(given[i].read, "[0,4]") ? 4 : 3;
        bytes file = file_of(given[i].read, size), saved, expected = {0};
        rec_record *record;
        const char *const options[] = {"layout", given[i].layout, NULL};
        if (!strstr(given[i].read, NO_TENSORS)) {
            memset(file.data + file.size - size, 1, size); /* true, of either width */
            file.data[file.size - size + 1] = 0;
        }
        record = load(&file);
        if (!record) {
            fail_msg("%zu: %s", i, rec_error_message());
        }
        if (save(record, "Burnpack", options, &saved) != REC_OK) {
            if (!given[i].words || !strstr(rec_error_message(), given[i].words)) {
                fail_msg("%zu: %s", i, rec_error_message());
            }
        } else {
            assert_null(given[i].words);
            (void)encode(&expected, "'dtype'");
            (void)encode(&expected, given[i].dtype);
            if (!memmem(saved.data, saved.size, expected.data, expected.size)) {
                fail_msg("%zu: the file does not say %s", i, given[i].dtype);
            }
        }
        free(expected.data);
        free(saved.data);
        rec_record_free(record);
        free(file.data);
    }
}

/* A model's record: ids that Burnpack has no number for, and keys that are one name in its steps. */
static void a_name_or_id_that_a_burnpack_cannot_have_is_refused(void **state)
{
    static const uint64_t shape[] = {3};
    static const uint8_t data[] = {1, 2, 3};
    static const char *const options[] = {"layout", "keep", NULL};
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_U8,
                            .rank = 1,
                            .shape = shape,
                            .data = data,
                            .data_size = sizeof data,
                            .id = "not-one-of-burns"};
    rec_record *record = rec_record_new(NULL);
    bytes saved;
    (void)state;
    assert_non_null(record);
    assert_int_equal(rec_set_tensor(record, "a\\.b", &spec), REC_OK);
    assert_int_equal(save(record, "Burnpack", options, &saved), REC_E_UNSUPPORTED);
    assert_true(
        is_message(
            "the parameter `a.b` has the id not-one-of-burns, which is not one of Burn's: no number of 64 bits") ||
        is_message(
            "a\\.b: the parameter `a.b` has the id not-one-of-burns, which is not one of Burn's: no number of 64 "
            "bits"));
    rec_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_place_and_words),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(each_burn_is_given_the_scheme_that_it_has),
        cmocka_unit_test(only_schemes_of_burns_with_the_format_are_written),
        cmocka_unit_test(the_store_says_which_version_it_is_of),
        cmocka_unit_test(each_burn_is_given_the_bools_that_it_has),
        cmocka_unit_test(a_name_or_id_that_a_burnpack_cannot_have_is_refused),
    };
    return cmocka_run_group_tests_name("burnpack's metadata", tests, NULL, NULL);
}
