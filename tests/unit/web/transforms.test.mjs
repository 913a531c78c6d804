// SPDX-License-Identifier: Apache-2.0
// Applies each step to a small hand-written tree, then random steps to random stacks. The results on random stacks are
// compared with those of a simple implementation that works on lists of names.
import assert from 'node:assert/strict';
import test from 'node:test';

import {applySteps, moveWeights, STEPS} from '../../../web/transforms.js';
import {weightsOf} from '../../../web/weights.js';
import {KIND} from '../../../web/data.js';
import {everything, foldedOf, Maker} from './make_data.mjs';

// Collapsing makes functions for objects and for the kernel. Their numbers follow those of all other functions.
function factsOf(data) {
    const {funcs, objects} = data, made = [];
    const synthetic = (name, object, kind) => {
        let at = made.findIndex((m) => m.name === name);
        if (at < 0) at = made.push({name, object, kind}) - 1;
        return funcs.count + at;
    };
    const of = (func) => func < funcs.count ? {name: funcs.nameOf(func), object: funcs.object[func], kind: funcs.kind[func]}
        : made[func - funcs.count];
    return {nameOf: (func) => of(func).name, objectOf: (func) => of(func).object, kindOf: (func) => of(func).kind,
            objectFrame: (object) => synthetic(`[${data.strings.get(objects.name[object])}]`, object, KIND.library),
            kernelFrame: () => synthetic('[kernel]', -1, KIND.kernel),
            matcher: (text) => (func) => of(func).name.includes(text)};
}

function funcOf(data, name) {
    for (let func = 0; func < data.funcs.count; func++) if (data.funcs.nameOf(func) === name) return func;
    throw new Error(`no function ${name}`);
}

function nodeOf(tree, names, nameOf) {
    let at = 0;
    for (const name of names.split(' ')) {
        at = tree.func.findIndex((func, i) => i > 0 && tree.parent[i] === at && nameOf(func) === name);
        assert.ok(at > 0, `no stack ${names}`);
    }
    return at;
}

function stacksAfter(maker, steps) {
    const data = maker.data(), facts = factsOf(data);
    const resolved = steps.map((step) => {
        if (step.func) return {key: step.key, id: funcOf(data, step.func)};
        if (step.node) return {key: step.key, id: nodeOf(data.tree, step.node, facts.nameOf)};
        if (step.object) return {key: step.key, id: [...data.objects.name].findIndex((n) => data.strings.get(n) === step.object)};
        return step;
    });
    const {tree, map} = applySteps(data.tree, resolved, facts);
    const {self, dropped} = moveWeights(weightsOf(data, everything, null).self, map, tree.count);
    return {stacks: foldedOf(tree, self, facts.nameOf), dropped};
}

const sample = () => new Maker().sample('a b c', {weight: 1}).sample('a b d', {weight: 2}).sample('a e b d', {weight: 4})
    .sample('a e', {weight: 8});

const CASES = [
    ['focus on a function begins at its first frame', [{key: 'f', func: 'b'}], ['b c = 1', 'b d = 6'], 8],
    ['focus on a node keeps only its subtree', [{key: 'F', node: 'a e b'}], ['b d = 4'], 11],
    ['self keeps samples that end in the function', [{key: 'S', func: 'd'}], ['a b d = 2', 'a e b d = 4'], 9],
    ['merging a function adds its self time to its callers', [{key: 'm', func: 'd'}], ['a b c = 1', 'a b = 2', 'a e b = 4', 'a e = 8'], 0],
    ['merging a node does not change other paths', [{key: 'M', node: 'a b d'}], ['a b c = 1', 'a b = 2', 'a e b d = 4', 'a e = 8'], 0],
    ['dropping a function drops the samples that contain it', [{key: 'd', func: 'b'}], ['a e = 8'], 7],
    ['collapsing a function turns its subtree into self time', [{key: 'c', func: 'b'}], ['a b = 3', 'a e b = 4', 'a e = 8'], 0],
    ['only matching stacks are kept', [{key: '+', text: 'e'}], ['a e b d = 4', 'a e = 8'], 3],
    ['matching stacks are hidden', [{key: '-', text: 'e'}], ['a b c = 1', 'a b d = 2'], 12],
];

