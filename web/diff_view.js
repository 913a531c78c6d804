// SPDX-License-Identifier: Apache-2.0
// The diff of two recordings: a flame graph of both in which colours show changes, and a table of functions sorted by
// change.
import {DIFF_PALETTES, inkOn} from './colours.js';
import {byChange, changeOf, changeText, intervalText, stepsOfChange, WIDTHS, widthsOf} from './diff.js';
import {el, fill, onceAFrame} from './dom.js';
import {BoxPainter, ROW} from './flame_view.js';
import {formatShare, formatWeight, groupDigits, shortName} from './format.js';
import {boxAt, layOutTree, siblingOrder} from './layout.js';

const CHANGES_LISTED = 200;

export class DiffView {
    constructor(app) {
        this.app = app;
        this.canvas = el('canvas', {'aria-hidden': 'true'});
        this.boxes = [];
        this.scroll = 0;
        this.graph = el('div', {class: 'flame', tabindex: '0', role: 'img', 'aria-label': 'Flame graph of both recordings'}, this.canvas);
        this.legend = el('p', {class: 'dim'});
        this.table = el('div', {class: 'functions changes', tabindex: '0', role: 'group', 'aria-label': 'Functions by change'});
        this.element = el('div', {class: 'diff', role: 'tabpanel', 'aria-label': 'Diff'}, this.graph, this.table);
        this.painter = new BoxPainter(app, this.canvas);
        this.redraw = onceAFrame(() => this.draw());
        this.graph.addEventListener('mousemove', (event) => this.hover(event));
        this.graph.addEventListener('mouseleave', () => app.hover(null));
        this.graph.addEventListener('click', (event) => this.click(event));
        this.graph.addEventListener('dblclick', (event) => this.zoomTo(this.boxOf(event)));
        this.graph.addEventListener('keydown', (event) => this.key(event));
        this.graph.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    }
    render() {
        const diff = this.app.derivations.diffOf(this.app.state), width = this.graph.clientWidth;
        if (!diff) return fill(this.table, el('p', {class: 'empty', text: 'Nothing to compare: write the page with perfray view --diff BASE.'}));
        this.diff = diff;
        this.renderTable(diff);
        if (width) this.layOut(diff, width);
        return this.redraw();
    }
    layOut({tree, children, totals}, width) {
        const {zoom, width: mode} = this.app.state, widths = widthsOf(totals, mode);
        const root = zoom !== null && zoom < tree.count && widths[zoom] > 0 ? zoom : 0;
        this.boxes = layOutTree(tree, children, widths, root, width, siblingOrder('weight', tree, widths, null, null));
        this.rows = this.boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
    }
    // The result of perfray diff for a function, callees included; for the root, the result for [total].
    knownOf(func) {
        const {known} = this.diff, row = known && (func === null ? known.total : known.of.get(func));
        return row ? row.total : null;
    }
    changeOfNode(node) {
        const {totals, tree} = this.diff;
        return changeOf(totals.a[node], totals.b[node], totals, node ? this.knownOf(tree.func[node]) : null);
    }
    funcOf(box) { return box.node === null || box.node === 0 ? null : this.diff.tree.func[box.node]; }
    draw() {
        if (!this.diff) return;
        const palette = DIFF_PALETTES[this.app.theme()], theme = this.app.themeColours();
        this.painter.paint(this.boxes, {width: this.graph.clientWidth, height: this.graph.clientHeight, scroll: this.scroll, rows: this.rows, dimAbove: 0, funcOf: (box) => this.funcOf(box),
            colourOf: (box) => {
                if (!box.node) return {fill: theme.raise, ink: theme.fg};
                const {step} = this.changeOfNode(box.node);
                return {fill: palette[step + 3], ink: inkOn(palette[step + 3])};
            },
            labelOf: (box, func) => box.node ? `${shortName(this.app.functions.nameOf(func), 40)} ${changeText(this.changeOfNode(box.node))}` : box.node === 0 ? this.heading() : '',
            hatched: (box) => box.node > 0 && this.changeOfNode(box.node).isGone,
            framed: (box) => box.node > 0 && this.changeOfNode(box.node).isNew ? theme.new : null});
    }
    heading() {
        const {totals} = this.diff, unit = this.app.unit(), total = this.knownOf(null);
        const change = total ? `: ${total.delta >= 0 ? '+' : '−'}${Math.abs(total.delta).toFixed(2)} % ${intervalText(total)}` : '';
        return `baseline ${formatWeight(totals.totalA, unit)}, new ${formatWeight(totals.totalB, unit)}${change}; widths: ${this.app.state.width} (w)`;
    }
    statusOf(box) {
        if (box.node === null) return `${groupDigits(box.nodes.length)} frames`;
        const {totals} = this.diff, unit = this.app.unit(), change = this.changeOfNode(box.node), name = box.node ? this.app.functions.nameOf(this.funcOf(box)) : 'all';
        const noise = change.known ? `; the function ${intervalText(change.known)}, ${change.known.verdict} (${groupDigits(totals.countsA[box.node])} → ${groupDigits(totals.countsB[box.node])} samples)` : '';
        return `${name}: ${formatWeight(totals.a[box.node], unit)} → ${formatWeight(totals.b[box.node], unit)}, ${changeText(change)}${noise}`;
    }

