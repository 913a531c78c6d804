/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes docs/perf-data-format.md and docs/xray-format.md: the prose of docs/NAME.in.md with tables of layouts and
 * names in the places marked @SAMPLE@, @FILE@, @RECORDS@ and so on (`places`, at the end). A separate program, run by
 * docs/make-docs.sh and by a test that compares. It reads the .def files as text and translates the columns of a field
 * into words.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, TEXT = 256 };

struct name_row {
    const char *set;
    unsigned value;
    const char *text;
};

#define NAME(value, text) {NULL, value, text},
#define END_SET
#define SET(set, mode, doc) {#set " " #mode, 0, doc},
static const struct name_row name_rows[] = {
#include "wire/names.def"
    {NULL, 0, NULL}};

/* The words of a context: name in the .def files, text in the documents, and the set that names the bits. */
static const struct word {
    const char *name, *said, *set;
} words[] = {
    {"SAMPLE", "sample_type", "SAMPLE_TYPE FLAGS"},
    {"READ", "read_format", "READ_FORMAT FLAGS"},
    {"BRANCH", "branch_sample_type", "BRANCH_SAMPLE FLAGS"},
    {"REGS_USER", "sample_regs_user", ""},
    {"REGS_INTR", "sample_regs_intr", ""},
    {"MISC", "header.misc", ""},
    {"CPUS", "available cpus", ""},
    {"VARIANT", "the form that the content shows", ""},
    {"VERSION", "the version", ""},
    {"", "?", ""},
};

static const struct word *word_named(const char *name) {
    const struct word *w = words;
    while (w->name[0] && strcmp(w->name, name) != 0)
        w++;
    return w;
}

/* The text of one bit of a set; "" if it has none. */
static const char *bit_name(const char *set, unsigned bit) {
    bool inside = false;
    for (const struct name_row *row = name_rows; row->text; row++) {
        if (row->set)
            inside = strcmp(row->set, set) == 0;
        else if (inside && row->value == bit)
            return row->text;
    }
    return "";
}

static void say_bit(char *out, const char *word, unsigned bit) {
    const struct word *w = word_named(word);
    const char *name = bit_name(w->set, bit);
    if (name[0])
        snprintf(out, TEXT, "%s has %s", w->said, name);
    else
        snprintf(out, TEXT, "%s bit %u", w->said, bit);
}

static void say_no_bit(char *out, const char *word, unsigned bit) {
    const struct word *w = word_named(word);
    const char *name = bit_name(w->set, bit);
    if (name[0])
        snprintf(out, TEXT, "%s lacks %s", w->said, name);
    else
        snprintf(out, TEXT, "%s without bit %u", w->said, bit);
}

/* Describes "BIT(SAMPLE, 0)" and the like in words. */
static void say_when(char *out, const char *when) {
    char a[TEXT], has[TEXT], lacks[TEXT];
    unsigned n, m;
    if (sscanf(when, "BIT(%63[^,], %u)", a, &n) == 2) {
        say_bit(out, a, n);
    } else if (sscanf(when, "NO_BIT(%63[^,], %u)", a, &n) == 2) {
        say_no_bit(out, a, n);
    } else if (sscanf(when, "NO_WORD(%63[^)])", a) == 1) {
        snprintf(out, TEXT, "%s = 0", word_named(a)->said);
    } else if (sscanf(when, "ONLY(%63[^,], %u, %u)", a, &n, &m) == 3) {
        say_bit(has, a, n);
        say_no_bit(lacks, a, m);
        snprintf(out, TEXT, "%.120s, %.120s", has, lacks);
    } else if (sscanf(when, "ROOM_WORD(%u, %63[^)])", &n, a) == 2) {
        snprintf(out, TEXT, "%u bytes for each of the %s remain", n, word_named(a)->said);
    } else if (sscanf(when, "ROOM(%u)", &n) == 1) {
        snprintf(out, TEXT, n == 1 ? "%u byte remains" : "%u bytes remain", n);
    } else if (sscanf(when, "WORD_IN(%63[^,], %u, %u)", a, &n, &m) == 3) {
        snprintf(out, TEXT, n == m ? "%s %u" : "%s %u to %u", word_named(a)->said, n, m);
    } else if (sscanf(when, "WORD_AT_LEAST(%63[^,], %u)", a, &n) == 2) {
        snprintf(out, TEXT, "%s ≥ %u", word_named(a)->said, n);
    } else if (sscanf(when, "AT_LEAST(%63[^,], %u)", a, &n) == 2) {
        snprintf(out, TEXT, "%.60s ≥ %u", a, n);
    } else if (sscanf(when, "BELOW(%63[^,], %u)", a, &n) == 2) {
        snprintf(out, TEXT, "%.60s < %u", a, n);
    } else if (sscanf(when, "IF(%63[^)])", a) == 1) {
        snprintf(out, TEXT, "%.60s ≠ 0", a);
    } else if (sscanf(when, "UNLESS(%63[^)])", a) == 1) {
        snprintf(out, TEXT, "%.60s = 0", a);
    } else {
        out[0] = '\0';
    }
}

