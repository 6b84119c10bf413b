/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The safetensors reader: what it takes, what it refuses and in which words, and the text about the record that
 * librecord's own files carry. */
#include "tests/test_st.h"

#include <glob.h>

#include "tests/shared.h"

static void expect_text(char *found, const char *expected)
{
    assert_string_equal(found, expected);
    free(found);
}

/* ----------------------------------------------------------------------------------------------------- refused -- */

#define DAMAGED "The file is damaged, or its writer is wrong: get it again, or write it again."
#define X4 "{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"

static const struct {
    const char *header;
    size_t data;
    const char *message; /* after the status and the file's name */
} refused[] = {
    /* The container. */
    {X4 "}", 3,
     "byte 65: expected as many bytes as the header says, found 3 bytes of data instead of 4\n"
     "  The file is truncated: copy it again from its source."},
    {X4 "}", 5, "byte 66: 1 byte after the last tensor belongs to no tensor\n  " DAMAGED},
    {"{}", 1, "byte 10: 1 byte after the last tensor belongs to no tensor\n  " DAMAGED},
    {"", 0, "byte 8: expected the header, a JSON object, found the end of the header\n  " DAMAGED},
    {"[]", 0, "byte 8: expected the header, a JSON object, found `[`\n  " DAMAGED},
    {"{}x", 0, "byte 10: expected nothing but white space after the header, found `x`\n  " DAMAGED},
    {"{\"x\":F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "byte 13: expected an entry, {\"dtype\", \"shape\", \"data_offsets\"}, found `F`\n  " DAMAGED},
    {"{\"x\":1}", 0, "byte 13: expected an entry, {\"dtype\", \"shape\", \"data_offsets\"}, found `1`\n  " DAMAGED},
    {"{\"x\xff\":1}", 0, "byte 11: expected a string in UTF-8, found 0xff\n  " DAMAGED},
    {"{\"x", 0,
     "byte 11: the data end inside a string\n"
     "  The file is truncated: copy it again from its source.\n"
     "  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[],}}", 0,
     "byte 39: expected a field's name in quotes, found `}`\n  " DAMAGED},
    {X4 ",}", 4, "byte 62: expected a tensor's name in quotes, found `}`\n  " DAMAGED},
    /* Fields. */
    {"{\"x\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "byte 9: the tensor `x`: its field `dtype` is missing\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4,
     "byte 9: the tensor `x`: its field `data_offsets` is missing\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4,
     "byte 9: the tensor `x`: its field `dtype` occurs twice\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F128\",\"shape\":[1],\"data_offsets\":[0,16]}}", 16,
     "byte 22: the element type `F128` is not known\n"
     "  Known are: BOOL F4 F6_E2M3 F6_E3M2 U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ I16 U16 F16 BF16 I32 "
     "U32 F32 C64 F64 I64 U64. Without its size the file cannot be checked."},
    {"{\"x\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "byte 22: expected the dtype, a string, found `1`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
     "byte 37: expected a whole number from 0 to 2^64 - 1, found `-1`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
     "byte 37: expected a whole number from 0 to 2^64 - 1, found `1.0`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[01],\"data_offsets\":[0,4]}}", 4,
     "byte 37: expected a whole number from 0 to 2^64 - 1, found `01`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[18446744073709551616],\"data_offsets\":[0,4]}}", 4,
     "byte 37: expected a whole number from 0 to 2^64 - 1, found `18446744073709551616`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1,],\"data_offsets\":[0,4]}}", 4,
     "byte 39: expected a whole number from 0 to 2^64 - 1, found `]`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4,
     "byte 59: expected `]` after the two data_offsets, found `,`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4]}}", 4,
     "byte 57: expected `,` between the two data_offsets, found `]`\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
     "\"data_offsets\":[0,4]}}",
     4, "byte 9: a tensor of more than 32 dimensions"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"odd\":[1,{\"a\":tru}],\"data_offsets\":[0,4]}}", 4,
     "byte 54: expected a value, found `t`\n  " DAMAGED},
    /* Sizes. */
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
     "byte 9: the tensor `x`: its shape and type F32 need 8 bytes, its data_offsets give 4\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
     "byte 9: the tensor `x`: its data end at 0, before they begin at 4\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", 4,
     "byte 9: the tensor `x`: its shape has more elements than 64 bits can count\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,0],\"data_offsets\":[0,0]}}", 0,
     "byte 9: the tensor `x`: its shape has more elements than 64 bits can count\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
     "byte 9: the tensor `x`: its shape has more bytes than 64 bits can count\n  " DAMAGED},
    {"{\"x\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1,
     "byte 9: the tensor `x`: 3 elements of F4 are not a whole number of bytes\n  " DAMAGED},
    /* Places. */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}", 4,
     "byte 9: the data of `x` begin at 2, but the tensors before it end at 0: the bytes between belong to none\n "
     " " DAMAGED},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"y\":{\"dtype\":\"U8\",\"shape\":[2],"
     "\"data_offsets\":[1,3]}}",
     3, "byte 61: the data of `y` begin at 1, but those of `x` go on to 2: tensors may not share bytes\n  " DAMAGED},
    {"{\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[3,5]},\"x\":{\"dtype\":\"U8\",\"shape\":[2],"
     "\"data_offsets\":[0,2]}}",
     5,
     "byte 9: the data of `y` begin at 3, but the tensors before it end at 2: the bytes between belong to none\n "
     " " DAMAGED},
    /* Names. */
    {X4 ",\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "byte 62: the header has the tensor `x` twice, at bytes 9 and 62\n  " DAMAGED},
    {X4 ",\"\\u0078\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
     "byte 62: the header has the tensor `x` twice, at bytes 9 and 62\n  " DAMAGED},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "byte 27: `__metadata__` occurs twice\n  " DAMAGED},
    {"{\"__metadata__\":{\"a\":1}}", 0,
     "byte 29: expected a string, as all values of `__metadata__` are, found `1`\n  " DAMAGED
     "\n  It is the value of `a`."},
    {"{\"__metadata__\":[]}", 0,
     "byte 24: expected `__metadata__`, a map of strings to strings, found `[`\n  " DAMAGED},
};

