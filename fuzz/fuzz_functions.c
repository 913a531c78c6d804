/* SPDX-License-Identifier: Apache-2.0 */
/* A source of function names for a trace (an object or a YAML map), used as the program and as one of its shared
   objects. */
#include "fuzz.h"
#include "model/names/function_names.h"

#define IDS_MOST 64u

static void check_name(const struct function_names *names, const struct function_name *name, uint32_t id) {
    LAW(name->text && strlen(name->text) == name->length, "function %u: a name of %u bytes", id, name->length);
    LAW(name->id == id && (name->object << 24 | name->function) == id, "function %u is called %u", id, name->id);
    LAW(name->mapped || (!name->named && name->address == 0), "function %u is in no map and has a name", id);
    LAW(!name->mapped || name->function <= names->objects[name->object].map.count, "function %u of %zu", id,
        names->objects[name->object].map.count);
    LAW(!name->named || name->length > 0, "function %u has an empty name", id);
}

static void ask(struct function_names *names, uint32_t id) {
    const struct function_name *name, *again;
    pfr_error err;
    const pfr_status status = function_names_find(names, id, &name, &err);
    LAW(status == PFR_OK || status == PFR_ERR_LIMIT, "%s", pfr_status_name(status));
    if (status != PFR_OK)
        return;
    check_name(names, name, id);
    LAW(function_names_find(names, id, &again, &err) == PFR_OK && again == name, "another name of function %u", id);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_file file;
    struct memory memory;
    struct function_names names;
    char text[200];
    pfr_error err;
    fuzz_file_open(&file, bytes, length);
    const char *const maps[] = {file.path, file.path, NULL};
    const struct function_names_options how = {.naming = {.instr_maps = maps}, .parameters = length & 1};
    memory_init(&memory, NULL, fuzz_limits.memory);
    const pfr_status status = function_names_open(&names, &memory, &how, &err);
    if (status != PFR_OK)
        fuzz_check_error(&err, status, length);
    for (uint32_t id = 0; status == PFR_OK && id < IDS_MOST; id++) {
        ask(&names, id);
        ask(&names, id | 1u << 24);
    }
    ask(&names, UINT32_MAX);
    LAW(!function_names_doubt(&names, text, sizeof text) || status == PFR_OK || text[0], "a doubt without a word");
    function_names_close(&names);
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
    fuzz_file_close(&file);
    return 0;
}
