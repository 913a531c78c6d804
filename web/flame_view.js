// SPDX-License-Identifier: Apache-2.0
// The flame graph: boxes on a canvas, with an invisible tree over it for the keyboard and screen readers.
import {el, fill, fitCanvas, onceAFrame} from './dom.js';
import {formatShare, formatWeight, groupDigits, shortName} from './format.js';
import {ancestorsOf, boxAt, layOutInverted, layOutTree, siblingOrder} from './layout.js';
import {invertedRoots, sortedChildren} from './tree.js';

export const ROW = 20;
const LABELS_MOST = 400;
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const NEIGHBOURS = 20;
const CHILDREN_SHOWN = 20;

// Draws boxes; shared by the flame graph, the diff and both halves of the sandwich.
export class BoxPainter {
    constructor(app, canvas) {
        this.app = app;
        this.canvas = canvas;
        this.drawn = {boxes: 0, labels: 0, ms: 0};
    }
    // `funcOf(box)` is null for the root and for merged boxes. Rows grow downwards, or upwards with `upwards`.
    paint(boxes, {width, height, scroll, funcOf, upwards, rows, dimAbove, ...own}) {
        const began = performance.now();
        this.context = fitCanvas(this.canvas, width, height);
        this.context.font = FONT;
        this.charWidth = this.charWidth || this.context.measureText('m').width;
        this.own = own; // colourOf, labelOf, hatched, framed; for views that change these
        this.place = {width, height, scroll, upwards, rows};
        this.labels = 0;
        this.theme = this.app.themeColours();
        const visible = boxes.filter((box) => this.isVisible(box));
        for (const box of visible) this.paintBox(box, funcOf(box), box.row < dimAbove);
        this.drawn = {boxes: visible.length, labels: this.labels, ms: performance.now() - began};
    }
    top(row) {
        const at = this.place.upwards ? this.place.rows - 1 - row : row;
        return at * ROW - this.place.scroll;
    }
    isVisible(box) {
        const y = this.top(box.row);
        return y + ROW > 0 && y < this.place.height;
    }
    paintBox(box, func, dimmed) {
        const x = box.x * this.place.width, width = Math.max(1, box.width * this.place.width - 1), y = this.top(box.row);
        const colour = this.colourOf(box, func);
        this.context.globalAlpha = dimmed ? 0.55 : 1;
        this.context.fillStyle = colour.fill;
        this.context.fillRect(x, y, width, ROW - 1);
        this.context.globalAlpha = 1;
        if (box.node === null || (this.own.hatched && this.own.hatched(box))) this.paintHatch(x, y, width);
        this.paintOutline(func, x, y, width, this.own.framed ? this.own.framed(box) : null);
        this.paintLabel(this.own.labelOf ? this.own.labelOf(box, func) : this.app.labelOf(box, func), x, y, width, colour.ink);
    }
    colourOf(box, func) {
        if (this.own.colourOf) return this.own.colourOf(box);
        if (func === null) return {fill: this.theme.raise, ink: this.theme.fg};
        return this.app.colours().of(func);
    }
    paintHatch(x, y, width) {
        this.context.fillStyle = this.theme.mute;
        for (let at = 0; at < width; at += 4) this.context.fillRect(x + at, y, 1, ROW - 1);
    }
    paintOutline(func, x, y, width, frame) {
        const search = this.app.search(), hit = func !== null && search && search.marked && search.marked[func];
        const chosen = func !== null && func === this.app.state.func;
        if (!hit && !chosen && !frame) return;
        this.context.lineWidth = 2;
        this.context.strokeStyle = chosen ? this.theme.acc : hit ? this.theme.hit : frame;
        this.context.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), ROW - 3);
        if (hit && width < 4) {
            this.context.fillStyle = this.theme.hit;
            this.context.fillRect(x, y, width, ROW - 1);
        }
    }
    paintLabel(text, x, y, width, ink) {
        const room = Math.floor((width - 6) / this.charWidth);
        if (room < 3 || this.labels >= LABELS_MOST) return;
        this.labels++;
        this.context.fillStyle = ink;
        this.context.fillText(shortName(text, room), x + 3, y + 14);
    }
}

export class FlameView {
    constructor(app) {
        this.app = app;
        this.canvas = el('canvas', {'aria-hidden': 'true'});
        this.tree = el('div', {class: 'boxes', role: 'tree', tabindex: '0', 'aria-label': 'Flame graph'});
        this.note = el('p', {class: 'empty', hidden: true});
        this.element = el('div', {class: 'flame', role: 'tabpanel', 'aria-label': 'Flame graph'}, this.canvas, this.tree, this.note);
        this.painter = new BoxPainter(app, this.canvas);
        this.scroll = 0;
        this.zoomed = null; // a node of the inverted tree, whose nodes have no permanent ids
        this.redraw = onceAFrame(() => this.draw());
        this.listen();
    }
    listen() {
        this.tree.addEventListener('mousemove', (event) => this.hover(event));
        this.tree.addEventListener('mouseleave', () => this.app.hover(null));
        this.tree.addEventListener('click', (event) => this.click(event));
        this.tree.addEventListener('dblclick', (event) => this.zoomTo(this.boxOf(event)));
        this.tree.addEventListener('contextmenu', (event) => this.openMenu(event));
        this.tree.addEventListener('keydown', (event) => this.key(event));
        this.tree.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    }

