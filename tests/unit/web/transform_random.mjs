// SPDX-License-Identifier: Apache-2.0
// usage: transform_random.mjs CASES.json
//
// Applies the steps of each case to its stacks and prints the results as JSON, for run_transforms.py.
//
// A case is {stacks: [[FRAMES, WEIGHT]…], steps: [[KEY, ARGUMENT]…]}. A frame is "name@object", with a trailing "'" if it is
// inlined. ARGUMENT is a function name, a path of names, an object, a text or null.
import {readFileSync} from 'node:fs';
import {Functions} from '../../../web/derive.js';
import {applySteps, moveWeights} from '../../../web/transforms.js';
import {childrenOf, functionTable, outermostOf, totalsOf} from '../../../web/tree.js';
import {weightsOf} from '../../../web/weights.js';
import {everything, foldedOf, Maker} from './make_data.mjs';

function idOf(functions, name) {
    for (let func = 0; func < functions.count; func++) if (functions.nameOf(func) === name) return func;
    return 0x1fffff; // no stack contains this function
}

function nodeOf(tree, functions, path) {
    let at = 0;
    for (const name of path) {
        let next = 0;
        for (let i = at + 1; i < tree.count; i++) if (tree.parent[i] === at && functions.nameOf(tree.func[i]) === name) next = i;
        if (!next) return tree.count; // no such node
        at = next;
    }
    return at;
}

function objectOf(data, functions, name) {
    for (let object = 0; object < data.objects.count; object++) if (functions.objectName(object) === name) return object;
    return data.objects.count;
}

function stepOf([key, argument], tree, data, functions) {
    if (key === 'F' || key === 'M') return {key, id: nodeOf(tree, functions, argument)};
    if (key === 'C') return {key, id: objectOf(data, functions, argument)};
    if (key === '+' || key === '-') return {key, text: argument};
    return 'ki'.includes(key) ? {key} : {key, id: idOf(functions, argument)};
}

function run({stacks, steps}) {
    const maker = new Maker();
    for (const [frames, weight] of stacks) maker.sample(frames.join(' '), {weight});
    const data = maker.data(), functions = new Functions(data), done = [];
    let tree = data.tree;
    for (const step of steps) {
        done.push(stepOf(step, tree, data, functions));
        tree = applySteps(data.tree, done, functions).tree;
    }
    const {self: before} = weightsOf(data, everything, null), result = applySteps(data.tree, done, functions);
    const {self, dropped} = moveWeights(before, result.map, result.tree.count), total = totalsOf(result.tree, self), children = childrenOf(result.tree);
    const rows = functionTable(result.tree, self, total, outermostOf(result.tree, children, functions.count), functions.count);
    return {folded: foldedOf(result.tree, self, (func) => functions.nameOf(func)), dropped,
            table: rows.map((row) => [functions.nameOf(row.func), row.self, row.total]).sort((a, b) => a[0] < b[0] ? -1 : 1)};
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[2], 'utf8')).map(run)));
