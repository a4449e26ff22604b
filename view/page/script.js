// script replays events that take microseconds at a speed that people can follow. The states of a
// key come one after another, and each state stays for a while.

export class Script {
  constructor(pace, most = 24) { this.pace = pace; this.most = most; this.keys = new Map(); }

  // step queues a change of a key's state. The function change gets the state. It returns false if
  // the key is gone.
  step(key, change) {
    let k = this.keys.get(key);
    if (!k) {
      if (this.keys.size >= this.most) return;
      this.keys.set(key, (k = { key, state: {}, steps: [], since: -Infinity }));
    }
    if (k.steps.length < 12) k.steps.push(change);
  }

  // run performs the steps that are due. It returns whether something has changed.
  run(now) {
    let changed = false;
    for (const [key, k] of this.keys) {
      const pace = this.pace / (1 + Math.max(k.steps.length - 2, 0) / 3);
      if (!k.steps.length || now - k.since < pace) continue;
      k.since = now;
      changed = true;
      if (k.steps.shift()(k.state) === false && k.steps.length === 0) this.keys.delete(key);
    }
    return changed;
  }

  forget() { this.keys.clear(); }
}
