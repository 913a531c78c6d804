// SPDX-License-Identifier: Apache-2.0
// Positions of the boxes of a flame graph. x runs from 0 to 1 over the zoomed range; rows are counted from the
// outermost frame.
import {invertedChildren, sortedChildren} from './tree.js';

// Adjacent boxes narrower than this many pixels are merged into one hatched box.
export const NARROW = 2;

// Compares siblings by weight, by name, or by the time of their first occurrence.
export function siblingOrder(order, tree, total, nameOf, first) {
    if (order === 'name')
        return (a, b) => nameOf(tree.func[a]).localeCompare(nameOf(tree.func[b]), 'en') || a - b;
    if (order === 'time') return (a, b) => first[a] - first[b] || a - b;
    return (a, b) => total[b] - total[a] || a - b;
}

// Lays out the visible part of `root`; the box of `root` has the full width. `source` has children(node) and
// weight(node).
function layOut(source, root, pixels) {
    const boxes = [], weight = source.weight(root);
    const pending = [{node: root, x: 0, width: 1, row: 0}];
    while (pending.length && weight > 0) {
        const at = pending.pop();
        boxes.push(at);
        let x = at.x, run = null;
        for (const child of source.children(at.node)) {
            const width = at.width * source.weight(child) / source.weight(at.node);
            if (width * pixels >= NARROW) {
                pending.push({node: child, x, width, row: at.row + 1});
                run = null;
            } else if (source.weight(child) > 0) {
                run = run || addRun(boxes, x, at.row + 1);
                run.width += width;
                run.nodes.push(child);
            }
            x += width;
        }
    }
    return boxes;
}

function addRun(boxes, x, row) {
    const run = {node: null, nodes: [], x, width: 0, row};
    boxes.push(run);
    return run;
}

// Boxes of the tree below `root`. Node 0, the root of all stacks, has a box of its own, which represents the whole
// selection.
export function layOutTree(tree, children, total, root, pixels, compare) {
    const source = {weight: (node) => total[node],
                    children: (node) => sortedChildren(children, node, compare).filter((child) => total[child] > 0)};
    return layOut(source, root, pixels);
}

// Boxes of an inverted tree, of which only the visible part is built. `root` is an inverted node or a list of roots.
export function layOutInverted(tree, root, pixels) {
    const top = Array.isArray(root) ? {total: root.reduce((sum, node) => sum + node.total, 0), children: root} : root;
    return layOut({weight: (node) => node.total, children: (node) => invertedChildren(tree, node)}, top, pixels);
}

// The box at a point, or null.
export const boxAt = (boxes, x, row) => boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width) || null;

// The ancestors of a node, outermost first. Those of a zoomed node are drawn above it in full
// width, so that users can zoom out again.
export function ancestorsOf(tree, node) {
    const path = [];
    for (let at = tree.parent[node]; at >= 0; at = tree.parent[at]) path.push(at);
    return path.reverse();
}