static void what_is_wrong_is_refused_with_its_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        st_file f = st_make(refused[i].header, refused[i].data);
        char *found = st_tell(f.data, f.size), *expected = NULL;
        const char *status = strstr(refused[i].message, "not known") || strstr(refused[i].message, "dimensions")
                                 ? "REC_E_UNSUPPORTED"
                                 : "REC_E_FORMAT";
        assert_true(asprintf(&expected, "%s\nf: %s", status, refused[i].message) > 0);
        expect_text(found, expected);
        free(expected);
        free(f.data);
    }
}

static void a_length_that_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        {"", 0,
         "REC_E_FORMAT\n"
         "f: byte 0: a file of 0 bytes; the length of the header alone has 8\n"
         "  The file is truncated, or it is not a safetensors file."},
        {"\2\0\0\0\0\0\0", 7,
         "REC_E_FORMAT\n"
         "f: byte 0: a file of 7 bytes; the length of the header alone has 8\n"
         "  The file is truncated, or it is not a safetensors file."},
        {"\3\0\0\0\0\0\0\0{}", 10,
         "REC_E_FORMAT\n"
         "f: byte 0: the header has 3 bytes, but only 2 follow\n"
         "  The file is truncated, or it is not a safetensors file."},
        {"\1\xe1\xf5\5\0\0\0\0{}", 10,
         "REC_E_FORMAT\n"
         "f: byte 0: expected the length of the header, at most 100,000,000 bytes, found 100000001\n"
         "  This is not a safetensors file, or it is damaged."},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
         "REC_E_FORMAT\n"
         "f: byte 0: expected the length of the header, at most 100,000,000 bytes, found 18446744073709551615\n"
         "  This is not a safetensors file, or it is damaged."},
        {"version https://git-lfs.github.com/spec/v1", 42,
         "REC_E_FORMAT\nf: byte 0: expected the length of the header, at most 100,000,000 bytes, found "
         "2336927755350992246\n  Is it a pointer of Git LFS? Then `git lfs pull` gets the file itself."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_text(st_tell(cases[i].bytes, cases[i].size), cases[i].message);
    }
}

