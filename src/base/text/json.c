/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer. A comma precedes each value except the first; in the pretty shape each value begins a new line. One
 * bit per level stores whether the container is an object. `filled` needs no stack: a container that just ended is
 * itself a member, so its parent is not empty.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text/escape.h"
#include "base/text/json.h"

struct json json_on(struct output *out, enum json_shape shape) {
    return (struct json){.out = out, .pretty = shape == JSON_PRETTY};
}

static bool in_object(const struct json *json) {
    return json->depth > 0 && (json->objects >> (json->depth - 1) & 1);
}

static void begin_line(struct json *json) {
    if (!json->pretty || json->depth == 0)
        return;
    out_char(json->out, '\n');
    out_pad(json->out, (size_t)json->depth * 2);
}

/* Writes the separator between the previous member and this one. */
static void begin_member(struct json *json) {
    assert(json->depth > 0 || !json->filled);
    if (json->filled)
        out_char(json->out, ',');
    begin_line(json);
    json->filled = true;
}

static void begin_value(struct json *json) {
    assert(json->has_key == in_object(json));
    if (!json->has_key)
        begin_member(json);
    json->has_key = false;
}

static void begin_container(struct json *json, bool is_object) {
    begin_value(json);
    assert(json->depth < JSON_DEPTH);
    const uint64_t bit = 1ull << json->depth++;
    json->objects = is_object ? json->objects | bit : json->objects & ~bit;
    json->filled = false;
    out_char(json->out, is_object ? '{' : '[');
}

static void end_container(struct json *json, char c) {
    assert(json->depth > 0 && !json->has_key);
    json->depth--;
    if (json->filled && json->pretty) {
        out_char(json->out, '\n');
        out_pad(json->out, (size_t)json->depth * 2);
    }
    json->filled = true;
    out_char(json->out, c);
}

void json_begin_object(struct json *json) {
    begin_container(json, true);
}

void json_end_object(struct json *json) {
    assert(in_object(json));
    end_container(json, '}');
}

void json_begin_array(struct json *json) {
    begin_container(json, false);
}

void json_end_array(struct json *json) {
    assert(!in_object(json));
    end_container(json, ']');
}

static void begin_key(struct json *json) {
    assert(in_object(json) && !json->has_key);
    begin_member(json);
    json->has_key = true;
}

static void end_key(const struct json *json) {
    out_char(json->out, ':');
    if (json->pretty)
        out_char(json->out, ' ');
}

void json_key(struct json *json, const char *key) {
    const size_t length = strlen(key);
    begin_key(json);
    if (!out_room(json->out, length + 2))
        return;
    char *to = json->out->buffer + json->out->used;
    to[0] = '"';
    memcpy(to + 1, key, length);
    to[length + 1] = '"';
    json->out->used += length + 2;
    end_key(json);
}

void json_string(struct json *json, const void *bytes, size_t length) {
    begin_value(json);
    out_json_string(json->out, bytes, length);
}

void json_text(struct json *json, const char *text) {
    json_string(json, text, strlen(text));
}

void json_u64(struct json *json, uint64_t value) {
    begin_value(json);
    out_u64(json->out, value);
}

void json_i64(struct json *json, int64_t value) {
    begin_value(json);
    out_i64(json->out, value);
}

void json_made(struct json *json, const char *value, size_t length) {
    begin_value(json);
    out_write(json->out, value, length);
}

void json_hex(struct json *json, uint64_t value) {
    begin_value(json);
    out_write(json->out, "\"0x", 3);
    out_hex(json->out, value, 1);
    out_char(json->out, '"');
}

void json_hex_bytes(struct json *json, const void *bytes, size_t length) {
    begin_value(json);
    out_char(json->out, '"');
    out_hex_bytes(json->out, bytes, length);
    out_char(json->out, '"');
}

/* The fewest digits that read back to the same number, with a decimal point in every locale. */
static void write_shortest(struct output *out, double value) {
    char text[40];
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    bool in_point = false;
    for (int i = 0; i < length; i++) {
        const bool kept = strchr("0123456789+-e", text[i]) != NULL;
        if (kept || !in_point)
            out_char(out, kept ? text[i] : '.');
        in_point = !kept;
    }
}

void json_f64(struct json *json, double value) {
    begin_value(json);
    if (!isfinite(value))
        out_text(json->out, "null");
    else if (value >= 0 && value < 9e15 && value == (double)(uint64_t)value && !signbit(value))
        out_u64(json->out, (uint64_t)value);
    else
        write_shortest(json->out, value);
}

void json_bool(struct json *json, bool value) {
    begin_value(json);
    out_text(json->out, value ? "true" : "false");
}

void json_null(struct json *json) {
    begin_value(json);
    out_text(json->out, "null");
}

void json_end_line(struct json *json) {
    assert(json->depth == 0 && json->filled);
    json->filled = false;
    out_char(json->out, '\n');
}
