// SPDX-License-Identifier: Apache-2.0
// Code with typical C++ names: templates, namespaces, operators, lambdas, virtual functions, exceptions.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes {

struct shape {
    virtual ~shape() = default;
    virtual double area(int rounds) const = 0;
};

template <typename Number, int Sides> struct polygon : shape {
    Number length;
    explicit polygon(Number given) : length(given) {}
    __attribute__((noinline)) double area(int rounds) const override {
        volatile Number sum = 0;
        for (int i = 0; i < rounds; i++)
            sum = sum + length * Sides;
        return static_cast<double>(sum);
    }
    __attribute__((noinline)) bool operator<(const polygon &other) const { return area(2000) < other.area(2000); }
};

namespace {
__attribute__((noinline)) double total(const std::vector<std::unique_ptr<shape>> &all, const std::function<double(double)> &change) {
    double sum = 0;
    for (const auto &one : all)
        sum += change(one->area(200000));
    return sum;
}
}

__attribute__((noinline)) int thrown(int depth) {
    try {
        if (depth == 0)
            throw std::runtime_error("at the bottom");
        return thrown(depth - 1);
    } catch (const std::logic_error &) {
        return -1;
    }
}

} // namespace shapes

int main() {
    std::vector<std::unique_ptr<shapes::shape>> all;
    for (int i = 0; i < 40; i++) {
        all.push_back(std::make_unique<shapes::polygon<double, 4>>(i));
        all.push_back(std::make_unique<shapes::polygon<unsigned long, 6>>(static_cast<unsigned long>(i)));
    }
    double sum = shapes::total(all, [](double value) { return value / 2; });
    std::map<std::string, shapes::polygon<float, 3>> names;
    for (int i = 0; i < 3000; i++)
        names.emplace(std::to_string(i * 7919 % 3000), shapes::polygon<float, 3>(static_cast<float>(i)));
    std::vector<shapes::polygon<float, 3>> sorted;
    for (const auto &pair : names)
        sorted.push_back(pair.second);
    std::sort(sorted.begin(), sorted.begin() + 300);
    int caught = 0;
    for (int i = 0; i < 2000; i++)
        try {
            shapes::thrown(10);
        } catch (const std::exception &error) {
            caught += error.what()[0] == 'a';
        }
    return sum > 0 && caught == 2000 ? 0 : 1;
}