    // --- Layout.

    layOut(width) {
        const state = this.app.state, view = this.app.view();
        const key = [view.key, state.inverted, state.order, state.zoom, width].join(' ');
        if (this.key_ === key && this.zoomedBefore === this.zoomed) return;
        this.key_ = key;
        this.zoomedBefore = this.zoomed;
        this.boxes = state.inverted ? this.layOutInverted(view, width) : this.layOutCallees(view, state, width);
        this.rows = this.boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
    }
    layOutCallees(view, state, width) {
        const zoom = state.zoom !== null && state.zoom < view.tree.count && view.total[state.zoom] > 0 ? state.zoom : 0;
        this.compare = siblingOrder(state.order, view.tree, view.total, (func) => this.app.functions.nameOf(func),
                                    state.order === 'time' ? this.app.derivations.firstOf(state) : null);
        this.above = zoom ? ancestorsOf(view.tree, zoom).map((node, row) => ({node, x: 0, width: 1, row})) : [];
        const below = layOutTree(view.tree, view.children, view.total, zoom, width, this.compare);
        for (const box of below) box.row += this.above.length;
        return [...this.above, ...below];
    }
    layOutInverted(view, width) {
        this.above = [];
        view.roots = view.roots || invertedRoots(view.tree, view.self);
        return layOutInverted(view.tree, this.zoomed || view.roots, width);
    }
    funcOf(box) {
        if (box.node === null || box.node === 0) return null;
        if (!this.app.state.inverted) return this.app.view().tree.func[box.node];
        return box.node.func === undefined ? null : box.node.func;
    }
    nodeOf(box) {
        return box && !this.app.state.inverted && box.node > 0 ? box.node : null;
    }
    weightOf(box) {
        const view = this.app.view();
        if (box.nodes && box.node === null) return box.nodes.reduce((sum, node) => sum + this.weightOf({node}), 0);
        return typeof box.node === 'number' ? view.total[box.node] : box.node.total;
    }

    // --- Drawing.

    render() {
        const width = this.element.clientWidth, height = this.element.clientHeight, view = this.app.view();
        if (!width || !height) return;
        this.note.hidden = view.total[0] > 0;
        this.note.textContent = view.total[0] > 0 ? '' : this.app.emptyReason();
        this.layOut(width);
        this.scroll = Math.max(0, Math.min(this.scroll, this.rows * ROW - height));
        this.describeTree(view);
        this.redraw();
    }
    draw() {
        if (!this.boxes) return;
        this.painter.paint(this.boxes, {width: this.element.clientWidth, height: this.element.clientHeight, scroll: this.scroll,
                                        funcOf: (box) => this.funcOf(box), rows: this.rows, dimAbove: this.above.length});
    }

    // --- The tree for users who cannot see the canvas: the selected node with its ancestors, siblings and children.

    describeTree(view) {
        if (this.app.state.inverted) return fill(this.tree, ...this.describeInverted(view));
        const chosen = this.app.state.node !== null && this.app.state.node < view.tree.count ? this.app.state.node : 0;
        const path = [...ancestorsOf(view.tree, chosen), chosen];
        const items = path.slice(0, -1).map((node, level) => this.treeItem(view, node, level + 1, 1, 1, false));
        const siblings = chosen ? this.childrenOf(view, view.tree.parent[chosen]) : [0], at = siblings.indexOf(chosen);
        siblings.forEach((node, i) => {
            if (Math.abs(i - at) <= NEIGHBOURS) items.push(this.treeItem(view, node, path.length, i + 1, siblings.length, node === chosen));
        });
        const children = this.childrenOf(view, chosen);
        children.slice(0, CHILDREN_SHOWN).forEach((node, i) =>
            items.push(this.treeItem(view, node, path.length + 1, i + 1, children.length, false)));
        this.tree.setAttribute('aria-activedescendant', `node-${chosen}`);
        return fill(this.tree, ...items);
    }
    childrenOf(view, node) {
        return sortedChildren(view.children, node, this.compare).filter((child) => view.total[child] > 0);
    }
    treeItem(view, node, level, place, count, chosen) {
        return el('div', {class: 'unseen', role: 'treeitem', id: `node-${node}`, 'aria-level': level, 'aria-posinset': place,
                          'aria-setsize': count, 'aria-selected': String(chosen), text: this.describe(node ? view.tree.func[node] : null,
                          view.total[node], node ? view.self[node] : 0)});
    }
    describeInverted(view) {
        return view.roots.slice(0, CHILDREN_SHOWN).map((node, i) => el('div', {
            class: 'unseen', role: 'treeitem', 'aria-level': 1, 'aria-posinset': i + 1, 'aria-setsize': view.roots.length,
            text: this.describe(node.func, node.total, node.total)}));
    }
    describe(func, total, self) {
        const view = this.app.view(), unit = this.app.unit(), name = func === null ? 'all' : this.app.functions.nameOf(func);
        return `${name}, ${formatShare(total, view.total[0])}, ${formatWeight(total, unit)}, self ${formatWeight(self, unit)}`;
    }

