/* SPDX-License-Identifier: Apache-2.0 */
/* Build step: writes perfray/constants.h, the numbers of perf_event.h and perf.data that users compare with, out of
 * names.def. */
#include <stdio.h>
#include <string.h>

struct set {
    const char *name;   /* in names.def */
    const char *prefix; /* of its constants */
    const char *doc;
};

static const struct set sets[] = {
    {"RECORD", "PFR_RECORD_", "Types of records, rec.type; perf's own names, which are those of perf script -D."},
    {"CPUMODE", "PFR_CPUMODE_", "Where the cpu was: rec.misc & PFR_CPUMODE_MASK."},
    {"SAMPLE_TYPE", "PFR_SAMPLE_", "Bits of attr.sample_type: the fields that samples have."},
    {"READ_FORMAT", "PFR_READ_FORMAT_", "Bits of attr.read_format: what follows a count."},
    {"ATTR_TYPE", "PFR_ATTR_TYPE_", "Types of events, attr.type; larger ones are those of PMUs."},
    {"FEATURE", "PFR_FEATURE_", "Header features: bits of the bitmap."},
};

static const struct set *at;
static int flags;

static const struct set *set_of(const char *name) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(sets[i].name, name) == 0)
            return &sets[i];
    return NULL;
}

static void begin(const char *name, int are_flags) {
    at = set_of(name);
    flags = are_flags;
    if (at)
        printf("/* %s */\n%s", at->doc, flags ? "" : "enum {\n");
}

static void value(unsigned number, const char *name) {
    if (at && flags)
        printf("#define %s%s (UINT64_C(1) << %u)\n", at->prefix, name, number);
    else if (at)
        printf("    %s%s = %u,\n", at->prefix, name, number);
}

static void end(void) {
    if (at && !flags)
        puts("};");
    if (at && strcmp(at->name, "CPUMODE") == 0)
        puts("#define PFR_CPUMODE_MASK 7u");
    if (at)
        puts("");
}

int main(void) {
    puts("/* SPDX-License-Identifier: Apache-2.0 */\n"
         "/*\n"
         " * Written by the build out of src/wire/names.def: change that.\n"
         " *\n"
         " * Numbers of linux/perf_event.h and of perf.data by name:\n"
         " *\n"
         " *     if (rec.type == PFR_RECORD_SAMPLE && (event->attr.sample_type & PFR_SAMPLE_CALLCHAIN))\n"
         " *         on_kernel = (rec.misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_KERNEL;\n"
         " */\n"
         "#ifndef PERFRAY_CONSTANTS_H\n"
         "#define PERFRAY_CONSTANTS_H\n"
         "#include <stdint.h>\n");
#define VALUES 0
#define FLAGS 1
#define PARTS 0
#define SET(name, kind, doc) begin(#name, kind);
#define NAME(number, text) value(number, text);
#define END_SET end();
#include "wire/names.def"
    puts("#endif");
    return fflush(stdout) == 0 ? 0 : 1;
}
