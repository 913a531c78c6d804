/* SPDX-License-Identifier: Apache-2.0 */
/* Names of identifiers alone: each as libiberty has it, or left to it. */
#include "symbol/plain_mangling.h"
#include "symbol/demangle.h"
#include "test.h"

#include <stdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_plain(const char *mangled, const char *expected) {
    char text[PLAIN_TEXT_MOST + 1];
    text[plain_demangle(mangled, text)] = '\0';
    assert_string_equal(text, expected);
}

/* Where it answers, libiberty says the same. */
static bool is_as_libiberty_has_it(const char *mangled) {
    static char theirs[DEMANGLED_MOST];
    char ours[PLAIN_TEXT_MOST];
    const size_t length = plain_demangle(mangled, ours);
    if (length == 0)
        return false;
    const size_t expected = demangle_here(mangled, 0, theirs);
    if (expected != length || memcmp(theirs, ours, length) != 0)
        fail_msg("%s: %.*s, not %.*s", mangled, (int)length, ours, (int)expected, theirs);
    return true;
}

TEST(plain_names_of_identifiers) {
    assert_plain("_Z3runiPPc", "run");
    assert_plain("_ZL6insidev", "inside");
    assert_plain("_ZSt9terminatev", "std::terminate");
    assert_plain("_ZN4llvm5Value7getTypeEv", "llvm::Value::getType");
    assert_plain("_ZNVK3foo3barEv.constprop.0", "foo::bar");
    assert_plain("_ZNSt6threadD2Ev", "std::thread::~thread");
    assert_plain("_ZN3fooC1ERKS_", "foo::foo");
    assert_plain("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run");
}

TEST(plain_names_are_left_where_more_is_in_them) {
    static const char *const names[] = {
        "",
        "main",
        "_Z",
        "_ZN",
        "_ZN3fooE3bar@plt",
        "_Z3fooIiEvT_",
        "_ZN3fooIiE3barEv",
        "_ZN3foo3barB5cxx11Ev",
        "_ZN3fooplERKS_",
        "_ZN3fooC4Ev",
        "_ZNC1Ev",
        "_ZN4core3fmt5write17h0123456789abcdefE",
        "_ZZ4mainE1x",
        "_ZTV3foo",
        "_ZL3foo_1",
        "_ZLSt3foo",
        "_ZN9foo",
        "_Z99999999999999999999999foo",
        "_Z03foo",
        "_ZNKR3foo3barEv",
        "_RNvC1a1b",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_plain(names[i], "");
}

/* As long as a name may be: no room is left behind the longest text. */
TEST(plain_names_may_be_long) {
    char name[PLAIN_NAME_MOST + 8] = "_ZN", text[PLAIN_TEXT_MOST];
    const int digits = sprintf(name + 3, "%d", (int)PLAIN_NAME_MOST - 11);
    memset(name + 3 + digits, 'a', PLAIN_NAME_MOST - 11);
    strcpy(name + 3 + digits + PLAIN_NAME_MOST - 11, "D1Ev");
    assert_int_equal(plain_demangle(name, text), 2 * (PLAIN_NAME_MOST - 11) + 3);
    for (size_t i = 3; i + 2 < PLAIN_NAME_MOST; i += 2)
        memcpy(name + i, "1a", 2);
    name[PLAIN_NAME_MOST - 1] = 'E';
    name[PLAIN_NAME_MOST] = '\0';
    assert_true(plain_demangle(name, text) <= PLAIN_TEXT_MOST);
    strcpy(name + PLAIN_NAME_MOST, "v");
    assert_int_equal(plain_demangle(name, text), 0);
}

/* What is put together at random out of the words of the grammar. */
TEST(plain_names_of_any_words) {
    static const char *const words[] = {
        "N", "St", "L", "K", "V", "3foo", "1a", "12_GLOBAL__N_1",      "C1", "D2", "E", "E", "v", "i",
        "I", "S_", "B", "_", "0", "9",    "r",  "17h0123456789abcdef", ".",  "T",  "Z", "F"};
    unsigned known = 0;
    srand(7);
    for (unsigned round = 0; round < 200000; round++) {
        char name[256] = "_Z";
        if (rand() % 2)
            strcat(name, "N");
        for (int left = 1 + rand() % 6; left > 0; left--)
            strcat(name, words[(size_t)rand() % (sizeof words / sizeof *words)]);
        known += is_as_libiberty_has_it(name);
    }
    assert_true(known > 1000);
}
