// SPDX-License-Identifier: Apache-2.0
// Steps that transform stacks. A step creates a new tree and determines where the self weight of each old node goes:
// map[node] is a node of the new tree, 0 if no frame is left, or DROPPED.
import {KIND, NODE_INLINED} from './data.js';

export const DROPPED = -1;

// Nodes of the new tree, found by parent and function in a hash table with open addressing.
class TreeBuilder {
    constructor(like) {
        this.like = like;
        this.count = 1;
        this.func = new Uint32Array(like.count + 1);
        this.parent = new Int32Array(like.count + 1).fill(-1, 0, 1);
        this.flags = new Uint8Array(like.count + 1);
        this.line = new Uint32Array(like.count + 1);
        let room = 16;
        while (room < 2 * like.count) room *= 2;
        this.slots = new Uint32Array(room); // 0: free, because the root is never a child
    }
    child(parent, func, of) {
        const {slots} = this, mask = slots.length - 1;
        let at = Math.imul(parent ^ Math.imul(func, 0x9e3779b1), 0x85ebca6b);
        at = (at ^ at >>> 15) & mask;
        for (let node; (node = slots[at]); at = (at + 1) & mask)
            if (this.parent[node] === parent && this.func[node] === func) return node;
        return (slots[at] = this.add(parent, func, of));
    }
    add(parent, func, of) {
        const node = this.count++;
        this.func[node] = func;
        this.parent[node] = parent;
        this.flags[node] = of < 0 ? 0 : this.like.flags[of];
        this.line[node] = of < 0 ? 0 : this.like.line[of];
        return node;
    }
    finish() {
        const cut = (column) => column.slice(0, this.count);
        return {count: this.count, func: cut(this.func), parent: cut(this.parent), flags: cut(this.flags), line: cut(this.line)};
    }
}

// Visits the nodes once, parents first: place(node, parent's new node, build) returns the new node.
function rebuild(tree, place) {
    const build = new TreeBuilder(tree), map = new Int32Array(tree.count);
    for (let node = 1; node < tree.count; node++) map[node] = place(node, map[tree.parent[node]], build);
    return {tree: build.finish(), map};
}

function keepFrom(tree, begins) {
    return rebuild(tree, (node, above, build) => {
        if (above > 0) return build.child(above, tree.func[node], node);
        return begins(node) ? build.child(0, tree.func[node], node) : DROPPED;
    });
}

function mergeWhere(tree, goes) {
    return rebuild(tree, (node, above, build) => goes(node) ? above : build.child(above, tree.func[node], node));
}

// Merges runs of frames for which `holds` is true into one frame of the function `as`.
function collapseRuns(tree, holds, as) {
    return rebuild(tree, (node, above, build) => {
        if (!holds(node)) return build.child(above, tree.func[node], node);
        return above > 0 && build.func[above] === as ? above : build.child(above, as, -1);
    });
}

function focusSelf(tree, func) {
    const map = new Int32Array(tree.count);
    for (let i = 1; i < tree.count; i++) map[i] = tree.func[i] === func ? i : DROPPED;
    return {tree, map};
}

function dropFunction(tree, func) {
    const map = new Int32Array(tree.count);
    for (let i = 1; i < tree.count; i++)
        map[i] = tree.func[i] === func || map[tree.parent[i]] === DROPPED ? DROPPED : i;
    return {tree, map};
}

function collapseFunction(tree, func) {
    return rebuild(tree, (node, above, build) => above > 0 && build.func[above] === func
        ? above : build.child(above, tree.func[node], node));
}

// Merges everything from the first to the last frame of a function in each stack into one frame.
function collapseRecursion(tree, func) {
    const first = new Int32Array(tree.count); // new node of the outermost frame of func at or above a node; 0: there is no such frame
    return rebuild(tree, (node, above, build) => {
        first[node] = first[tree.parent[node]];
        if (tree.func[node] !== func) return build.child(above, tree.func[node], node);
        return first[node] || (first[node] = build.child(above, func, node));
    });
}