/* The malformed files of the reference implementation, and a word of the reason of each. */
static void the_reference_cases_are_told_apart(void **state)
{
    static const struct {
        const char *name, *word;
    } cases[] = {
        {"HeaderTooLarge", "at most 100,000,000 bytes"},
        {"HeaderTooSmall", "a file of 0 bytes"},
        {"InvalidHeaderDeserialization", "found the end of the header"},
        {"InvalidHeaderLength", "the header has 60 bytes, but only 0 follow"},
        {"InvalidHeader_nonutf8", "found 0xff"},
        {"InvalidOffset_json_attack", "tensors may not share bytes"},
        {"MetadataIncompleteBuffer_extra", "34 bytes after the last tensor"},
        {"MetadataIncompleteBuffer_short", "14 bytes of data instead of 16"},
        {"TensorInvalidInfo", "need 16 bytes, its data_offsets give 4"},
        {"ValidationOverflow_bytes", "more bytes than 64 bits can count"},
        {"ValidationOverflow_shape", "more elements than 64 bits can count"},
    };
    char path[4096];
    glob_t found;
    (void)state;
    if (!shared_path(path, sizeof path, "safetensors/spec-cases")) {
        skip();
    }
    strcat(path, "/*.safetensors");
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        char *text = st_tell_path(found.gl_pathv[i]);
        const char *word = strncmp(name, "ok_", 3) == 0 ? "map10*" : NULL;
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            size_t length = strlen(cases[k].name);
            if (strncmp(name, "bad_", 4) == 0 && strncmp(name + 4, cases[k].name, length) == 0 &&
                name[4 + length] == '.') {
                word = cases[k].word;
            }
        }
        assert_non_null(word); /* a case that nobody has looked at */
        if (!strstr(text, word)) {
            fail_msg("%s: %s", name, text);
        }
        free(text);
    }
    globfree(&found);
}

/* ---------------------------------------------------------------------------------------------------- accepted -- */

static const struct {
    const char *header;
    size_t data;
    const char *events;
} accepted[] = {
    {"{}", 0, "map10*0{ } "},
    {"\t\n{}\r ", 0, "map10*0{ } "},
    {"{\"__metadata__\":null}", 0, "map10*0{ } "},
    {"{\"__metadata__\":{\"format\":\"pt\",\"a\\\"\":\"\\u00e4\"}}", 0,
     "25:'format' = 'pt' 39:'a\"' = 'ä' map10*0{ } "},
    {X4 "}", 4, "map10*1{ 9:'x' f32[1]4(00010203) } "},
    /* White space, the order of fields, fields that are not known. */
    {"{ \"x\" : { \"data_offsets\" : [ 0 , 2 ] , \"shape\" : [ ] , \"dtype\" : \"F16\" } } ", 2,
     "map10*1{ 10:'x' f16[]2(0001) } "},
    {"{\"x\": {\"dtype\": \"F16\", \"shape\": [1, 1], \"data_offsets\": [0, 2]}}", 2,
     "map10*1{ 9:'x' f16[1x1]2(0001) } "},
    {"{\"x\":{\"odd\":[null,true,false,-1.5e3,\"\\n\",{\"a\":{}},[]],\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":["
     "0,1],"
     "\"more\":0}}",
     1,
     "map10*1{ 9:'x' u8[1]1(00) } \nf: 2 fields of tensors that safetensors does not have: left out; the first is "
     "`odd`"},
    /* The order of the header is kept, whatever that of the data. */
    {"{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},\"a\":{\"dtype\":\"I8\",\"shape\":[1],"
     "\"data_offsets\":[0,1]},\"e\":{\"dtype\":\"I8\",\"shape\":[0,7],\"data_offsets\":[3,3]}}",
     3, "map10*3{ 9:'b' u8[2]2(0102) 61:'a' i8[1]1(00) 113:'e' i8[0x7]0() } "},
    {"{\"a.b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"\":{\"dtype\":\"U8\",\"shape\":[],"
     "\"data_offsets\":[1,2]},\"\\u0000\\n\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
     3, NULL},
    {"{\"x\":{\"dt\\u0079pe\":\"\\u0055\\u0038\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     "map10*1{ 9:'x' u8[1]1(00) } "},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[0,18446744073709551615],\"data_offsets\":[0,0]}}", 0,
     "map10*1{ 9:'x' u8[0x18446744073709551615]0() } "},
};

static void what_is_right_is_told_as_it_stands(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        st_file f = st_make(accepted[i].header, accepted[i].data);
        char *found = st_tell(f.data, f.size);
        if (accepted[i].events) {
            assert_string_equal(found, accepted[i].events);
        } else {
            assert_non_null(strstr(found, "map10*3{ 9:'a.b' "));
        }
        free(found);
        free(f.data);
    }
}