static void say_link(char *out, const char *layout, const char *times) {
    snprintf(out, TEXT, "[%.60s](#%.60s)%.80s", layout, layout, times);
}

/* Writes how a list is counted: "COUNT(nr)" becomes "[nr]". */
static void say_count(char *out, const char *extra) {
    char a[TEXT];
    if (sscanf(extra, "COUNT(%63[^)])", a) == 1)
        snprintf(out, TEXT, "[%.60s]", a);
    else if (sscanf(extra, "BITS_IN(%63[^)])", a) == 1)
        snprintf(out, TEXT, "[(%.60s + 63) / 64]", a);
    else if (sscanf(extra, "POPCOUNT(%63[^)])", a) == 1)
        snprintf(out, TEXT, "[bits set in %s]", word_named(a)->said);
    else if (sscanf(extra, "COUNT_WORD(%63[^)])", a) == 1)
        snprintf(out, TEXT, "[by %s]", word_named(a)->said);
    else
        snprintf(out, TEXT, " to the end");
}

static void say_array(char *out, const char *extra) {
    char part[TEXT], member[TEXT], times[TEXT];
    if (sscanf(extra, "OF_WORD(%63[^,], %63[^)])", part, member) == 2)
        snprintf(times, TEXT, "[%s]", word_named(member)->said);
    else if (sscanf(extra, "OF(%63[^,], %63[^)])", part, member) == 2)
        snprintf(times, TEXT, "[%.60s]", member);
    else if (sscanf(extra, "TO_ZERO(%63[^)])", part) == 1)
        snprintf(times, TEXT, ", repeated to one of zeros");
    else
        return;
    say_link(out, part, times);
}

static void say_bits(char *out, const char *extra) {
    unsigned first, width;
    if (sscanf(extra, "PACK(%u, %u)", &first, &width) != 2)
        return;
    if (width == 1)
        snprintf(out, TEXT, "bit %u", first);
    else
        snprintf(out, TEXT, "bits %u–%u", first, first + width - 1);
}

static void say_text(char *out, const char *extra) {
    if (strcmp(extra, "TO_END") == 0)
        snprintf(out, TEXT, "text to the end");
    else if (strcmp(extra, "TO_NUL") == 0)
        snprintf(out, TEXT, "text to NUL");
    else
        snprintf(out, TEXT, "char[%s]", extra);
}

