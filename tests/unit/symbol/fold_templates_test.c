/* SPDX-License-Identifier: Apache-2.0 */
/* Template arguments, folded and omitted. */
#include "symbol/demangle/fold_templates.h"
#include "test.h"

#include <string.h>

#define E "\xe2\x80\xa6"

static void assert_shorter(const char *name, const char *folded, const char *omitted) {
    char text[256];
    const size_t length = strlen(name);
    for (unsigned omit = 0; omit < 2; omit++) {
        memcpy(text, name, length + 1);
        const size_t made = fold_templates(text, length, omit);
        assert_true(made <= length);
        text[made] = '\0';
        assert_string_equal(text, omit ? omitted : folded);
    }
}

TEST(fold_templates_of_names) {
    assert_shorter("main", "main", "main");
    assert_shorter("std::vector<int, std::allocator<int> >::push_back", "std::vector<" E ">::push_back",
                   "std::vector::push_back");
    assert_shorter("twice<int>", "twice<int>", "twice");
    assert_shorter("std::__cxx11::basic_string<char, x>::append", "std::basic_string<" E ">::append",
                   "std::basic_string::append");
    assert_shorter("a<void (b<c>)>::run<&d>", "a<" E ">::run<&d>", "a::run");
    assert_shorter("call<((4)>(2))>::f", "call<" E ">::f", "call::f");
}

TEST(fold_templates_keeps_operators) {
    assert_shorter("A::operator<", "A::operator<", "A::operator<");
    assert_shorter("A<long>::operator<< <long>", "A<" E ">::operator<<<" E ">", "A::operator<<");
    assert_shorter("A::operator->", "A::operator->", "A::operator->");
    assert_shorter("A::operator()<char, int>", "A::operator()<" E ">", "A::operator()");
    assert_shorter("operator<=>", "operator<=>", "operator<=>");
    assert_shorter("my_operator<long>", "my_operator<" E ">", "my_operator");
    assert_shorter("f<&A::operator< >", "f<" E ">", "f");
}

TEST(fold_templates_of_rust_keeps_first_type) {
    assert_shorter("<alloc::vec::Vec<T,A> as core::ops::Drop>::drop", "<alloc::vec::Vec<T,A> as core::ops::Drop>::drop",
                   "<alloc::vec::Vec as core::ops::Drop>::drop");
    assert_shorter("core::ptr::drop_in_place::<alloc::string::String>", "core::ptr::drop_in_place::<" E ">",
                   "core::ptr::drop_in_place::");
}

TEST(fold_templates_leaves_what_does_not_close) {
    assert_shorter("a<b", "a<b", "a<b");
    assert_shorter("a<(b>", "a<(b>", "a<(b>");
    assert_shorter("a>b", "a>b", "a>b");
    assert_shorter("", "", "");
}