    // --- The table: functions sorted by the size of their change.

    renderTable({rows, totals, known}) {
        const unit = this.app.unit(), made = rows.map((row) => ({...row, change: changeOf(row.a, row.b, totals, this.knownOf(row.func))})).sort(byChange);
        const heads = ['baseline', 'new', 'change', '95 % interval', 'verdict', 'function'].map((text, i) => el('th', {scope: 'col', class: i < 4 ? 'number' : 'text', text}));
        const body = made.slice(0, CHANGES_LISTED).map((row) => el('tr', {'data-func': row.func, class: row.func === this.app.state.func ? 'chosen' : row.change.isNoise ? 'dim' : '', onclick: () => this.app.select(row.func, null)},
            el('td', {class: 'number', 'data-weight': row.a, text: `${formatWeight(row.a, unit)} ${formatShare(row.a, totals.totalA)}`}),
            el('td', {class: 'number', 'data-weight': row.b, text: `${formatWeight(row.b, unit)} ${formatShare(row.b, totals.totalB)}`}),
            el('td', {class: 'number', 'data-points': row.change.points, text: changeText(row.change)}), el('td', {class: 'number interval', text: intervalText(row.change.known)}),
            el('td', {class: 'text verdict', text: row.change.known ? row.change.known.verdict : ''}),
            el('td', {class: 'name', title: this.app.functions.nameOf(row.func)}, el('button', {class: 'link', text: shortName(this.app.functions.nameOf(row.func), 80)}))));
        const source = known ? 'Intervals and verdicts are those of perfray diff; noise is grey.' : 'Intervals are known of whole recordings and their weights, not of this selection.';
        this.legend.textContent = `Colours change at ${stepsOfChange.join(', ')} points. ${source} Hatched: gone. Framed: new.`;
        fill(this.table, this.legend, el('table', {'aria-label': 'Functions by change'}, el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...body)),
             made.length > CHANGES_LISTED ? el('p', {class: 'dim', text: `${groupDigits(made.length - CHANGES_LISTED)} functions that changed less are not listed.`}) : null);
    }

    // The rows as tab-separated values, in the order shown.
    tsv() {
        if (!this.diff) return '';
        const unit = this.app.unitName(), {rows, totals} = this.diff, clean = (text) => text.replace(/[\t\n]/g, ' ');
        const made = rows.map((row) => ({...row, change: changeOf(row.a, row.b, totals, this.knownOf(row.func))})).sort(byChange);
        return [`baseline_${unit}\tnew_${unit}\tchange_points\tinterval\tverdict\tfunction`, ...made.map(({a, b, change, func}) =>
            [a, b, change.points, intervalText(change.known), change.known ? change.known.verdict : '', clean(this.app.functions.nameOf(func))].join('\t'))].join('\n') + '\n';
    }

    // --- The pointer and the keyboard.

    boxOf(event) {
        const frame = this.graph.getBoundingClientRect();
        return boxAt(this.boxes, (event.clientX - frame.left) / frame.width, Math.floor((event.clientY - frame.top + this.scroll) / ROW));
    }
    hover(event) {
        const box = this.boxOf(event);
        this.app.hover(box ? this.statusOf(box) : null);
    }
    click(event) {
        const box = this.boxOf(event);
        if (box && box.node !== null) this.app.select(this.funcOf(box), box.node);
    }
    zoomTo(box) {
        if (box) this.app.change({zoom: box.node > 0 ? box.node : null});
    }
    wheel(event) {
        event.preventDefault();
        this.scroll = Math.max(0, Math.min(this.scroll + event.deltaY, this.rows * ROW - this.graph.clientHeight));
        this.redraw();
    }
    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === 'w') this.app.change({width: WIDTHS[(WIDTHS.indexOf(this.app.state.width) + 1) % WIDTHS.length]});
        else if (event.key === 'Enter') this.zoomTo({node: this.app.state.node ?? 0});
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}