static void every_element_type_has_its_size(void **state)
{
    (void)state;
    for (int n = 0; n < 2 * LR_ST_TYPES; n++) {
        /* As the reference implementation writes it, and in another order, which is read by the grammar. */
        int i = n / 2, other = n % 2;
        const lr_st_type *type = &lr_st_types[i];
        char *header = NULL, *found, *expected = NULL;
        st_file f;
        assert_int_equal(strlen(type->name), type->length);
        assert_int_equal(lr_st_type_find(type->name, type->length), i);
        if (!other) {
            assert_true(asprintf(&header, "{\"x\":{\"dtype\":\"%s\",\"shape\":[8],\"data_offsets\":[0,%u]}}",
                                 type->name, type->bits) > 0);
        } else {
            assert_true(asprintf(&header, "{\"x\":{ \"data_offsets\" : [0 ,%u], \"dtype\": \"%s\" ,\"shape\":[ 8]}}",
                                 type->bits, type->name) > 0);
        }
        f = st_make(header, type->bits);
        found = st_tell(f.data, f.size);
        assert_true(asprintf(&expected, "map10*1{ 9:'x' %s%s%s[8]%u(", rec_dtype_name(type->dtype),
                             type->dtype == REC_DTYPE_OPAQUE ? "=" : "",
                             type->dtype == REC_DTYPE_OPAQUE ? type->name : "", type->bits) > 0);
        if (!strstr(found, strchr(expected, '{')) || strncmp(found, "map10*1{", 8) != 0) {
            fail_msg("%s instead of %s", found, expected);
        }
        if (type->dtype != REC_DTYPE_OPAQUE) {
            assert_int_equal(rec_dtype_bits(type->dtype), type->bits);
        }
        free(header);
        free(found);
        free(expected);
        free(f.data);
    }
}

/* ----------------------------------------------------------------------------------------- text about a record -- */

/* A file whose text says that of two tensors, `a` (u8) and `b.0` (f32). */
static char *tell_text(const char *text)
{
    lr_buffer b = {0};
    rec_job job;
    st_file f;
    char *found;
    lr_job_open(&job, NULL, "load", "f");
    job.budget.limit = UINT64_MAX;
    b.job = &job;
    lr_put_word(&b, "{\"__metadata__\":{\"librecord\":");
    lr_st_put_string(&b, text, strlen(text));
    lr_put_word(&b,
                "},\"b.0\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"U8\",\"shape\":"
                "[3],\"data_offsets\":[4,7]}}");
    lr_put(&b, "", 1);
    assert_int_equal(b.status, REC_OK);
    f = st_make(b.data, 7);
    rec_job_free(&job, b.data);
    (void)lr_job_end(&job);
    found = st_tell(f.data, f.size);
    free(f.data);
    return found;
}

#define B "\"b\":[\"list\",[[\"tensor\"]]]"