/* Describes a kind and returns its bytes; 0: the size varies. */
static unsigned say_kind(char *out, const char *kind, const char *extra) {
    char a[TEXT], b[TEXT];
    unsigned bits;
    out[0] = '\0';
    if (sscanf(kind, "U%u", &bits) == 1) {
        snprintf(out, TEXT, strcmp(extra, "SCOPE") == 0 ? "u%u, size of this" : "u%u", bits);
        return bits / 8;
    }
    if (sscanf(kind, "W%u", &bits) == 1) {
        snprintf(out, TEXT, strcmp(extra, "MIRRORED") == 0 ? "u%u of bits, mirrored" : "u%u of bits", bits);
        return bits / 8;
    }
    if (strcmp(kind, "RAW") == 0) {
        snprintf(out, TEXT, "u8[%s]", extra);
        return (unsigned)strtoul(extra, NULL, 10);
    }
    if (strcmp(kind, "TEXT") == 0) {
        say_text(out, extra);
        return (unsigned)strtoul(extra, NULL, 10);
    }
    if (strcmp(kind, "BITS") == 0) {
        say_bits(out, extra);
    } else if (strcmp(kind, "STR32") == 0) {
        snprintf(out, TEXT, "string");
    } else if (strcmp(kind, "SUB") == 0) {
        say_link(out, extra, "");
    } else if (strcmp(kind, "ARRAY") == 0) {
        say_array(out, extra);
    } else if (strcmp(kind, "WHILE") == 0) {
        say_link(out, extra, ", repeated to the end");
    } else if (strcmp(kind, "REST") == 0) {
        snprintf(out, TEXT, "u8 to the end");
    } else if (strcmp(kind, "PAD") == 0) {
        snprintf(out, TEXT, "zeros to a multiple of %s", extra);
    } else if (strcmp(kind, "CHOICE") == 0 && sscanf(extra, "FROM(%63[^,], %63[^)])", a, b) == 2) {
        snprintf(out, TEXT, "picked by %.60s", b);
    } else {
        say_count(b, extra);
        snprintf(out, TEXT, "%s%.120s", strcmp(kind, "A64") == 0 ? "u64" : "u8", b);
    }
    return 0;
}

/* Describes "PERF_RECORD(9)" in words; "" for parts. */
static void say_id(char *out, const char *id) {
    char table[TEXT];
    unsigned n;
    out[0] = '\0';
    if (sscanf(id, "PERF_RECORD(%u)", &n) == 1)
        snprintf(out, TEXT, "Record type %u: ", n);
    else if (sscanf(id, "PERF_FEATURE(%u)", &n) == 1)
        snprintf(out, TEXT, "Feature bit %u: ", n);
    else if (sscanf(id, "TRACE_RECORD(%u)", &n) == 1)
        snprintf(out, TEXT, "Trace record %u: ", n);
    else if (sscanf(id, "PICK(%63[^,], %u)", table, &n) == 2)
        snprintf(out, TEXT, "%.60s %u: ", table, n);
}

static unsigned offset; /* offset of the next field from the start of the record, feature or part */
static bool offset_known;
static bool has_fields;

static void begin_layout(const char *id, const char *name, const char *doc) {
    char said[TEXT];
    say_id(said, id);
    printf("### %s\n\n%s%s.\n\n", name, said, doc);
    offset = strncmp(id, "PERF_RECORD", 11) == 0 ? 8 : 0;
    offset_known = true;
    has_fields = false;
}

static void put_field(const char *kind, const char *name, const char *when, const char *extra, const char *doc) {
    char stored[TEXT], present[TEXT], place[32] = "";
    const unsigned size = say_kind(stored, kind, extra);
    say_when(present, when);
    if (!has_fields)
        printf("| at | field | stored as | present when | what |\n|---:|---|---|---|---|\n");
    has_fields = true;
    if (offset_known && strcmp(kind, "BITS") != 0)
        snprintf(place, sizeof place, "%u", offset);
    printf("| %s | %s | %s | %s | %s |\n", place, name, stored, present, doc);
    if (strcmp(kind, "BITS") == 0)
        return;
    offset += size;
    offset_known = offset_known && size > 0 && strcmp(when, "ALWAYS") == 0;
}

static void end_layout(void) {
    printf(has_fields ? "\n" : "Nothing inside.\n\n");
}

#define LAYOUT(id, name, doc) begin_layout(#id, #name, doc);
#define F(kind, name, when, extra, show, doc) put_field(#kind, #name, #when, #extra, doc);
#define END end_layout();

