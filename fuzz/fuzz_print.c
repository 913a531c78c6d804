/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a printer and checks its text: see fuzz_print.h. */
#include "fuzz_print.h"

#include "base/memory/sizes.h"

struct printed {
    struct pfr_output to;
    pfr_status status;
};

static void check_json_lines(const char *text, size_t length) {
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        LAW(newline, "the last line has no end: %.*s", (int)(end - text), text);
        LAW(is_json(text, (size_t)(newline - text)), "no JSON: %.*s", (int)(newline - text), text);
        text = newline + 1;
    }
}

static void check_text(const struct printing *how, const struct printed *p) {
    size_t length;
    const char *bytes = out_bytes(&p->to.out, &length), *text = bytes ? bytes : "";
    const size_t shown = how->kind == TEXT_BINARY ? length : shown_length(text, length);
    LAW(shown == length, "byte %zu of the text is %#x, after '%.*s'", shown, (unsigned char)text[shown],
        (int)(shown < 60 ? shown : 60), text + (shown < 60 ? 0 : shown - 60));
    if (p->status < 0 || p->to.out.status < 0)
        return;
    if (how->kind == TEXT_JSON)
        LAW(is_json(text, length), "no JSON: %.*s", (int)length, text);
    else if (how->kind == TEXT_JSON_LINES)
        check_json_lines(text, length);
}

static void print_once(const struct printing *how, const uint8_t *bytes, size_t length, struct printed *p) {
    pfr_error err = {.status = PFR_OK};
    pfr_reader *reader = pfr_open_bytes(bytes, length, &how->open, &err);
    *p = (struct printed){.status = err.status};
    memory_init(&p->to.memory, NULL, fuzz_limits.memory);
    out_open_memory(&p->to.out, &p->to.memory);
    if (!reader)
        return;
    p->status = how->print(reader, how->options, &p->to, &err);
    if (p->status < 0 && p->to.out.status == PFR_OK)
        fuzz_check_error(&err, p->status, UINT64_MAX);
    pfr_close(reader);
}

void fuzz_print(const struct printing *how, const uint8_t *bytes, size_t length) {
    struct printed first, again;
    size_t first_length, again_length;
    print_once(how, bytes, length, &first);
    fuzz_draw_sizes(bytes, length);
    print_once(how, bytes, length, &again);
    sizes_draw(0, NULL);
    check_text(how, &first);
    const char *text = out_bytes(&first.to.out, &first_length), *same = out_bytes(&again.to.out, &again_length);
    LAW(first.status == again.status, "%s, then %s", pfr_status_name(first.status), pfr_status_name(again.status));
    LAW(first_length == again_length && (first_length == 0 || memcmp(text, same, first_length) == 0),
        "%zu bytes printed, then %zu others", first_length, again_length);
    out_close(&first.to.out, NULL);
    out_close(&again.to.out, NULL);
    LAW(first.to.memory.used == 0, "%ju bytes are still held", (uintmax_t)first.to.memory.used);
}