static void the_text_about_a_record_gives_its_tree(void **state)
{
    static const struct {
        const char *text, *events;
    } cases[] = {
        {"[1,{\"k\":\"v\"},{\"a\":[\"tensor\"]," B "}]",
         "25:'k' = 'v' map0*2{ 25:'a' u8[3]3(040506) 25:'b' list0[ f32[1]4(00010203) } } "},
        {"[1,{},[\"struct\",{\"a\":[\"tensor\",\"ID\"]," B "}]]",
         "map4*2{ 25:'a' u8#ID[3]3(040506) 25:'b' list0[ f32[1]4(00010203) } } "},
        {"[1,{},[\"map\",{\"~5\":[\"tensor\",null,\"a\"]," B "}]]",
         "map5*2{ 25:u:5 u8[3]3(040506) 25:'b' list0[ f32[1]4(00010203) } } "},
        {"[1,{},[\"tuple\",[[\"tensor\",null,\"a\",\"qfloat\",\"words\",[12]],[\"tensor\",null,\"b.0\",\"flex32\"]]]]",
         "list3[ qfloat=words[12]3(040506) flex32[1]4(00010203) } "},
        {"[1,{},[\"vec\",[[\"blob\",\"a\"],[\"some\",[\"tensor\",null,\"b.0\"]],[\"none\"],null,[\"unit\"],["
         "\"constant\"],"
         "[\"unit_struct\"]]]]",
         "list1[ bytes3(040506) some f32[1]4(00010203) none nil0 nil6 nil8 nil9 } "},
        {"[1,{},[\"array\",[true,false,5,-5,1.5,\"s\",[\"u8\",255],[\"i64\",5],[\"i0\",5],[\"f32\",0.1],[\"f0\",2.0],"
         "[\"f64\",\"7ff0000000000000\"],[\"bytes\",\"00ff\"],[\"tensor\",null,\"a\"],[\"tensor\",null,\"b.0\"]]]]",
         "list2[ bool:1 bool:0 u:5 i:-5 f64:1.5 's' u8:255 i64:5 i:5 f32:0.10000000149011612 f:2 f64:inf bytes2(00ff) "
         "u8[3]3(040506) f32[1]4(00010203) } "},
        {"[1,{},[\"list\",[[\"run\",\"u8\",[1,2]],[\"run\",\"i16\",[-1]],[\"run\",\"f32\",[1.0]],[\"run\",\"bool\",[1,"
         "0]],"
         "[\"run\",\"u64\",[]],[\"tensor\",null,\"a\"],[\"tensor\",null,\"b.0\"]]]]",
         "list0[ u8*2(0102) i16*1(ffff) f32*1(0000803f) bool*2(0100) u8[3]3(040506) f32[1]4(00010203) } "},
        {"[1,{},[\"variant\",2,\"V\",{\"~~a\":[\"variant\",null,\"U\"],\"x\":[\"tensor\",null,\"a\"],\"y\":[\"tensor\","
         "null,"
         "\"b.0\"]}]]",
         "variant2+ 'V' map0*3{ 25:'~a' variant18446744073709551615 'U' } 25:'x' u8[3]3(040506) 25:'y' "
         "f32[1]4(00010203) "
         "} } "},
        {"[1,{},[\"map\",{\"~true\":null,\"~-7\":null,\"~[\\\"u8\\\",7]\":null,\"~[\\\"i0\\\",7]\":null,\"a\":["
         "\"tensor\"]," B "}]]",
         "map5*6{ 25:bool:1 nil0 25:i:-7 nil0 25:u8:7 nil0 25:i:7 nil0 25:'a' u8[3]3(040506) 25:'b' list0[ "
         "f32[1]4(00010203) } "
         "} "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_text(tell_text(cases[i].text), cases[i].events);
    }
}

static void a_text_that_does_not_fit_is_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "expected a list, [version, metadata, item], found its end at byte 0 of the text `librecord`"},
        {"[2,{\"a\":1,\"b\":\"c\",\"d\":{\"e\":[\"blob\"]}},null]", "expected metadata without tensors before this"},
        {"[3,{},null]", "the text `librecord` is of version 3; this librecord reads versions up to 2"},
        {"[2,{\"a\":[\"tensor\"]},null]", "expected metadata without tensors before this"},
        {"[1,{},{\"a\":[\"tensor\"]}]", "the tensor `b.0` is in the file, but not in the text `librecord`"},
        {"[1,{},{\"a\":[\"tensor\"],\"b\":[\"tensor\"]}]",
         "the tensor `b` is not there; the text `librecord` says that it is"},
        {"[1,{},{\"a\":[\"tensor\"],\"b\":[\"tensor\",null,\"a\"]}]",
         "the tensor `a` is in the text `librecord` twice"},
        {"[1,{},{\"a\":[\"tensor\",null,null,\"bool32\"]," B "}]",
         "the tensor `a` has another element type than the text `librecord` says"},
        {"[1,{},{\"a\":[\"tensor\",null,null,\"f64\"]," B "}]",
         "the tensor `a` has another element type than the text `librecord` says"},
        {"[1,{},{\"a\":[\"tensor\"],\"b\":[\"blob\",\"b.0\"]}]", "the tensor `b.0` is not of U8"},
        {"[1,{},{\"a\":[\"tensor\"]," B "}] ", "expected nothing after the record, found something else at byte"},
        {"[1,{},{\"a\":[\"tensor\"]," B, "expected `,` or `}` in a map, found its end at byte"},
        {"[1,{},[\"u8\",256]]", "expected an integer in the range of its type before this"},
        {"[1,{},[\"i8\",-129]]", "expected an integer in the range of its type before this"},
        {"[1,{},[\"u8\",-1]]", "expected an integer before this"},
        {"[1,{},[\"f64\",\"7ff\"]]", "expected a float's bits as 16 hexadecimal digits before this"},
        {"[1,{},[\"bytes\",\"0g\"]]", "expected bytes as pairs of hexadecimal digits before this"},
        {"[1,{},[\"what\"]]", "expected a value of the text `librecord`, found `[\"what\"]]` at byte 6"},
        {"[1,{},[\"list\",[[\"paths\",{}]]]]", "expected a value of the text `librecord`"},
        {"[1,{},[\"list\",[[\"run\",\"f16\",[1]]]]]", "expected the type of a run of numbers before this"},
        {"[1,{},{\"~1.5\":null}]", "expected a key that is not a float"},
        {"[1,{\"a\":1},null]", "expected a string, found `1},null]` at byte 8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *found = tell_text(cases[i].text);
        if (!strstr(found, cases[i].words) || !strstr(found, "Load it with the option `record = no`")) {
            fail_msg("%s: %s", cases[i].text, found);
        }
        free(found);
    }
}

