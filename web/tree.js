// SPDX-License-Identifier: Apache-2.0
// Trees of stacks: {count, func, parent, flags}. Node 0 is the root; a parent has a smaller id than its children.

// Inclusive weight of each node. Parents precede children, so one backward loop is enough.
export function totalsOf(tree, self) {
    const total = self.slice();
    for (let i = tree.count - 1; i > 0; i--) total[tree.parent[i]] += total[i];
    return total;
}

// Children of each node as one array: those of node n are order[first[n]] to order[first[n + 1] - 1].
export function childrenOf(tree) {
    const first = new Uint32Array(tree.count + 2), order = new Uint32Array(tree.count);
    for (let i = 1; i < tree.count; i++) first[tree.parent[i] + 2]++;
    for (let i = 2; i < first.length; i++) first[i] += first[i - 1];
    for (let i = 1; i < tree.count; i++) order[first[tree.parent[i] + 1]++] = i;
    return {first, order};
}

// Children of a node, sorted by `compare` of two nodes.
export function sortedChildren(children, node, compare) {
    const list = Array.from(children.order.subarray(children.first[node], children.first[node + 1]));
    return list.sort(compare);
}

// 1 for each node that has no ancestor with the same function. So sums over these nodes count recursive functions once.
// The traversal keeps the path from the root explicitly instead of recursing, because stacks may be deep.
export function outermostOf(tree, children, funcCount) {
    const outer = new Uint8Array(tree.count), open = new Uint32Array(funcCount);
    const {first, order} = children, next = first.slice(0, tree.count), {func, parent} = tree;
    for (let node = 0; node >= 0;) {
        if (next[node] < first[node + 1]) {
            node = order[next[node]++];
            outer[node] = open[func[node]]++ === 0 ? 1 : 0;
        } else {
            if (node) open[func[node]]--;
            node = parent[node];
        }
    }
    return outer;
}

export function depthsOf(tree) {
    const depth = new Uint32Array(tree.count);
    for (let i = 1; i < tree.count; i++) depth[i] = depth[tree.parent[i]] + 1;
    return depth;
}

// Functions from the outermost one to the node's.
export function pathOf(tree, node) {
    const path = [];
    for (let at = node; at > 0; at = tree.parent[at]) path.push(tree.func[at]);
    return path.reverse();
}

// Self and total weight by function. Functions without weight have no row.
export function functionTable(tree, self, total, outer, funcCount) {
    const selves = new Float64Array(funcCount), totals = new Float64Array(funcCount);
    for (let i = 1; i < tree.count; i++) {
        selves[tree.func[i]] += self[i];
        if (outer[i]) totals[tree.func[i]] += total[i];
    }
    const rows = [];
    for (let func = 0; func < funcCount; func++)
        if (totals[func] > 0) rows.push({func, self: selves[func], total: totals[func]});
    return rows;
}

// --- The inverted tree, built on demand, because the complete one is up to 50 times as large as the tree.

// An inverted node: `at` are the nodes of the tree with function `func` that it merges; their
// parents are its callers. `weight` is the weight that each of them contributes.
function invertedNode(func, parent) {
    return {func, parent, at: [], weight: [], total: 0, children: null};
}

function addTo(groups, parent, func, at, weight) {
    let node = groups.get(func);
    if (!node) groups.set(func, (node = invertedNode(func, parent)));
    node.at.push(at);
    node.weight.push(weight);
    node.total += weight;
}

const heaviestFirst = (a, b) => b.total - a.total || a.func - b.func;

// Roots: the self weight of each function.
export function invertedRoots(tree, self) {
    const groups = new Map();
    for (let i = 1; i < tree.count; i++)
        if (self[i] > 0) addTo(groups, null, tree.func[i], i, self[i]);
    return [...groups.values()].sort(heaviestFirst);
}

// Callers of an inverted node. Outermost frames have no caller; their weight remains in the node.
export function invertedChildren(tree, node) {
    if (node.children) return node.children;
    const groups = new Map();
    node.at.forEach((at, i) => {
        const caller = tree.parent[at];
        if (caller > 0) addTo(groups, node, tree.func[caller], caller, node.weight[i]);
    });
    return (node.children = [...groups.values()].sort(heaviestFirst));
}

// The callers of one function: an inverted node whose weight is the function's total. Its children are the callers and,
// if the function is the outermost frame of some stacks, a node without a function, so that they add up to the total.
export function callersOf(tree, total, outer, func) {
    const root = invertedNode(func, null);
    for (let i = 1; i < tree.count; i++) {
        if (tree.func[i] !== func || !outer[i] || !(total[i] > 0)) continue;
        root.at.push(i);
        root.weight.push(total[i]);
        root.total += total[i];
    }
    const rest = root.at.reduce((sum, at, i) => tree.parent[at] > 0 ? sum : sum + root.weight[i], 0);
    const callers = invertedChildren(tree, root);
    if (rest > 0) root.children = [...callers, {...invertedNode(null, root), total: rest, children: []}];
    return root;
}