    // --- The pointer.

    boxOf(event) {
        const frame = this.element.getBoundingClientRect();
        const row = Math.floor((event.clientY - frame.top + this.scroll) / ROW);
        return this.boxes ? boxAt(this.boxes, (event.clientX - frame.left) / frame.width, row) : null;
    }
    hover(event) {
        const box = this.boxOf(event);
        this.app.hover(box ? this.describeBox(box) + (box.node === null ? ': double-click to zoom in' : '') : null);
    }
    describeBox(box) {
        const weight = this.weightOf(box), share = formatShare(weight, this.app.view().total[0]);
        if (box.node === null) return `${groupDigits(box.nodes.length)} frames, ${share} of selection`;
        return `${this.describe(this.funcOf(box), weight, this.selfOf(box))} (${share} of selection)`;
    }
    selfOf(box) {
        return typeof box.node === 'number' ? this.app.view().self[box.node] : 0;
    }
    click(event) {
        const box = this.boxOf(event);
        if (!box) return;
        this.app.select(this.funcOf(box), this.nodeOf(box) ?? (box.node === 0 ? 0 : null));
    }
    openMenu(event) {
        const box = this.boxOf(event);
        if (!box || this.funcOf(box) === null) return;
        event.preventDefault();
        this.app.select(this.funcOf(box), this.nodeOf(box));
        this.app.openMenu(event.clientX, event.clientY);
    }
    wheel(event) {
        event.preventDefault();
        if (event.ctrlKey) return event.deltaY < 0 ? this.zoomTo(this.boxOf(event)) : this.zoomOut();
        this.scroll += event.deltaY;
        this.scroll = Math.max(0, Math.min(this.scroll, this.rows * ROW - this.element.clientHeight));
        this.redraw();
    }

    // --- Zoom, which changes only the layout, not the weights or shares.

    zoomTo(box) {
        if (!box) return;
        if (this.app.state.inverted) {
            this.zoomed = box.node === null ? null : box.node.func === undefined ? null : box.node;
            return this.render();
        }
        const node = box.node === null ? this.app.view().tree.parent[box.nodes[0]] : box.node;
        this.app.change({zoom: node > 0 ? node : null, node: box.node === null ? box.nodes[0] : box.node});
    }
    zoomOut() {
        if (this.app.state.inverted) {
            this.zoomed = this.zoomed && this.zoomed.parent;
            return this.render();
        }
        const zoom = this.app.state.zoom;
        if (zoom === null) return undefined;
        const parent = this.app.view().tree.parent[zoom];
        return this.app.change({zoom: parent > 0 ? parent : null});
    }

    // --- The keyboard.

    key(event) {
        const moves = {ArrowDown: 'child', ArrowUp: 'parent', ArrowLeft: 'before', ArrowRight: 'after'};
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (moves[event.key]) this.move(moves[event.key]);
        else if (event.key === 'Enter') this.zoomTo({node: this.app.state.node ?? 0});
        else if (event.key === 'ContextMenu' || event.key === '.') this.app.openMenuAtSelection();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
    move(to) {
        if (this.app.state.inverted) return;
        const view = this.app.view(), node = this.app.state.node ?? 0, next = this.neighbour(view, node, to);
        if (next === undefined) return;
        this.app.select(next ? view.tree.func[next] : null, next);
        this.reveal(next);
    }
    neighbour(view, node, to) {
        if (to === 'child') return this.childrenOf(view, node)[0];
        if (to === 'parent') return node ? view.tree.parent[node] : undefined;
        if (!node) return undefined;
        const siblings = this.childrenOf(view, view.tree.parent[node]);
        return siblings[siblings.indexOf(node) + (to === 'after' ? 1 : -1)];
    }
    reveal(node) {
        const box = this.boxes.find((b) => b.node === node);
        if (!box) return;
        const top = box.row * ROW;
        if (top < this.scroll) this.scroll = top;
        if (top + ROW > this.scroll + this.element.clientHeight) this.scroll = top + ROW - this.element.clientHeight;
        this.redraw();
    }
}