static void deep_texts_meet_the_limit(void **state)
{
    static const char *const levels[] = {"{\"a\":", "[\"some\",", "[\"list\",[", "[\"variant\",0,\"a\","};
    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char *text = calloc(1, 64 + 100000 * strlen(levels[i])), *found;
        char *to = text + sprintf(text, "[1,{},");
        assert_non_null(text);
        for (int k = 0; k < 100000; k++) {
            to = stpcpy(to, levels[i]);
        }
        found = tell_text(text);
        assert_non_null(strstr(found, "REC_E_LIMIT"));
        free(found);
        free(text);
    }
}

/* ----------------------------------------------------------------------------------------- what breaks readers -- */

/* Every prefix and every change of a byte: events or a reason. */
static void try_all(const uint8_t *data, size_t size, bool thorough)
{
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    for (size_t length = 0; length < size; length++) {
        uint8_t *exact = malloc(length ? length : 1); /* so that a read beyond the end is seen */
        assert_non_null(exact);
        memcpy(exact, data, length);
        free(st_tell(exact, length));
        free(exact);
    }
    memcpy(copy, data, size);
    for (size_t at = 0; at < size; at++) {
        for (int value = 0; value < 256; value += thorough ? 1 : 5) {
            copy[at] = (uint8_t)value;
            free(st_tell(copy, size));
        }
        for (int bit = 0; bit < 8; bit++) {
            copy[at] = (uint8_t)(data[at] ^ 1u << bit);
            free(st_tell(copy, size));
        }
        copy[at] = data[at];
    }
    free(copy);
}

