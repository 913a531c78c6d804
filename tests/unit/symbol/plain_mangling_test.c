/* SPDX-License-Identifier: Apache-2.0 */
/* Names with identifiers, operators and simple templates are demangled as by libiberty, or not at all. */
#include "symbol/demangle/plain_mangling.h"
#include "symbol/demangle/demangle.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_plain(const char *mangled, const char *expected) {
    char text[PLAIN_TEXT_MOST + 1];
    text[plain_demangle(mangled, text)] = '\0';
    assert_string_equal(text, expected);
}

/* Compares with libiberty if there is a result. */
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

TEST(plain_names_of_templates) {
    assert_plain("_ZN5bench6part225StageImLi41EE4stepER2Wli", "bench::part22::Stage<unsigned long, 41>::step");
    assert_plain("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back");
    assert_plain("_Z3fooIJPKcRiLb1ELj7ELln2EEEvT_", "foo<char const*, int&, true, 7u, -2l>");
    assert_plain("_ZNSt6threadC1IRFvvEJEvEEOT_DpOT0_", "");
    assert_plain("_ZN1a1bC1INS_1cILNS_1dE3EEEEEv", "a::b::b<a::c<(a::d)3> >");
    assert_plain("_ZN1a1bC1IS0_EEv", "a::b::b<a::b>");
    assert_plain("_ZN1aI1bJEE1cEv", "a<b>::c");
    assert_plain("_ZN1aI1bIiEJEE1cEv", "");
    assert_plain("_ZN3fooIbED0Ev", "foo<bool>::~foo");
    assert_plain("_ZSt4sortIPSsS0_EvT_", "std::sort<std::string*, std::string*>");
}

TEST(plain_names_of_operators) {
    assert_plain("_Znwm", "operator new");
    assert_plain("_ZdlPv@plt", "operator delete@plt");
    assert_plain("_ZN3fooplERKS_", "foo::operator+");
    assert_plain("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
                 "std::operator<< <std::char_traits<char> >");
    assert_plain("_ZN3foocviEv", "");
}

TEST(plain_names_are_left_where_more_is_in_them) {
    static const char *const names[] = {
        "",
        "main",
        "_Z",
        "_ZN",
        "_ZN3fooE3b@r@plt",
        "@plt",
        "_ZN3foo3barB5cxx11Ev",
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
        "_Z3fooIJEEvv",
        "_Z3fooIFvvEEvv",
        "_Z3fooIA3_iEvv",
        "_Z3fooIRS0_Evv",
        "_Z3fooIiS0_Evv",
        "_Z3fooILiEEvv",
        "_Z3fooIXadL_Z3barvEEEvv",
        "_ZNSsC1Ev",
        "_ZNSsE",
        "_Z3fooIKlNS0_3barEEvv",
        "_RNvC1a1b",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_plain(names[i], "");
}

/* Names with the maximum length, whose text also has the maximum length. */
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

/* Each part doubles the text of the previous one: two bytes of the name give 16 bytes of text, up to the limit. */
TEST(plain_names_that_refer_back_are_bounded) {
    char *const text = malloc(PLAIN_TEXT_MOST), name[PLAIN_NAME_MOST + 1] = "_Z3fooI3bar";
    size_t longest = 0;
    assert_non_null(text);
    for (char digit = '0'; digit <= '9'; digit++) {
        const size_t length = strlen(name);
        sprintf(name + length, "1aIS%cS%c_S%c_E", digit == '0' ? '0' : digit, digit, digit);
        const size_t made = plain_demangle(strcat(name, "EvT_"), text);
        longest = made > longest ? made : longest;
        name[strlen(name) - 4] = '\0';
    }
    assert_true(longest <= PLAIN_TEXT_MOST);
    free(text);
}

/* Nested deeper than real templates. */
TEST(plain_names_are_bounded_in_depth) {
    char name[512] = "_Z1f", text[PLAIN_TEXT_MOST];
    for (unsigned i = 0; i < 60; i++)
        strcat(name, i ? "1aI" : "I");
    strcat(name, "i");
    for (unsigned i = 0; i < 60; i++)
        strcat(name, "E");
    assert_int_equal(plain_demangle(name, text), 0);
    memset(name, 'P', 500);
    memcpy(name, "_Z1fI", 5);
    assert_int_equal(plain_demangle(name, text), 0);
}

static const char *const words[] = {
    "N", "St", "L", "K", "V", "3foo", "1a", "12_GLOBAL__N_1",      "C1", "D2", "E", "E", "v", "i",
    "I", "S_", "B", "_", "0", "9",    "r",  "17h0123456789abcdef", ".",  "T",  "Z", "F"};
static const char *const template_words[] = {
    "N",    "St6vector", "Sa",    "Ss",      "S_", "S0_", "S1_", "S2_", "3foo", "1a", "1b", "I",  "I",
    "I",    "E",         "E",     "E",       "E",  "E",   "i",   "m",   "K",    "P",  "R",  "O",  "V",
    "Li3E", "Lb1E",      "Lmn5E", "LN1aE3E", "J",  "C1",  "D0",  "ls",  "lt",   "gt", "nw", "cl", "c"};

/* Returns how many names composed at random from these words are demangled. */
static unsigned try_words(const char *const *from, size_t count, int most, unsigned rounds) {
    unsigned known = 0;
    for (unsigned round = 0; round < rounds; round++) {
        char name[512] = "_Z";
        if (rand() % 2)
            strcat(name, "N");
        if (rand() % 2)
            strcat(name, "1aI");
        for (int left = 1 + rand() % most; left > 0; left--)
            strcat(name, from[(size_t)rand() % count]);
        known += is_as_libiberty_has_it(name);
    }
    return known;
}

TEST(plain_names_of_any_words) {
    srand(7);
    assert_true(try_words(words, sizeof words / sizeof *words, 6, 100000) > 1000);
    assert_true(try_words(template_words, sizeof template_words / sizeof *template_words, 14, 100000) > 1000);
}