function collapseDirectRecursion(tree, func) {
    return mergeWhere(tree, (node) => tree.func[node] === func && tree.func[tree.parent[node]] === func && tree.parent[node] > 0);
}

// Keeps only the stacks with a matching function (`wanted`), or only the stacks without one.
function keepMatching(tree, matches, wanted) {
    const has = new Uint8Array(tree.count), map = new Int32Array(tree.count);
    for (let i = 1; i < tree.count; i++) {
        has[i] = has[tree.parent[i]] | (matches(tree.func[i]) ? 1 : 0);
        map[i] = Boolean(has[i]) === wanted ? i : DROPPED;
    }
    return {tree, map};
}

// The letters are those of Firefox Profiler. Each entry: menu text, operand, and the function that transforms a tree.
// `facts` has kindOf(func), objectOf(func), objectFrame(object), kernelFrame() and matcher(text).
export const STEPS = {
    f: {name: 'Focus on function', needs: 'func', apply: (tree, s) => keepFrom(tree, (node) => tree.func[node] === s.id)},
    F: {name: 'Focus on subtree', needs: 'node', apply: (tree, s) => keepFrom(tree, (node) => node === s.id)},
    S: {name: 'Keep only its self time', needs: 'func', apply: (tree, s) => focusSelf(tree, s.id)},
    m: {name: 'Merge function into callers', needs: 'func', apply: (tree, s) => mergeWhere(tree, (node) => tree.func[node] === s.id)},
    M: {name: 'Merge node into its caller', needs: 'node', apply: (tree, s) => mergeWhere(tree, (node) => node === s.id)},
    d: {name: 'Drop samples with this function', needs: 'func', apply: (tree, s) => dropFunction(tree, s.id)},
    c: {name: 'Collapse function', needs: 'func', apply: (tree, s) => collapseFunction(tree, s.id)},
    C: {name: 'Collapse object', needs: 'object', apply: (tree, s, facts) => collapseRuns(tree,
        (node) => facts.objectOf(tree.func[node]) === s.id, facts.objectFrame(s.id))},
    r: {name: 'Collapse recursion', needs: 'func', apply: (tree, s) => collapseRecursion(tree, s.id)},
    R: {name: 'Collapse direct recursion', needs: 'func', apply: (tree, s) => collapseDirectRecursion(tree, s.id)},
    k: {name: 'Kernel as one frame', needs: null, apply: (tree, s, facts) => collapseRuns(tree,
        (node) => facts.kindOf(tree.func[node]) === KIND.kernel, facts.kernelFrame())},
    i: {name: 'Inlined functions into their callers', needs: null,
        apply: (tree) => mergeWhere(tree, (node) => (tree.flags[node] & NODE_INLINED) !== 0)},
    '+': {name: 'Keep only stacks that match', needs: 'text',
          apply: (tree, s, facts) => keepMatching(tree, facts.matcher(s.text), true)},
    '-': {name: 'Hide stacks that match', needs: 'text',
          apply: (tree, s, facts) => keepMatching(tree, facts.matcher(s.text), false)},
};

function composeMaps(before, after) {
    const map = new Int32Array(before.length);
    for (let i = 0; i < before.length; i++) map[i] = before[i] <= 0 ? before[i] : after[before[i]];
    return map;
}

function identityMap(count) {
    const map = new Int32Array(count);
    for (let i = 0; i < count; i++) map[i] = i;
    return map;
}

// Applies all steps in order: returns the final tree, and where each node of the first tree went.
export function applySteps(tree, steps, facts) {
    let result = {tree, map: identityMap(tree.count)};
    for (const step of steps) {
        const next = STEPS[step.key].apply(result.tree, step, facts);
        result = {tree: next.tree, map: composeMaps(result.map, next.map)};
    }
    return result;
}

// Moves self weights to the new tree; `dropped` is the weight of removed stacks.
export function moveWeights(self, map, count) {
    const moved = new Float64Array(count);
    let dropped = 0;
    for (let i = 1; i < self.length; i++) {
        if (map[i] > 0) moved[map[i]] += self[i];
        else dropped += self[i];
    }
    return {self: moved, dropped};
}
