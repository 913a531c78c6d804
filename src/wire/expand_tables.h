/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expansion of the .def files to descriptors. Only layout.c includes it. F cannot know its layout, so each LAYOUT names
 * its struct `self`; `when` and `extra` contain commas once expanded, so they are passed only to initializers.
 */
#define NO_ID LAYOUT_ID(TABLE_PART, 0xffffffu)
#define PERF_RECORD(n) LAYOUT_ID(TABLE_PERF_RECORD, n)
#define PERF_FEATURE(n) LAYOUT_ID(TABLE_PERF_FEATURE, n)
#define TRACE_RECORD(n) LAYOUT_ID(TABLE_TRACE_RECORD, n)
#define PICK(table, n) LAYOUT_ID(TABLE_##table, n)

#define ALWAYS                                                                                                         \
    { TEST_ALWAYS, 0, 0, 0 }
#define BIT(w, n)                                                                                                      \
    { TEST_BITS, WORD_##w, 1ull << (n), 0 }
#define NO_BIT(w, n)                                                                                                   \
    { TEST_BITS, WORD_##w, 0, 1ull << (n) }
#define NO_WORD(w)                                                                                                     \
    { TEST_BITS, WORD_##w, 0, UINT64_MAX }
#define ONLY(w, n, not )                                                                                               \
    { TEST_BITS, WORD_##w, 1ull << (n), 1ull << (not ) }
#define ROOM(n)                                                                                                        \
    { TEST_ROOM, 0, n, 0 }
#define ROOM_WORD(n, w)                                                                                                \
    { TEST_ROOM_WORD, WORD_##w, n, 0 }
#define WORD_AT_LEAST(w, n)                                                                                            \
    { TEST_WORD_AT_LEAST, WORD_##w, n, 0 }
#define WORD_IN(w, from, to)                                                                                           \
    { TEST_WORD_IN, WORD_##w, from, to }
#define AT_LEAST(member, n)                                                                                            \
    { TEST_AT_LEAST, 0, n, offsetof(self, member) }
#define BELOW(member, n)                                                                                               \
    { TEST_BELOW, 0, n, offsetof(self, member) }
#define IF(member) AT_LEAST(member, 1)
#define UNLESS(member) BELOW(member, 1)

#define SCOPE EXTRA_SCOPE
#define MIRRORED EXTRA_MIRRORED
#define PLAIN 0
#define TO_END COUNT_TO_END
#define TO_NUL EXTRA_TO_NUL
#define PACK(first, width) ((first) << 8 | (width))
#define COUNT(member) offsetof(self, member)
#define BITS_IN(member) (offsetof(self, member) | COUNT_IN_BITS)
#define COUNT_WORD(w) (COUNT_FROM_WORD | WORD_##w)
#define POPCOUNT(w) (COUNT_FROM_WORD | COUNT_IN_BITS | WORD_##w)
#define OF(part, member) offsetof(self, member), L_##part
#define TO_ZERO(part) COUNT_TO_ZERO, L_##part
#define OF_WORD(part, w) (COUNT_FROM_WORD | WORD_##w), L_##part
#define FROM(table, member) offsetof(self, member), TABLE_##table

/* initializers of the members extra and of, by kind */
#define X_U8(x) x, 0
#define X_U16(x) x, 0
#define X_U32(x) x, 0
#define X_U64(x) x, 0
#define X_W8(x) x, 0
#define X_W32(x) x, 0
#define X_W64(x) x, 0
#define X_BITS(x) x, 0
#define X_TEXT(x) x, 0
#define X_STR32(x) x, 0
#define X_RAW(x) x, 0
#define X_BYTES(x) x, 0
#define X_A64(x) x, 0
#define X_SUB(x) 0, L_##x
#define X_ARRAY(...) __VA_ARGS__
#define X_WHILE(x) 0, L_##x
#define X_CHOICE(...) __VA_ARGS__
#define X_REST(x) x, 0
#define X_PAD(x) x, 0
