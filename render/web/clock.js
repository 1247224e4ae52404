// Runs before the scripts of a page, in their world: the time stands still, and chance is seeded. SEED and TIME_MS are
// filled in. Timers and frames that a page asks for never come.
(() => {
  let s = SEED, tickets = 1000;
  const at = TIME_MS, Real = Date, ticket = () => ++tickets, nothing = () => undefined;
  Math.random = () => {
    s = (s + 0x6D2B79F5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  function Frozen(...given) {
    if (!new.target) return new Real(at).toString();
    return Reflect.construct(Real, given.length ? given : [at], new.target);
  }
  Object.defineProperties(Frozen, {name: {value: 'Date'}, length: {value: 7}, prototype: {value: Real.prototype}});
  Object.assign(Frozen, {now: () => at, UTC: Real.UTC, parse: Real.parse});
  Real.prototype.constructor = Frozen;
  globalThis.Date = Frozen;
  Performance.prototype.now = () => 60000;
  const formats = Intl.DateTimeFormat.prototype;
  const format = Object.getOwnPropertyDescriptor(formats, 'format').get, parts = formats.formatToParts;
  Object.defineProperty(formats, 'format', {configurable: true, get() {
    const write = format.call(this);
    return (date) => write(date === undefined ? at : date);
  }});
  formats.formatToParts = function (date) { return parts.call(this, date === undefined ? at : date); };
  for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame', 'requestIdleCallback']) globalThis[name] = ticket;
  for (const name of ['clearTimeout', 'clearInterval', 'cancelAnimationFrame', 'cancelIdleCallback']) globalThis[name] = nothing;
})();
