// SPDX-License-Identifier: Apache-2.0
// Callers and callees of one function: callers above its bar, callees below, both in the same scale.
import {KIND} from './data.js';
import {el, fitCanvas, onceAFrame} from './dom.js';
import {BoxPainter, ROW} from './flame_view.js';
import {boxAt, layOutInverted, layOutTree, siblingOrder} from './layout.js';
import {applySteps, moveWeights} from './transforms.js';
import {callersOf, childrenOf, totalsOf} from './tree.js';
import {formatShare, formatWeight} from './format.js';
import {TableView} from './table_view.js';

// Label of the weight of stacks in which the function is the outermost frame. Libraries without
// frame pointers end stacks early.
export const NO_CALLER = 'no caller in the stack';
export function noCallerHint(functions, func) {
    return functions.kindOf(func) === KIND.library ? ': libraries without frame pointers need record --call-graph dwarf' : '';
}

const FRAMES_MOST = 400; // some browsers draw nothing on a canvas taller than 32767 pixels

export class SandwichView {
    constructor(app) {
        this.app = app;
        this.table = new TableView(app, {compact: true});
        this.callers = this.half('Callers', true);
        this.callees = this.half('Callees', false);
        this.bar = el('div', {class: 'bar', role: 'status'});
        this.right = el('div', {class: 'halves'}, this.callers.element, this.bar, this.callees.element);
        this.element = el('div', {class: 'sandwich', role: 'tabpanel', 'aria-label': 'Callers & callees'}, this.table.element, this.right);
        this.redraw = onceAFrame(() => this.draw());
    }
    half(name, upwards) {
        const canvas = el('canvas', {'aria-hidden': 'true'}), element = el('div', {class: 'half', 'aria-label': name, role: 'group'}, canvas);
        const half = {element, canvas, upwards, painter: new BoxPainter(this.app, canvas), boxes: [], rows: 1};
        element.addEventListener('mousemove', (event) => this.hover(half, event));
        element.addEventListener('click', (event) => this.click(half, event));
        element.addEventListener('contextmenu', (event) => this.openMenu(half, event));
        return half;
    }
    render() {
        const {func} = this.app.state, view = this.app.view();
        this.table.render();
        if (func === null) {
            this.bar.textContent = 'Choose a function in the table.';
            this.callers.boxes = this.callees.boxes = [];
            return this.redraw();
        }
        this.layOut(view, func, Math.max(this.right.clientWidth, 1));
        const unit = this.app.unit();
        this.bar.textContent = `${this.app.functions.nameOf(func)}: ${formatWeight(this.weight, unit)}, ${formatShare(this.weight, view.total[0])} of selection`;
        return this.redraw();
    }
    layOut(view, func, width) {
        const root = callersOf(view.tree, view.total, view.outer, func);
        this.weight = root.total;
        this.callers.boxes = layOutInverted(view.tree, root, width).filter((box) => box.row > 0);
        this.callers.func = (box) => box.node === null ? null : box.node.func;
        const {tree, map} = applySteps(view.tree, [{key: 'f', id: func}], this.app.functions);
        const {self} = moveWeights(view.self, map, tree.count), total = totalsOf(tree, self);
        const compare = siblingOrder('weight', tree, total, null, null);
        this.callees.boxes = layOutTree(tree, childrenOf(tree), total, 1, width, compare).filter((box) => box.row > 0);
        this.callees.func = (box) => box.node === null ? null : tree.func[box.node];
        for (const half of [this.callers, this.callees]) {
            for (const box of half.boxes) box.row -= 1;
            half.rows = half.boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
        }
        this.calleesTotal = total;
    }
    draw() {
        for (const half of [this.callers, this.callees]) {
            const width = half.element.clientWidth, rows = Math.min(half.rows, FRAMES_MOST);
            if (!width) continue;
            if (!half.boxes.length) fitCanvas(half.canvas, width, 1);
            else half.painter.paint(half.boxes, {width, height: rows * ROW, scroll: 0, upwards: half.upwards, rows, funcOf: half.func, labelOf: (box, func) => this.labelOf(box, func), dimAbove: 0});
            if (half.upwards) half.element.scrollTop = half.element.scrollHeight;
        }
    }
    labelOf(box, func) { return box.node !== null && func === null ? NO_CALLER : this.app.labelOf(box, func); }
    boxOf(half, event) {
        const frame = half.canvas.getBoundingClientRect(), row = Math.floor((event.clientY - frame.top) / ROW);
        return boxAt(half.boxes, (event.clientX - frame.left) / frame.width, half.upwards ? Math.min(half.rows, FRAMES_MOST) - 1 - row : row);
    }
    hover(half, event) {
        const box = this.boxOf(half, event);
        if (!box || box.node === null) return this.app.hover(null);
        const weight = typeof box.node === 'number' ? this.calleesTotal[box.node] : box.node.total;
        const {functions, state} = this.app, func = half.func(box), name = func === null ? NO_CALLER + noCallerHint(functions, state.func) : functions.nameOf(func);
        return this.app.hover(`${name}, ${formatWeight(weight, this.app.unit())}, ${formatShare(weight, this.weight)} of ${functions.nameOf(state.func)}`);
    }
    click(half, event) {
        const box = this.boxOf(half, event);
        if (box && box.node !== null && half.func(box) !== null) this.app.select(half.func(box), null);
    }
    openMenu(half, event) {
        const box = this.boxOf(half, event);
        if (!box || box.node === null || half.func(box) === null) return;
        event.preventDefault();
        this.app.select(half.func(box), null);
        this.app.openMenu(event.clientX, event.clientY);
    }
    tsv() { return this.table.tsv(); }
}
