// condition reads the conditions of lessons, such as "store.objects == was + 5". A condition is a
// number of a frame, a comparison, and a sum. The terms of the sum are whole numbers, other numbers
// of the frame, "was" and "began". "was" is the same number when the step began, and "began" is the
// same number when the lesson began. If a frame does not have a number, the condition is not met.

const compare = {
  "==": (a, b) => a === b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, "<": (a, b) => a < b,
};

// numbersOf returns the numbers of a frame by their ids: box.number, and version.stage.
export function numbersOf(frame, boxes) {
  const all = {};
  for (const box of boxes.values()) {
    for (const [id, n] of Object.entries(box.n ?? {})) all[box.id + "." + id] = n;
  }
  for (const [stage, v] of Object.entries(frame.versions ?? {})) all["version." + stage] = Number(v);
  return all;
}

// subject returns the name of the number that a condition tests.
export function subject(condition) { return condition.split(" ")[0]; }

// holds returns whether all conditions are met.
export function holds(conditions, now, was, began) {
  return conditions.every((condition) => {
    const [id, op, ...terms] = condition.split(" ");
    let sum = 0, sign = 1;
    for (const term of terms) {
      if (term === "+" || term === "-") { sign = term === "+" ? 1 : -1; continue; }
      sum += sign * (term === "was" ? was[id] : term === "began" ? began[id] : /^\d+$/.test(term) ? Number(term) : now[term]);
    }
    return now[id] != null && compare[op](now[id], sum);
  });
}