static void put_sample(void) {
#include "wire/perf_sample.def"
}

static void put_file(void) {
#include "wire/perf_file.def"
}

static void put_records(void) {
#include "wire/perf_state.def"
#include "wire/perf_records.def"
}

static void put_features(void) {
#include "wire/perf_features.def"
}

static void put_xray_file(void) {
#include "wire/xray_file.def"
}

static void put_xray_fdr(void) {
#include "wire/xray_fdr.def"
}

static void put_xray_basic(void) {
#include "wire/xray_basic.def"
}

static void put_xray_profile(void) {
#include "wire/xray_profile.def"
}

static void put_next(const char *record, unsigned from, unsigned to, bool first) {
    printf(first ? " %s" : ", %s", record);
    if (from == to)
        printf(" (version %u)", from);
    else if (from > 1 || to < 5)
        printf(" (versions %u to %u)", from, to);
}

#undef END
static void put_follow(void) {
    bool first;
    printf("| after | may come |\n|---|---|\n");
#define AFTER(record)                                                                                                  \
    first = true;                                                                                                      \
    printf("| " #record " |");
#define NEXT(record, from, to)                                                                                         \
    put_next(#record, from, to, first);                                                                                \
    first = false;
#define END printf(" |\n");
#include "wire/fdr_follow.def"
    printf("\n");
}

static bool is_of_traces(const char *set) {
    return strncmp(set, "TRACE_", 6) == 0 || strncmp(set, "XRAY_", 5) == 0 || strncmp(set, "FDR_", 4) == 0;
}

static void put_sets(bool of_traces) {
    bool first = true, shown = false;
    for (const struct name_row *row = name_rows; row->text; row++) {
        char set[64], mode[16];
        if (row->set)
            shown = is_of_traces(row->set) == of_traces;
        if (!shown)
            continue;
        if (row->set && sscanf(row->set, "%63s %15s", set, mode) == 2) {
            printf("%s### %s\n\n%s; %s.\n\n| %s | name |\n|---:|---|\n", first ? "" : "\n", set, row->text,
                   strcmp(mode, "VALUES") == 0  ? "values"
                   : strcmp(mode, "FLAGS") == 0 ? "bit numbers"
                                                : "name:width",
                   strcmp(mode, "VALUES") == 0 ? "value" : "bit");
            first = false;
        } else {
            printf("| %u | %s |\n", row->value, row->text);
        }
    }
}

static void put_names(void) {
    put_sets(false);
}

static void put_xray_names(void) {
    put_sets(true);
}

static const struct place {
    const char *mark;
    void (*put)(void);
} places[] = {
    {"@SAMPLE@\n", put_sample},         {"@FILE@\n", put_file},
    {"@RECORDS@\n", put_records},       {"@FEATURES@\n", put_features},
    {"@NAMES@\n", put_names},           {"@XRAY_FILE@\n", put_xray_file},
    {"@XRAY_FDR@\n", put_xray_fdr},     {"@XRAY_FOLLOW@\n", put_follow},
    {"@XRAY_BASIC@\n", put_xray_basic}, {"@XRAY_PROFILE@\n", put_xray_profile},
    {"@XRAY_NAMES@\n", put_xray_names}, {NULL, NULL},
};

static void put_line(const char *line) {
    for (const struct place *place = places; place->mark; place++) {
        if (strcmp(place->mark, line) == 0) {
            place->put();
            return;
        }
    }
    fputs(line, stdout);
}

int main(int argc, char **argv) {
    char line[LINE];
    FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!in) {
        fprintf(stderr, "usage: gen_reference docs/NAME.in.md > docs/NAME.md\n");
        return 2;
    }
    const char *name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    printf("<!-- Written by docs/make-docs.sh out of docs/%s and src/wire/*.def: change those. -->\n", name);
    while (fgets(line, sizeof line, in))
        put_line(line);
    fclose(in);
    return fflush(stdout) == 0 ? 0 : 1;
}
