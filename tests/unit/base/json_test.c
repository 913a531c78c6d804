/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer in both shapes: on one line, and indented. */
#include "test.h"
#include <math.h>
#include <string.h>
#include "base/text/json.h"

static void write_document(struct json *json) {
    json_begin_object(json);
    json_key(json, "a");
    json_u64(json, UINT64_MAX);
    json_key(json, "list");
    json_begin_array(json);
    json_i64(json, -1);
    json_hex(json, 0x1f);
    json_bool(json, true);
    json_null(json);
    json_begin_array(json);
    json_end_array(json);
    json_begin_object(json);
    json_end_object(json);
    json_end_array(json);
    json_key(json, "k");
    json_text(json, "v");
    json_key(json, "id");
    json_hex_bytes(json, "\x01\xab", 2);
    json_end_object(json);
    json_end_line(json);
}

static void assert_document(enum json_shape shape, void (*write)(struct json *), const char *expected) {
    struct memory memory;
    struct output out;
    size_t length;
    memory_init(&memory, NULL, 0);
    out_open_memory(&out, &memory);
    struct json json = json_on(&out, shape);
    write(&json);
    out_char(&out, '\0');
    assert_string_equal(out_bytes(&out, &length), expected);
    out_close(&out, NULL);
}

static void write_twice(struct json *json) {
    write_document(json);
    json_u64(json, 1);
    json_end_line(json);
}

TEST(json_on_one_line) {
    assert_document(JSON_LINE, write_twice,
                    "{\"a\":18446744073709551615,\"list\":[-1,\"0x1f\",true,null,[],{}],\"k\":\"v\","
                    "\"id\":\"01ab\"}\n1\n");
}

TEST(json_pretty) {
    assert_document(JSON_PRETTY, write_document,
                    "{\n  \"a\": 18446744073709551615,\n  \"list\": [\n    -1,\n    \"0x1f\",\n    true,\n    null,\n"
                    "    [],\n    {}\n  ],\n  \"k\": \"v\",\n  \"id\": \"01ab\"\n}\n");
}

static void write_numbers(struct json *json) {
    static const double values[] = {0, -0.0, 1, 0.1, 1.0 / 3, -2.5, 1e300, 5e-324, 9007199254740993.0, 123456789012.0};
    json_begin_array(json);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        json_f64(json, values[i]);
    json_f64(json, (double)NAN);
    json_f64(json, -(double)INFINITY);
    json_end_array(json);
}

TEST(json_numbers_read_back) {
    assert_document(JSON_LINE, write_numbers,
                    "[0,-0,1,0.1,0.3333333333333333,-2.5,1e+300,4.94065645841247e-324,9007199254740992,"
                    "123456789012,null,null]");
}

static void nest(struct json *json) {
    for (int i = 0; i < JSON_DEPTH; i++)
        json_begin_array(json);
    for (int i = 0; i < JSON_DEPTH; i++)
        json_end_array(json);
}

TEST(json_nests_to_its_depth) {
    char expected[JSON_DEPTH * 2 + 1] = "";
    memset(expected, '[', JSON_DEPTH);
    memset(expected + JSON_DEPTH, ']', JSON_DEPTH);
    assert_document(JSON_LINE, nest, expected);
}
