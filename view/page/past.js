// past keeps the numbers of the last minute for the sparklines.

const seconds = 60;

export class Past {
  constructor(every) {
    this.size = Math.max(Math.ceil((seconds * 1000) / every), 60);
    this.series = new Map(); // id -> Float32Array, a ring
    this.next = 0;
    this.filled = 0;
  }

  // add stores the numbers of a frame.
  add(hello, boxes) {
    this.next = (this.next + 1) % this.size;
    this.filled = Math.min(this.filled + 1, this.size);
    for (const number of hello.numbers) {
      const box = boxes.get(number.box);
      const id = number.box + "." + number.id;
      let ring = this.series.get(id);
      if (!ring) this.series.set(id, (ring = new Float32Array(this.size).fill(NaN)));
      ring[this.next] = drawn(number, box) ?? NaN;
    }
  }

  // each(id, f) calls f for the known values, from the oldest to the newest. The position grows
  // from 0 to 1.
  each(id, f) {
    const ring = this.series.get(id);
    if (!ring) return;
    for (let i = this.size - this.filled + 1; i <= this.size; i++) {
      const value = ring[(this.next + i) % this.size];
      if (!Number.isNaN(value)) f(i / this.size, value);
    }
  }
}

// drawn returns the value for a number's sparkline: the rate of a counter, or the 99th percentile
// of a time.
function drawn(number, box) {
  if (!box) return undefined;
  switch (number.kind) {
    case "counter": return box.r?.[number.id];
    case "time": return box.t?.[number.id]?.count ? box.t[number.id].p99 : undefined;
  }
  return box.n?.[number.id];
}
