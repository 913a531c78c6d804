# SPDX-License-Identifier: Apache-2.0
"""The view of a model in notebooks: facts, losses and a small flame graph, as HTML without scripts."""
from __future__ import annotations

import html
import zlib
from typing import TYPE_CHECKING, List, Tuple

if TYPE_CHECKING:
    from perfray._model import Model
    from perfray._weights import Node, Tree

_LEVELS = 24
_LEAST = 0.4       # percent of the width
_MOST_BOXES = 2000
_HEIGHT = 17       # pixels


def _box(node: "Node", left: float, level: int) -> str:
    name = html.escape(node.name)
    held_by = html.escape(node.symbol.object.name) if node.symbol else ""
    hue = 15 + zlib.crc32(node.name.encode()) % 40
    return ('<div title="%s (%s) %.2f %%" style="position:absolute;left:%.3f%%;width:%.3f%%;top:%dpx;height:%dpx;overflow:hidden;'
            'white-space:nowrap;box-sizing:border-box;border:1px solid #fff;background:hsl(%d,85%%,72%%);color:#000;'
            'font:11px sans-serif;padding-left:2px">%s</div>'
            % (name, held_by, node.percent, left, node.percent, level * _HEIGHT, _HEIGHT, hue, name))


def flame(tree: "Tree") -> str:
    """A flame graph with callers above callees. Boxes that are too narrow or too deep are left out and counted."""
    boxes: List[str] = []
    waiting: List[Tuple[int, float, "Node"]] = []
    left_out = deepest = 0

    def push(level: int, left: float, nodes: List["Node"]) -> None:
        for node in nodes:
            waiting.append((level, left, node))
            left += node.percent
    push(0, 0.0, tree.children)
    while waiting:
        level, left, node = waiting.pop()
        if node.percent < _LEAST or level >= _LEVELS or len(boxes) >= _MOST_BOXES:
            left_out += 1
            continue
        boxes.append(_box(node, left, level))
        deepest = max(deepest, level + 1)
        push(level + 1, left, node.children)
    more = "; %d boxes are too small or too deep to show" % left_out if left_out else ""
    return ('<div style="position:relative;height:%dpx">%s</div><small>%s, %d samples%s</small>'
            % (deepest * _HEIGHT, "".join(boxes), html.escape(tree.event.name), tree.event.samples, more))


def model(of: "Model") -> str:
    facts = "%d samples, %d calls, %d threads" % (of.sample_count, of.call_count, len(of.threads))
    losses = of._loss_text()
    style = ' style="color:#b00"' if of.losses else ""
    graph = flame(of.tree()) if len(of.events) else ""
    return "<div><b>%s</b>: %s; <span%s>%s</span></div>%s" % (html.escape(of._inputs[0].shown), facts, style, html.escape(losses), graph)
