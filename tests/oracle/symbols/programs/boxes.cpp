/* SPDX-License-Identifier: Apache-2.0 */
/* A small program with much inlined code of the standard library: run_lines.py looks up the lines of its addresses. */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#ifdef LARGE
#include <regex>
#endif

struct shape {
    virtual double area() const = 0;
    virtual ~shape() {}
};

template <int N> struct box : shape {
    double side[N];
    box() {
        for (auto &s : side)
            s = N;
    }
    double area() const override {
        double product = 1;
        for (auto s : side)
            product *= s;
        return product;
    }
};

static std::map<std::string, std::shared_ptr<shape>> boxes;

template <int N> void add_boxes() {
    boxes["box" + std::to_string(N)] = std::make_shared<box<N>>();
    if constexpr (N > 1)
        add_boxes<N - 1>();
}

int main() {
    add_boxes<20>();
    std::vector<std::string> words;
    std::istringstream text("the quick brown fox jumps over the lazy dog");
    for (std::string word; text >> word;)
        words.push_back(word);
    std::sort(words.begin(), words.end(),
              [](auto &a, auto &b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
    std::unordered_map<std::string, int> count;
    for (auto &word : words)
        count[word]++;
#ifdef LARGE
    const std::regex pattern("q[a-z]+k");
    const auto matches = std::count_if(words.begin(), words.end(),
                                       [&](auto &word) { return std::regex_match(word, pattern); });
#else
    const auto matches = std::count_if(words.begin(), words.end(), [](auto &word) { return word.front() == 'q'; });
#endif
    std::function<int(int)> sum = [&](int i) { return i ? sum(i - 1) + static_cast<int>(matches) : 0; };
    double areas = 0;
    for (auto &[name, made] : boxes)
        areas += made->area();
    std::cout << areas << ' ' << sum(10) << ' ' << count.size() << '\n';
}
