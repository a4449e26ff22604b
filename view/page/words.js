// words formats numbers for people.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(n) {
  if (n == null || Number.isNaN(n)) return "–";
  if (Math.abs(n) >= 1e7) return (n / 1e6).toFixed(1) + " M";
  return whole.format(n);
}

// plural writes a count with its noun.
export function plural(n, noun) { return count(n) + " " + noun + (n === 1 ? "" : "s"); }

export function rate(n) {
  if (n == null || Number.isNaN(n)) return "";
  if (n === 0) return "0/s";
  if (n < 10) return n.toFixed(1) + "/s";
  return count(n) + "/s";
}

export function seconds(s) {
  if (s == null || Number.isNaN(s)) return "–";
  if (s === 0) return "0 s";
  if (s < 1e-6) return (s * 1e9).toFixed(0) + " ns";
  if (s < 1e-3) return digits(s * 1e6) + " µs";
  if (s < 1) return digits(s * 1e3) + " ms";
  if (s < 120) return digits(s) + " s";
  if (s < 7200) return (s / 60).toFixed(0) + " min";
  return (s / 3600).toFixed(0) + " h";
}

export function bytes(n) {
  if (n == null || Number.isNaN(n)) return "–";
  if (n < 1000) return n.toFixed(0) + " B";
  if (n < 1e6) return digits(n / 1e3) + " kB";
  if (n < 1e9) return digits(n / 1e6) + " MB";
  return digits(n / 1e9) + " GB";
}

function digits(n) { return n < 10 ? n.toFixed(1) : n.toFixed(0); }

// short shortens a long name. It keeps the end, because long names often differ only there.
export function short(name, most = 20) { return name.length > most ? "…" + name.slice(1 - most) : name; }

// valueOf formats a value according to the description of its number: {kind, unit}.
export function valueOf(number, value) {
  switch (number.unit) {
    case "bool": return value ? "yes" : "no";
    case "s": return seconds(value);
    case "B": return bytes(value);
    case "%": return value == null ? "–" : Math.round(value) + " %";
  }
  return count(value);
}

// rateOf formats the rate of a counter.
export function rateOf(number, value) {
  return number.unit === "B" ? (value == null ? "" : bytes(value) + "/s") : rate(value);
}
