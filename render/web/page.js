// Runs in a world of its own beside the page's scripts, which cannot touch it. Boxes are in CSS pixels.
// `gm.collect` reads, `gm.recolour` paints the id map, `gm.hits` asks which element lies at points.
globalThis.gm = (() => {
  const PAINTED = 1, INLINE = 2, CUT = 4, SEVERAL = 8, THEMED = 16;
  const REPLACED = new Set(['IMG', 'CANVAS', 'VIDEO', 'SVG', 'INPUT', 'SELECT', 'TEXTAREA', 'PROGRESS', 'METER', 'HR']);
  // Drawn by the browser's theme in colours of its own, whatever the style sheet says.
  const THEMED_TYPES = new Set(['checkbox', 'radio', 'range', 'color', 'file']);
  const UNREAD = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'TITLE', 'OPTION', 'NOSCRIPT']);
  const SHOWN = {checkOpacity: true, checkVisibilityCSS: true};
  // Fields of a form hide its properties of the same name, so those are asked of the prototypes.
  const getter = (proto, name) => { const get = Object.getOwnPropertyDescriptor(proto, name).get; return (e) => get.call(e); };
  const E = Element.prototype, parentOf = getter(Node.prototype, 'parentElement'), tagOf = getter(E, 'tagName');
  const idOf = getter(E, 'id'), htmlStyle = getter(HTMLElement.prototype, 'style'), svgStyle = getter(SVGElement.prototype, 'style');
  const styleOf = (e) => e instanceof HTMLElement ? htmlStyle(e) : e instanceof SVGElement ? svgStyle(e) : null;
  const rectOf = (e) => E.getBoundingClientRect.call(e), shownBy = (e, how) => E.checkVisibility.call(e, how);
  let els = [], index = new Map(), state = null;

  const round = (v) => Math.round(v * 1024) / 1024;
  const box = (r) => [round(r.left), round(r.top), round(r.right), round(r.bottom)];
  const clear = (color) => /^rgba\(.*, 0\)$/.test(color) || color === 'transparent' || /\/ 0\)$/.test(color);

  function bordered(s) {
    return ['Top', 'Right', 'Bottom', 'Left'].some((side) =>
      parseFloat(s[`border${side}Width`]) > 0 && !['none', 'hidden'].includes(s[`border${side}Style`]) &&
      !clear(s[`border${side}Color`]));
  }
  function painted(s) {
    return !clear(s.backgroundColor) || s.backgroundImage !== 'none' || bordered(s);
  }
  function inView(r) {
    return r.right > 0 && r.bottom > 0 && r.left < innerWidth && r.top < innerHeight && r.width > 0 && r.height > 0;
  }
  // Area of the element's own rectangles inside the picture, without what round corners take away.
  function area(rects, s) {
    let sum = 0;
    for (const r of rects) {
      const w = Math.min(r.right, innerWidth) - Math.max(r.left, 0);
      const h = Math.min(r.bottom, innerHeight) - Math.max(r.top, 0);
      if (w <= 0 || h <= 0) continue;
      let cut = 0;
      for (const corner of ['TopLeft', 'TopRight', 'BottomLeft', 'BottomRight']) {
        const [a, b] = s[`border${corner}Radius`].split(' ');
        const rx = Math.min(a.endsWith('%') ? parseFloat(a) / 100 * r.width : parseFloat(a), r.width / 2);
        const v = b ?? a;
        const ry = Math.min(v.endsWith('%') ? parseFloat(v) / 100 * r.height : parseFloat(v), r.height / 2);
        cut += (1 - Math.PI / 4) * rx * ry;
      }
      sum += Math.max(w * h - cut, w * h * Math.PI / 4);
    }
    return round(sum);
  }
  const scrolled = (e) => getter(E, 'scrollWidth')(e) > getter(E, 'clientWidth')(e) + 1;

  function element(e, i, parents) {
    const shown = shownBy(e, SHOWN);
    const r = rectOf(e);
    const seen = shown && inView(r);
    const svgPart = e instanceof SVGElement && tagOf(e) !== 'svg';
    const one = {tag: tagOf(e).toUpperCase(), parent: parents[i], box: seen ? box(r) : null, flags: 0, area: 0, id: idOf(e)};
    state.push({shown, seen, svgPart, style: null, own: false});
    if (!seen || svgPart) return one;
    const s = getComputedStyle(e);
    state[i].style = s;
    const rects = E.getClientRects.call(e);
    one.area = area(rects, s);
    if (painted(s) || REPLACED.has(one.tag)) one.flags |= PAINTED;
    if (s.display === 'inline') one.flags |= INLINE;
    if (rects.length > 1) one.flags |= SEVERAL;
    if (s.appearance !== 'none' && (THEMED_TYPES.has(e.type) || one.tag === 'PROGRESS' || one.tag === 'METER')) one.flags |= THEMED;
    if (s.overflowX !== 'visible' && scrolled(e) && s.display !== 'inline') one.flags |= CUT;
    state[i].own = (one.flags & PAINTED) > 0;
    return one;
  }
  function spoken(text, s) {
    let t = text.replace(/\u00ad/g, '');
    if (s.textTransform === 'uppercase') t = t.toUpperCase();
    else if (s.textTransform === 'lowercase') t = t.toLowerCase();
    else if (s.textTransform === 'capitalize') t = t.replace(/(^|[^\p{L}\p{N}'’])(\p{L})/gu, (_, a, b) => a + b.toUpperCase());
    return t;
  }
  const sameLine = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5 * Math.min(a.height, b.height);

  function rectsOf(node, start, end) {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    return [...range.getClientRects()].filter((r) => r.width > 0 && r.height > 0);
  }
  function union(rects) {
    return {left: Math.min(...rects.map((r) => r.left)), top: Math.min(...rects.map((r) => r.top)),
      right: Math.max(...rects.map((r) => r.right)), bottom: Math.max(...rects.map((r) => r.bottom))};
  }
  // The pieces of a text node, one for each line; text flows down, so the end of a line is found by halving.
  function pieces(node) {
    const text = node.data, found = [];
    let at = 0;
    const whole = rectsOf(node, 0, text.length);
    if (whole.length && whole.every((r) => sameLine(r, whole[0]))) return [{text, rects: whole}];
    while (at < text.length && found.length < 500) {
      const rest = rectsOf(node, at, text.length);
      if (!rest.length) break;
      const first = rest[0];
      let low = at + 1, high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (rectsOf(node, at, middle).every((r) => sameLine(r, first))) low = middle; else high = middle - 1;
      }
      if (low < text.length && /[\udc00-\udfff]/.test(text[low])) low += 1;
      const rects = rectsOf(node, at, low);
      if (rects.length) found.push({text: text.slice(at, low), rects});
      at = low;
    }
    return found;
  }
  function cutText(e) {
    for (let p = e; p && p !== document.body; p = parentOf(p)) {
      const s = getComputedStyle(p);
      if (s.overflowX === 'visible' && s.overflowY === 'visible') continue;
      if (s.textOverflow !== 'clip' && p.scrollWidth > p.clientWidth) return true;
      if (s.webkitLineClamp !== 'none' && p.scrollHeight > p.clientHeight) return true;
    }
    return false;
  }
  function readable(s) {
    return s.writingMode === 'horizontal-tb' && parseFloat(s.fontSize) >= 5 && !(clear(s.color) && clear(s.webkitTextFillColor));
  }
  function blockOf(e) {
    let p = e;
    while (parentOf(p) && ['inline', 'contents', 'ruby'].includes(getComputedStyle(p).display)) p = parentOf(p);
    return index.get(p) ?? 0;
  }
  function lines() {
    const found = [], walker = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
    const known = new Map();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const e = node.parentElement;
      if (!/\S/.test(node.data) || UNREAD.has(tagOf(e)) || !index.has(e) || !state[index.get(e)].shown) continue;
      if (!known.has(e)) {
        const s = getComputedStyle(e);
        known.set(e, {s, ok: readable(s), block: blockOf(e), cut: cutText(e), pre: s.whiteSpaceCollapse !== 'collapse'});
      }
      const k = known.get(e);
      if (!k.ok) continue;
      for (const piece of pieces(node)) {
        const u = union(piece.rects);
        if (u.bottom <= 0 || u.top >= innerHeight || u.right <= 0 || u.left >= innerWidth) continue;
        const text = k.pre ? piece.text.replace(/[\n\t]+/g, ' ') : piece.text.replace(/[ \n\t\r\f]+/g, ' ');
        add(found, {text: spoken(text, k.s), ...u, owner: index.get(e), block: k.block, cut: k.cut});
      }
    }
    return found.map((l) => ({text: l.text.trim(), box: box(l), owners: [...l.owners], block: l.block, cut: l.cut}))
      .filter((l) => l.text);
  }
  function add(found, f) {
    const last = found[found.length - 1];
    const height = f.bottom - f.top;
    if (last && last.block === f.block && sameLine({...last, height: last.bottom - last.top}, {...f, height})) {
      const gap = Math.max(f.left - last.right, last.left - f.right);
      if (gap < height) {
        last.text += f.text;
        Object.assign(last, union([last, f]));
        last.owners.add(f.owner);
        last.cut ||= f.cut;
        return;
      }
    }
    found.push({...f, owners: new Set([f.owner])});
  }
  // Animations stand at their end, endless ones at their beginning; carets blink and are not seen.
  function freeze() {
    document.adoptedStyleSheets = [];
    scrollTo(0, 0);
    for (const a of document.getAnimations()) {
      try {
        if (a.effect.getComputedTiming().endTime === Infinity) a.cancel(); else a.finish();
      } catch { a.cancel(); }
    }
    document.activeElement?.blur?.();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*{caret-color:transparent!important}');
    document.adoptedStyleSheets = [sheet];
  }
  function ready() {
    return document.readyState === 'complete' && document.fonts.status === 'loaded' && [...document.images].every((i) => i.complete);
  }
  // How many elements there are, -1 while something is still loading; what moves is stopped unless they are too many.
  function settle(most) {
    if (!ready()) return -1;
    const found = document.getElementsByTagName('*').length;
    if (found <= most) freeze();
    return found;
  }
  function number() {
    els = [...document.getElementsByTagName('*')];
    index = new Map(els.map((e, i) => [e, i]));
  }
  function scan() {
    number();
    state = [];
    const parents = els.map((e) => index.get(parentOf(e)) ?? -1);
    return els.map((e, i) => element(e, i, parents));
  }
  function collect() {
    const elements = scan(), root = document.scrollingElement ?? document.documentElement;
    return {elements, lines: lines(), boxes: boxes(), page: {scroll_width: root.scrollWidth, client_width: root.clientWidth,
      mode: document.compatMode, failed_fonts: [...document.fonts].filter((f) => f.status === 'error').length}};
  }
  function boxes() {
    return els.map((e) => box(rectOf(e)));
  }
  function hits(points) {
    return points.map(([x, y]) => index.get(document.elementFromPoint(x, y)) ?? -1);
  }
  const steps = (n) => [...Array(n).keys()].map((k) => (k + 0.5) / n), EDGE = steps(9), GRID = steps(6), LINE_GRID = steps(4);
  // A hit test sees a neighbour over a CSS pixel away, so edges are looked at a little inside.
  const INSET = 2, OUTSET = 3;
  // Of elements [first, last): whether they are hit at a point; somewhere on each edge of the visible box and nowhere
  // outside it; on what share of the full box; how much larger that is than what they have alone; states of the first.
  // `own` is false for text lines, which share their element. This is the judge's, so everything that lies on top counts.
  function judged(asked) {
    number();
    reach();
    return asked.map(([first, last, point, visible, full, own]) => {
      const mine = (x, y) => { const i = index.get(document.elementFromPoint(x, y)) ?? -1; return i >= first && i < last; };
      const [x0, y0, x1, y1] = full, e = els[first], grid = own ? GRID : LINE_GRID;
      let share = 0, strays = false;
      for (const u of grid) for (const v of grid) {
        const x = x0 + u * (x1 - x0), y = y0 + v * (y1 - y0);
        if (!mine(x, y)) continue;
        share += 1 / grid.length ** 2;
        strays ||= x < visible[0] - OUTSET || y < visible[1] - OUTSET || x > visible[2] + OUTSET || y > visible[3] + OUTSET;
      }
      const alone = own ? area(E.getClientRects.call(e), getComputedStyle(e)) : 0;
      const edges = !own || (!strays && edged(visible, mine) && !outside(visible, full, mine));
      return [mine(...point), edges, share, alone > 0 ? (x1 - x0) * (y1 - y0) / alone : 1, own ? statesOf(e) : null];
    });
  }
  function edged([x0, y0, x1, y1], mine) {
    const dx = Math.min(INSET, (x1 - x0) / 2), dy = Math.min(INSET, (y1 - y0) / 2);
    return [y0 + dy, y1 - dy].every((y) => EDGE.some((s) => mine(x0 + s * (x1 - x0), y))) &&
      [x0 + dx, x1 - dx].every((x) => EDGE.some((s) => mine(x, y0 + s * (y1 - y0))));
  }
  // Whether they are hit a little outside the visible box, where the full box goes on.
  function outside([x0, y0, x1, y1], full, mine) {
    const beyond = (v, low, high) => v > low + 0.5 && v < high - 0.5;
    return [y0 - OUTSET, y1 + OUTSET].some((y) => beyond(y, full[1], full[3]) && EDGE.some((s) => mine(x0 + s * (x1 - x0), y))) ||
      [x0 - OUTSET, x1 + OUTSET].some((x) => beyond(x, full[0], full[2]) && EDGE.some((s) => mine(x, y0 + s * (y1 - y0))));
  }
  const SELECTED = ['option', 'tab', 'treeitem', 'gridcell', 'row', 'columnheader', 'rowheader'].map((r) => `[role=${r}]`).join();
  // By selectors and attributes: the accessibility tree was asked by the first look.
  function statesOf(e) {
    const is = (selector) => E.matches.call(e, selector), told = (name) => (E.getAttribute.call(e, name) ?? '').toLowerCase();
    const found = [], say = (name, value) => { if (value === 'true') found.push(name); else if (value === 'mixed') found.push(`partly ${name}`); };
    if (is('input[type=checkbox]')) say('checked', is(':indeterminate') ? 'mixed' : `${is(':checked')}`);
    else say('checked', is('input[type=radio]') ? `${is(':checked')}` : told('aria-checked'));
    say('disabled', `${is(':disabled') || E.closest.call(e, '[aria-disabled=true]') !== null}`);
    const open = is('summary') ? `${parentOf(e)?.matches('details[open]')}` : is('select:not([multiple],[size])') ? 'false' : told('aria-expanded');
    if (open === 'true' || open === 'false') found.push(open === 'true' ? 'expanded' : 'collapsed');
    say('pressed', told('aria-pressed'));
    say('readonly', is('input[readonly],textarea[readonly]') ? 'true' : told('aria-readonly'));
    say('required', is(':required') ? 'true' : told('aria-required'));
    if (is('option')) say('selected', `${is(':checked')}`);
    else if (is(SELECTED) || E.closest.call(e, '[role=grid],[role=treegrid]')) say('selected', told('aria-selected'));
    if (told('aria-current') && told('aria-current') !== 'false') found.push('current');
    return found;
  }
  function sheetOf(text) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }
  // 4096 codes, four levels apart: text blended upon its own ground may be off by one.
  const code = (i, blue) => { const c = (i * 2531 + 1217) & 4095; return `rgb(${(c >> 6) * 4 + 2},${(c & 63) * 4 + 2},${blue})`; };
  const PLAIN = `*,*::before,*::after,*::first-letter,*::first-line,*::marker,*::placeholder{background-image:none!important;
    background-clip:border-box!important;border-color:transparent!important;border-image-source:none!important;
    box-shadow:none!important;text-shadow:none!important;filter:none!important;backdrop-filter:none!important;
    mix-blend-mode:normal!important;background-blend-mode:normal!important;-webkit-text-fill-color:currentcolor!important;
    -webkit-text-stroke-width:0!important;text-decoration-color:currentcolor!important;outline-color:transparent!important;
    transition:none!important;opacity:1!important;mask-image:none!important;column-rule-color:transparent!important}
    *::before,*::after{background-color:transparent!important}
    *::before,*::after,*::placeholder,*::marker,*::first-letter,*::first-line{color:inherit!important}
    [data-gm-b]::before,[data-gm-a]::after{background-color:var(--gm-own)!important}
    *::-webkit-slider-thumb,*::-webkit-slider-runnable-track,*::-webkit-progress-inner-element,*::-webkit-meter-inner-element,
    *::-webkit-calendar-picker-indicator,*::-webkit-search-cancel-button,*::-webkit-color-swatch-wrapper{visibility:hidden!important}
    img,canvas,video{object-position:-99999px -99999px!important}
    svg *{visibility:hidden!important}
    svg text,svg tspan,svg textPath{visibility:visible!important;fill:currentcolor!important;stroke:none!important}`;

  function pseudo(e, i, which, mark) {
    const s = getComputedStyle(e, which);
    if (s.content === 'none' || s.content === 'normal' || !painted(s)) return;
    E.setAttribute.call(e, mark, '');
    styleOf(e).setProperty('--gm-own', code(i, 0));
    state[i].own = true;
  }
  function flatten(e, i) {
    const s = state[i].style, set = (name, value) => styleOf(e).setProperty(name, value, 'important');
    const wills = [];
    if (+s.opacity < 1 || s.mixBlendMode !== 'normal' || s.maskImage !== 'none') wills.push('opacity');
    if (s.filter !== 'none') wills.push('filter');
    if (s.backdropFilter !== 'none') wills.push('backdrop-filter');
    if (wills.length) set('will-change', wills.join(','));
    pseudo(e, i, '::before', 'data-gm-b');
    pseudo(e, i, '::after', 'data-gm-a');
  }
  // Every element that paints or is named has a colour of its own in red and green; ink of text is blue upon it.
  // Tells the boxes before and after.
  function recolour(named) {
    const before = boxes();
    for (const i of named) state[i].own = true;
    els.forEach((e, i) => { if (state[i].style) flatten(e, i); });
    const paint = [];
    els.forEach((e, i) => {
      const parent = index.get(parentOf(e)) ?? 0;
      const own = i === 0 || (state[i].own && !state[i].svgPart);
      paint[i] = own ? i : paint[parent];
      if (!state[i].shown) {
        if (shownBy(e, {checkVisibilityCSS: true})) styleOf(e)?.setProperty('visibility', 'hidden', 'important');
        return;
      }
      if (!state[i].svgPart) styleOf(e).setProperty('background-color', own ? code(i, 0) : 'transparent', 'important');
      styleOf(e).setProperty('color', code(paint[i], 255), 'important');
    });
    sheetOf(PLAIN);
    return [before, boxes()];
  }
  function hideText() {
    sheetOf(`*,*::placeholder,*::before,*::after,*::first-letter,*::first-line{-webkit-text-fill-color:transparent!important;
      -webkit-text-stroke-color:transparent!important;text-decoration-color:transparent!important;
      text-emphasis-color:transparent!important;transition:none!important}
      *::marker{-webkit-text-fill-color:currentcolor!important}
      svg text,svg tspan,svg textPath{fill:transparent!important;stroke:transparent!important}`);
  }
  function hide(which) {
    for (const i of which) {
      for (const e of [els[i], ...E.querySelectorAll.call(els[i], '*')]) {
        styleOf(e)?.setProperty('transition', 'none', 'important');
        styleOf(e)?.setProperty('visibility', 'hidden', 'important');
      }
    }
  }
  function reach() {
    sheetOf('*{pointer-events:auto!important}');
  }
  return {settle, collect, hits, judged, recolour, hideText, hide, reach};
})();
