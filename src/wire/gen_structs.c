/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build step: writes perfray/record_structs.h, the struct of every layout, out of the .def files. Expansion 1 of
 * style.md section 2, done by a program so that users of the library see plain C with the documentation beside it.
 */
#include <stdio.h>

static int members;

static void begin(const char *name, const char *doc) {
    printf("/* %s */\nstruct pfr_rec_%s {\n", doc, name);
    members = 0;
}

static void member(const char *type, const char *name, const char *doc) {
    printf("    %s%s; /* %s */\n", type, name, doc);
    members++;
}

static void end(void) {
    if (members == 0)
        printf("    uint8_t nothing; /* C has no empty structs */\n");
    printf("};\n\n");
}

#define T_U8(x) "uint8_t "
#define T_U16(x) "uint16_t "
#define T_U32(x) "uint32_t "
#define T_U64(x) "uint64_t "
#define T_W8(x) "uint8_t "
#define T_W32(x) "uint32_t "
#define T_W64(x) "uint64_t "
#define T_BITS(x) "uint32_t "
#define T_TEXT(x) "pfr_text "
#define T_STR32(x) "pfr_text "
#define T_RAW(x) "pfr_bytes "
#define T_BYTES(x) "pfr_bytes "
#define T_A64(x) "pfr_u64s "
#define T_SUB(x) "struct pfr_rec_" #x " "
#define T_ARRAY(x) "pfr_items "
#define T_WHILE(x) "pfr_items "
#define T_CHOICE(x) "pfr_items "
#define T_REST(x) "pfr_bytes "
#define T_PAD(x) "pfr_bytes "

int main(void) {
    puts("/* SPDX-License-Identifier: Apache-2.0 */\n"
         "/*\n"
         " * Written by the build out of src/wire/ *.def: change those.\n"
         " *\n"
         " * One struct per layout. Integers are in this machine's byte order; members that a record does not have are "
         "0;\n"
         " * text, bytes and parts are views into the reader's buffer (views.h). pfr_decode fills them.\n"
         " */\n"
         "#ifndef PERFRAY_RECORD_STRUCTS_H\n"
         "#define PERFRAY_RECORD_STRUCTS_H\n"
         "#include <perfray/views.h>\n");
#define LAYOUT(id, name, doc) begin(#name, doc);
#define F(kind, name, when, extra, show, doc) member(T_##kind(extra), #name, doc);
#define END end();
#include "wire/layouts.def"
    puts("#endif");
    return fflush(stdout) == 0 ? 0 : 1;
}
