// SPDX-License-Identifier: Apache-2.0
// Search: plain text, ignoring case; /regular expression/; prefixes obj: and file:, but
// not in names such as file::open.

function compilePattern(text) {
    const regex = /^\/(.*)\/(i?)$/s.exec(text);
    if (regex) {
        const compiled = new RegExp(regex[1], regex[2]);
        return (name) => compiled.test(name);
    }
    const wanted = text.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
}

// {field, matches}: field is 'func', 'obj' or 'file'. Throws SyntaxError if the regular expression is not valid.
export function parseSearch(text) {
    const prefix = /^(obj|file):(?!:)/.exec(text);
    return {field: prefix ? prefix[1] : 'func', matches: compilePattern(prefix ? text.slice(prefix[0].length) : text)};
}

// Sets 1 for each function that matches; `names` returns the text of a function for a field.
export function matchFunctions(search, funcCount, names) {
    const marked = new Uint8Array(funcCount);
    for (let func = 0; func < funcCount; func++) marked[func] = search.matches(names(search.field, func)) ? 1 : 0;
    return marked;
}

// {functions, weight, nodes}: the number of matching functions, the total weight of stacks with at
// least one match, and the matching nodes. Nodes without weight, such as those that steps removed, do not count.
export function countMatches(tree, self, total, marked) {
    const has = new Uint8Array(tree.count), seen = new Uint8Array(marked.length), {func, parent} = tree;
    let weight = 0, count = 0, functions = 0;
    for (let i = 1; i < tree.count; i++) {
        const hit = total[i] > 0 ? marked[func[i]] : 0;
        has[i] = has[parent[i]] | hit;
        if (has[i]) weight += self[i];
        count += hit;
        functions += hit & (seen[func[i]] ^ 1);
        seen[func[i]] |= hit;
    }
    return {functions, weight, nodes: matchingNodes(tree, total, marked, count)};
}

function matchingNodes(tree, total, marked, count) {
    const nodes = new Uint32Array(count);
    for (let i = 1, at = 0; at < count; i++) if (total[i] > 0 && marked[tree.func[i]]) nodes[at++] = i;
    return nodes;
}

// Matching nodes, heaviest first, in the order in which Enter visits them. Nodes without weight are left out.
export function matchesByWeight(nodes, total) {
    return nodes.filter((node) => total[node] > 0).sort((a, b) => total[b] - total[a] || a - b);
}
