/* SPDX-License-Identifier: Apache-2.0 */
/* C++: methods, virtual calls, templates, and exceptions. The latter leave calls open, because no exit is recorded for
   them. */
#include "said.h"
#include <stdexcept>

namespace shapes {
struct Shape {
    virtual ~Shape() {
    }
    virtual long area(long scale) const = 0;
};

struct Square : Shape {
    long side;
    explicit Square(long s) : side(s) {
    }
    TRACED long area(long scale) const override {
        say("+shapes::Square::area");
        const long result = side * side * scale;
        say("-shapes::Square::area");
        return result;
    }
};

struct Guard {
    TRACED ~Guard() {
        say("+shapes::Guard::~Guard");
        say("-shapes::Guard::~Guard");
    }
};

template <typename T> TRACED T twice(T value) {
    say(sizeof(T) == 1 ? "+shapes::twice<char>" : "+shapes::twice<long>");
    const T result = (T)(value + value);
    say(sizeof(T) == 1 ? "-shapes::twice<char>" : "-shapes::twice<long>");
    return result;
}

TRACED long check(long n) {
    say("+shapes::check");
    if (n % 3 == 0)
        throw std::runtime_error("a multiple of three");
    say("-shapes::check");
    return n;
}

TRACED long between(long n) {
    say("+shapes::between");
    long result;
    {
        Guard guard;
        result = check(n) + 1;
    }
    say("-shapes::between");
    return result;
}

TRACED long attempt(long n) {
    say("+shapes::attempt");
    long result;
    try {
        result = between(n);
    } catch (const std::exception &) {
        result = -1;
    }
    say("-shapes::attempt");
    return result;
}
} // namespace shapes

UNSEEN static void *program(void *unused) {
    long sum = 0;
    for (long i = 0; i < 24; i++) {
        const shapes::Square square(i);
        const shapes::Shape *shape = &square;
        sum += shape->area(2) + shapes::twice<char>((char)i) + shapes::twice<long>(i) + shapes::attempt(i);
    }
    return sum ? unused : NULL;
}

UNSEEN int main() {
    return traced(program);
}
