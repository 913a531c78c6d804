/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of perf_sample.def and perf_state.def to straight-line code: a presence condition becomes an `if`, and a
   field becomes a few lines that use no table. */
#include "wire/fast_sample.h"

#define ALWAYS 1
#define BITS_SAMPLE sample_bits
#define BITS_READ c->word[WORD_READ]
#define BITS_BRANCH c->word[WORD_BRANCH]
#define BITS_MISC c->word[WORD_MISC]
#define BITS_VARIANT c->word[WORD_VARIANT]
#define BIT(w, n) (BITS_##w >> (n)&1)
#define NO_BIT(w, n) (!BIT(w, n))
#define ONLY(w, n, not ) (BIT(w, n) && !BIT(w, not ))
#define IF(member) (r->member != 0)

#define MIRRORED 1
#define PACK(first, width) ((first) << 8 | (width))

#define COUNT(member) r->member
#define POPCOUNT(w) (uint64_t) __builtin_popcountll(c->word[WORD_##w])
#define OF(part, member) L_##part, r->member

static bool fast_bytes(struct cursor *in, uint64_t length, pfr_bytes *view) {
    view->length = length;
    return take_bytes(in, length, &view->at);
}

/* Takes the remaining bytes. */
static bool fast_text(struct cursor *in, pfr_text *view) {
    const size_t room = cursor_left(in);
    if (room > UINT32_MAX)
        return false;
    *view = (pfr_text){(const char *)in->at, (uint32_t)strnlen((const char *)in->at, room), (uint32_t)room};
    in->at += room;
    return true;
}

static bool fast_u64s(struct cursor *in, uint64_t count, pfr_u64s *view) {
    if (count > cursor_left(in) / 8)
        return false;
    *view = (pfr_u64s){in->at, count, in->swap};
    in->at += count * 8;
    return true;
}

static bool fast_items(const struct pfr_context *c, struct cursor *in, unsigned of, uint64_t count, pfr_items *view) {
    const uint64_t size = layout_fixed_size(layout_at(of), c);
    if (size == 0 || count > cursor_left(in) / size)
        return false;
    *view = (pfr_items){in->at, count * size, count, c->home ? c->home : c, of};
    in->at += count * size;
    return true;
}

#define REQUIRE(expression)                                                                                            \
    do {                                                                                                               \
        if (!(expression))                                                                                             \
            return false;                                                                                              \
    } while (0)
#define CODE_U8(name, extra) REQUIRE(take_u8(in, &r->name));
#define CODE_U32(name, extra) REQUIRE(take_u32(in, &r->name));
#define CODE_U64(name, extra) REQUIRE(take_u64(in, &r->name));
#define CODE_W64(name, extra)                                                                                          \
    {                                                                                                                  \
        REQUIRE(take_u64(in, &r->name));                                                                               \
        word = r->name;                                                                                                \
        mirrored = (extra) && c->mirrored;                                                                             \
    }
#define CODE_BITS(name, extra) r->name = (uint32_t)bits_of(word, 64, extra, mirrored);
#define CODE_BYTES(name, extra) REQUIRE(fast_bytes(in, extra, &r->name));
#define CODE_RAW(name, extra) REQUIRE(fast_bytes(in, extra, &r->name));
#define CODE_TEXT(name, to_end) REQUIRE(fast_text(in, &r->name));
#define CODE_A64(name, extra) REQUIRE(fast_u64s(in, extra, &r->name));
#define CODE_SUB(name, extra) REQUIRE(fast_##extra(c, in, &r->name));
#define CODE_ARRAY(name, ...) REQUIRE(fast_items(c, in, __VA_ARGS__, &r->name));

#define LAYOUT(id, name, doc)                                                                                          \
    static inline __attribute__((always_inline)) bool fill_##name(const struct pfr_context *c, uint64_t sample_bits,   \
                                                                  struct cursor *in, struct pfr_rec_##name *r) {       \
        uint64_t word = 0;                                                                                             \
        bool mirrored = false;                                                                                         \
        (void)c, (void)sample_bits, (void)word, (void)mirrored;
#define F(kind, name, when, extra, show, doc)                                                                          \
    if (when)                                                                                                          \
    CODE_##kind(name, extra)
#define END                                                                                                            \
    return true;                                                                                                       \
    }
#include "wire/perf_sample.def"
#include "wire/perf_state.def"
#undef LAYOUT
#undef F
#undef END

#define LAYOUT(id, name, doc)                                                                                          \
    bool fast_##name(const struct pfr_context *c, struct cursor *in, struct pfr_rec_##name *r) {                       \
        memset(r, 0, sizeof *r);                                                                                       \
        return fill_##name(c, c->word[WORD_SAMPLE], in, r);                                                            \
    }
#define F(...)
#define END
#include "wire/perf_sample.def"
#include "wire/perf_state.def"

/* The samples of most recordings use only these bits of sample_type; such samples take the specialised copy below. */
#define COMMON_BITS                                                                                                    \
    (1ull << 0 | 1ull << 1 | 1ull << 2 | 1ull << 3 | 1ull << 5 | 1ull << 6 | 1ull << 7 | 1ull << 8 | 1ull << 9 |       \
     1ull << 16)

/* The context decides which members of a sample are present; nested parts are cleared each time. The most frequent kind
   of sample has a copy of the code in which the compiler knows that rare members are absent and no byte is swapped. */
bool fast_sample_again(const struct pfr_context *c, struct cursor *in, struct pfr_rec_sample *r) {
    const uint64_t bits = c->word[WORD_SAMPLE];
    if ((bits & ~COMMON_BITS) || in->swap)
        return fill_sample(c, bits, in, r);
    struct cursor here = *in;
    here.swap = false;
    const bool fits = fill_sample(c, bits & COMMON_BITS, &here, r);
    in->at = here.at;
    return fits;
}
