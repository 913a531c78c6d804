/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/rt_text.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *mangled, *plain; /* NULL: not demangled */
} names[] = {
    {"main", NULL},
    {"_Z4workv", "work"},
    {"_ZL4worki", "work"},
    {"_Z3sumIiET_RKSt6vectorIS0_SaIS0_EE", "sum"},
    {"_ZN3app6Server4tickEv", "app::Server::tick"},
    {"_ZNK3app6Server4nameEv", "app::Server::name"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
    {"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move"},
    {"_ZN5ArrayILi10ENS_3TagEE3getEv", "Array::get"},
    {"_ZN5ArrayIA5_iLb1EE3getEv", "Array::get"},
    {"_ZN5ThingC2Ei", "Thing::Thing"},
    {"_ZN5ThingD1Ev", "Thing::~Thing"},
    {"_ZN5boxedIiEC1Ev", "boxed::boxed"},
    {"_ZN1a1bB5cxx11Ev", "a::b"},
    {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
    {"_RNvNtCsg0Xp3f9Wg5p_3app4work4tick", "app::work::tick"},
    {"_RINvCs1_3app4tickmEB2_", "app::tick"},
    {"_RNCNvCs1_3app4main0B3_", NULL},
    {"_RNvMCs1_3appNtB2_5Thing4tick", NULL},
    {"_RNvNtCs1_3app", NULL},
    {"_RNv", NULL},
    {"_R", NULL},
    {"_ZN5ThingplERKS_", NULL},
    {"_ZZ4mainENKUlvE_clEv", NULL},
    {"_ZN1aIXadL_Z1fvEEE1bEv", NULL},
    {"_ZN4trac", NULL},
    {"_ZN4tracE", "trac"},
    {"_ZN99999999999999999999999aE", NULL},
    {"_ZNE", NULL},
    {"_Z", NULL},
    {"_ZN", NULL},
    {"_ZNC1Ev", NULL},
    {"", NULL},
};

TEST(names_without_arguments) {
    char to[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool has = rt_unmangle(names[i].mangled, to, sizeof to);
        if (has != (names[i].plain != NULL) || (has && strcmp(to, names[i].plain) != 0))
            fail_msg("%s: %s, not %s", names[i].mangled, has ? to : "none", names[i].plain ? names[i].plain : "none");
    }
}

/* In exact allocations, so that a sanitizer detects access beyond the end. */
TEST(no_room_and_cut_names_are_refused) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i].mangled);
        for (size_t cut = 0; cut <= length; cut++) {
            char *const copy = malloc(cut + 1), *const to = malloc(8);
            assert_true(copy && to);
            memcpy(copy, names[i].mangled, cut);
            copy[cut] = 0;
            if (rt_unmangle(copy, to, 8))
                assert_true(strlen(to) < 8);
            free(copy);
            free(to);
        }
    }
}
