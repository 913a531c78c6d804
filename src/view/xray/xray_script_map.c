/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the functions of an XRay trace as an instrumentation map, in the YAML of `llvm-xray extract`: one line per
 * called function, in the order of first calls. Functions without a name are omitted.
 *
 *     - { id: 1, address: 0x11A0, function: 0x11A0, kind: function-enter, always-instrument: true, function-name: leaf,
 *         version: 2 }
 */
#include "view/xray/xray_script.h"

#include "view/xray/llvm_yaml.h"

#include <inttypes.h>
#include <stdio.h>

static void map_begin(struct xray_script *s) {
    out_text(s->out, "---\n");
}

static void out_line(struct xray_script *s, const struct function_name *name) {
    char text[160];
    snprintf(text, sizeof text,
             "- { id: %" PRIu32 ", address: 0x%" PRIX64 ", function: 0x%" PRIX64
             ", kind: function-enter, always-instrument: true, function-name: ",
             name->id, name->address, name->address);
    out_text(s->out, text);
    out_llvm_scalar(s->out, name->text, name->length, s->to->raw_names);
    out_text(s->out, ", version: 2 }\n");
}

static void map_event(struct xray_script *s, const struct xray_event *event) {
    const struct function_name *name;
    bool is_new = false;
    if (!xray_is_call(event))
        return;
    if (!u64_map_at(&s->shown, event->function, 0, &is_new)) {
        xray_script_fail(s, mem_fail(s->memory, s->err, "functions"));
        return;
    }
    if (is_new && (name = xray_script_name(s, event)) && name->named)
        out_line(s, name);
}

static void map_end(struct xray_script *s) {
    out_text(s->out, "...\n");
}

const struct xray_script_form xray_map_form = {.begin = map_begin, .event = map_event, .end = map_end};