static void no_prefix_and_no_changed_byte_breaks_the_reader(void **state)
{
    static const char *const texts[] = {
        "{\"__metadata__\":{\"k\":\"\\u00e4\"},\"a\":{\"dtype\":\"U8\",\"shape\":[2,1],\"data_offsets\":[0,2]},\"b\":{ "
        "\"shape\":[],"
        "\"data_offsets\":[2,6],\"dtype\":\"F32\",\"z\":[{}]}}",
        "{\"__metadata__\":{\"librecord\":\"[1,{\\\"k\\\":\\\"v\\\"},[\\\"struct\\\",{\\\"a\\\":[\\\"tensor\\\","
        "\\\"ID\\\"],"
        "\\\"c\\\":[\\\"variant\\\",1,\\\"V\\\",[\\\"list\\\",[[\\\"run\\\",\\\"f32\\\",[1.5]],-3,[\\\"some\\\",["
        "\\\"u8\\\",7]]]]]},"
        "\\\"b\\\":[\\\"blob\\\"]]]\"},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":"
        "\"U8\",\"shape\":[4],"
        "\"data_offsets\":[2,6]}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        st_file f = st_make(texts[i], 6);
        try_all(f.data, f.size, i == 0);
        free(f.data);
    }
}

static void a_hundred_thousand_tensors_are_told(void **state)
{
    enum { COUNT = 100000 };
    char *header = malloc(COUNT * 100), *to = header;
    st_listener l = {.quiet = true};
    rec_job job;
    rec_source *source;
    st_file f;
    (void)state;
    assert_non_null(header);
    *to++ = '{';
    for (int i = 0; i < COUNT; i++) {
        to += sprintf(to, "%s\"layers.%d.weight\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[%d,%d]}",
                      i ? "," : "", i, i * 8, i * 8 + 8);
    }
    (void)strcpy(to, "}");
    f = st_make(header, COUNT * 8);
    lr_job_open(&job, NULL, "load", "f");
    source = lr_source_memory(&job, f.data, f.size, "f");
    (void)st_tell_source(&job, source, &l);
    rec_source_release(source);
    assert_int_equal(l.tensors, COUNT);
    assert_int_equal(l.bytes, COUNT * 8);
    free(l.text);
    free(f.data);
    free(header);
}

static void files_are_recognised(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *name;
        bool is;
    } cases[] = {
        {"\2\0\0\0\0\0\0\0{}", 10, "", true},
        {"\10\0\0\0\0\0\0\0 \n{\"x\":1}", 18, "", true},
        {"\10\0\0\0\0\0\0\0[]      ", 16, "", false},
        {"\10\0\0\0\1\0\0\0{}      ", 16, "", false},
        {"{\"weight_map\":{}}", 17, "", true},
        {"{\n  \"metadata\": {\"a\": \"}\\\"\"},\n  \"weight_map\": {", 48, "", true},
        {"{\"metadata\":{},\"item\":{\"weight_map\":1}}", 40, "", false},
        {"version https://git-lfs.github.com/spec/v1", 42, "", false},
        {"version https://git-lfs.github.com/spec/v1", 42, "model.safetensors", true},
        {"", 0, "model.safetensors", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rec_head head = {.size = sizeof head,
                         .data = (const uint8_t *)cases[i].bytes,
                         .length = cases[i].size,
                         .total = cases[i].size,
                         .name = cases[i].name};
        assert_int_equal(lr_st_probe(&head) >= 16, cases[i].is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_refused_with_its_reason),
        cmocka_unit_test(a_length_that_cannot_be_is_refused),
        cmocka_unit_test(the_reference_cases_are_told_apart),
        cmocka_unit_test(what_is_right_is_told_as_it_stands),
        cmocka_unit_test(every_element_type_has_its_size),
        cmocka_unit_test(the_text_about_a_record_gives_its_tree),
        cmocka_unit_test(a_text_that_does_not_fit_is_refused),
        cmocka_unit_test(deep_texts_meet_the_limit),
        cmocka_unit_test(no_prefix_and_no_changed_byte_breaks_the_reader),
        cmocka_unit_test(a_hundred_thousand_tensors_are_told),
        cmocka_unit_test(files_are_recognised),
    };
    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