for (const [name, steps, stacks, dropped] of CASES)
    test(name, () => assert.deepEqual(stacksAfter(sample(), steps), {stacks: stacks.sort(), dropped}));

test('collapsing an object replaces each run of its frames by one frame', () => {
    const maker = new Maker().sample('a x@libc y@libc b x@libc').sample('a y@libc');
    assert.deepEqual(stacksAfter(maker, [{key: 'C', object: 'libc'}]).stacks, ['a [libc] = 1', 'a [libc] b [libc] = 1'].sort());
});

test('collapsing recursion removes all frames from the first to the last of the function', () => {
    const maker = new Maker().sample('a f b f c').sample('a f b').sample('a f f');
    assert.deepEqual(stacksAfter(maker, [{key: 'r', func: 'f'}]).stacks, ['a f = 1', 'a f b = 1', 'a f c = 1']);
});

test('collapsing direct recursion keeps indirect recursion', () => {
    const maker = new Maker().sample('a f f f b f f');
    assert.deepEqual(stacksAfter(maker, [{key: 'R', func: 'f'}]).stacks, ['a f b f = 1']);
});

test('collapsing the kernel leaves one kernel frame', () => {
    const maker = new Maker().sample('a read sys@[kernel] vfs@[kernel]').sample('a sys@[kernel]');
    assert.deepEqual(stacksAfter(maker, [{key: 'k'}]).stacks, ['a [kernel] = 1', 'a read [kernel] = 1']);
});

test('inlined frames are merged into the function that contains them', () => {
    assert.deepEqual(stacksAfter(new Maker().sample("a b' c' d").sample('a d'), [{key: 'i'}]).stacks, ['a d = 2']);
});

// --- Random stacks, compared with lists of names.

const first = (stack, f) => stack.indexOf(f);
const LISTS = {
    f: (stack, f) => first(stack, f) < 0 ? null : stack.slice(first(stack, f)),
    S: (stack, f) => stack[stack.length - 1] === f ? stack : null,
    m: (stack, f) => stack.filter((name) => name !== f),
    d: (stack, f) => stack.includes(f) ? null : stack,
    c: (stack, f) => first(stack, f) < 0 ? stack : stack.slice(0, first(stack, f) + 1),
    r: (stack, f) => first(stack, f) < 0 ? stack : [...stack.slice(0, first(stack, f)), ...stack.slice(stack.lastIndexOf(f))],
    R: (stack, f) => stack.filter((name, i) => name !== f || stack[i - 1] !== f),
};

function randomOf(seed) {
    let state = seed;
    return (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0, (state >>> 8) % n);
}

function expected(stacks, steps) {
    const lines = new Map();
    let dropped = 0;
    for (const {stack, weight} of stacks) {
        let list = stack;
        for (const step of steps) list = list && list.length ? LISTS[step.key](list, step.func) : null;
        if (!list || !list.length) dropped += weight;
        else lines.set(list.join(' '), (lines.get(list.join(' ')) || 0) + weight);
    }
    return {stacks: [...lines].map(([stack, weight]) => `${stack} = ${weight}`).sort(), dropped};
}

test('random steps on random stacks match the implementation on lists of names', () => {
    for (let seed = 1; seed <= 300; seed++) {
        const random = randomOf(seed * 7919), maker = new Maker(), stacks = [];
        for (const f of 'abcde') maker.func(`${f}@prog`);
        for (let i = 0; i < 40; i++) {
            const stack = Array.from({length: 1 + random(9)}, () => 'abcde'[random(5)]), weight = 1 + random(1000);
            stacks.push({stack, weight});
            maker.sample(stack.join(' '), {weight});
        }
        const steps = Array.from({length: 1 + random(3)}, () => ({key: 'fSmdcrR'[random(7)], func: 'abcde'[random(5)]}));
        assert.deepEqual(stacksAfter(maker, steps), expected(stacks, steps), JSON.stringify({seed, steps}));
        if (!'Sf'.includes(steps[0].key)) // repeating a step changes nothing
            assert.deepEqual(stacksAfter(maker, [steps[0], steps[0]]), stacksAfter(maker, [steps[0]]));
    }
});

test('every step has a name', () => {
    for (const step of Object.values(STEPS)) assert.match(step.name, /^[A-Z]/);
});
